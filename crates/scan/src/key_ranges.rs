//! Filters to key ranges: the part of a table's key space that can hold matching rows.
//!
//! The leading key columns that a filter fixes by `=` form a prefix. The next key column may be
//! bounded by `<`, `<=`, `>`, `>=` or an `IN` list, which may be written as a disjunction. Other conditions are left to zone maps and to
//! the filter itself, which is evaluated in any case: ranges only exclude rows that cannot match.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator};
use sdds::{Bound, Key, KeyRange};
use store::catalog::Table;

/// The longest `IN` list that becomes one range for each value.
const IN_LIST_MAX: usize = 1024;

/// A bound of a conjunct on one column.
pub(crate) enum Bounded<'a> {
    Compared(Operator, &'a ScalarValue),
    OneOf(Vec<&'a ScalarValue>),
}

/// The ranges of `table` that can hold rows for which all of `filters` are true, in key order.
pub(crate) fn of_filters(table: &Table, filters: &[Expr]) -> Vec<KeyRange> {
    let mut conjuncts = Vec::new();
    for filter in filters {
        split_conjuncts(filter, &mut conjuncts);
    }
    let mut prefix = Vec::new();
    for &column in &table.key_indices() {
        let column = &table.columns[column];
        let bounds: Vec<_> =
            conjuncts.iter().filter_map(|expr| bound_on(expr, &column.name)).collect();
        let equal = bounds.iter().find_map(|bound| match bound {
            Bounded::Compared(Operator::Eq, value) => Some(*value),
            _ => None,
        });
        match equal.and_then(|value| array_of(value, &column.sql_type.arrow())) {
            Some(value) => prefix.push(value),
            None => return ranges_below(&prefix, &bounds, &column.sql_type.arrow()),
        }
    }
    ranges_below(&prefix, &[], &datafusion::arrow::datatypes::DataType::Null)
}

/// The keys whose leading columns have these values, one array of one item each.
pub fn of_prefix(values: &[ArrayRef]) -> Option<KeyRange> {
    prefix_range(&encode(values)?)
}

/// The keys below a prefix whose next column compares with a value as the operator says; the range
/// may reach beyond the prefix.
pub fn compared(prefix: &[ArrayRef], operator: Operator, value: ArrayRef) -> Option<KeyRange> {
    half_line(operator, &encode(&[prefix, &[value]].concat())?)
}

/// Divides a filter into its conjuncts.
pub fn split_conjuncts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    match expr {
        Expr::BinaryExpr(binary) if binary.op == Operator::And => {
            split_conjuncts(&binary.left, out);
            split_conjuncts(&binary.right, out);
        }
        other => out.push(other),
    }
}

/// The conjunct's bound on the column, if ranges can express it.
pub(crate) fn bound_on<'a>(expr: &'a Expr, column: &str) -> Option<Bounded<'a>> {
    bound_of(expr, &|e| matches!(e, Expr::Column(c) if c.name == column))
}

/// The conjunct's bound on what `is_column` recognises, if ranges can express it.
pub(crate) fn bound_of<'a>(
    expr: &'a Expr,
    is_column: &dyn Fn(&Expr) -> bool,
) -> Option<Bounded<'a>> {
    match expr {
        Expr::BinaryExpr(binary) => match (&*binary.left, &*binary.right) {
            (left, Expr::Literal(value, _)) if is_column(left) => {
                Some(Bounded::Compared(binary.op, value))
            }
            (Expr::Literal(value, _), right) if is_column(right) => {
                Some(Bounded::Compared(binary.op.swap()?, value))
            }
            _ if binary.op == Operator::Or => equal_to(expr, is_column).map(Bounded::OneOf),
            _ => None,
        },
        Expr::InList(list) if !list.negated && is_column(&list.expr) => {
            let values = list.list.iter().map(|e| match e {
                Expr::Literal(value, _) => Some(value),
                _ => None,
            });
            let values = values.collect::<Option<Vec<_>>>()?;
            (values.len() <= IN_LIST_MAX).then_some(Bounded::OneOf(values))
        }
        _ => None,
    }
}

/// The values of a disjunction of equations with the column: a short list of IN.
fn equal_to<'a>(
    disjunction: &'a Expr,
    is_column: &dyn Fn(&Expr) -> bool,
) -> Option<Vec<&'a ScalarValue>> {
    let (mut values, mut rest) = (Vec::new(), vec![disjunction]);
    while let Some(expr) = rest.pop() {
        match expr {
            Expr::BinaryExpr(binary) if binary.op == Operator::Or => {
                rest.extend([&*binary.left, &*binary.right]);
            }
            other => match bound_of(other, is_column)? {
                Bounded::Compared(Operator::Eq, value) if values.len() < IN_LIST_MAX => {
                    values.push(value);
                }
                _ => return None,
            },
        }
    }
    Some(values)
}

/// The value as an array of the column's type; `None` if it is NULL or does not convert exactly.
pub(crate) fn array_of(
    value: &ScalarValue,
    data_type: &datafusion::arrow::datatypes::DataType,
) -> Option<ArrayRef> {
    if value.is_null() {
        return None;
    }
    let same = value.data_type() == *data_type;
    let texts = value.data_type().is_string() && data_type.is_string();
    let value =
        if same { value.clone() } else { value.cast_to(data_type).ok().filter(|_| texts)? };
    value.to_array().ok()
}

/// The ranges of a prefix of fixed columns, narrowed by the bounds on the next column.
fn ranges_below(
    prefix: &[ArrayRef],
    bounds: &[Bounded<'_>],
    data_type: &datafusion::arrow::datatypes::DataType,
) -> Vec<KeyRange> {
    let with = |value: &ScalarValue| -> Option<Vec<u8>> {
        let mut columns = prefix.to_vec();
        columns.push(array_of(value, data_type)?);
        encode(&columns)
    };
    let Some(all) = encode(prefix).and_then(|bytes| prefix_range(&bytes)) else {
        return vec![KeyRange::all()];
    };
    let one_of = bounds.iter().find_map(|bound| match bound {
        Bounded::OneOf(values) => {
            let points = values.iter().filter(|value| !value.is_null());
            points.map(|value| prefix_range(&with(value)?)).collect::<Option<Vec<_>>>()
        }
        Bounded::Compared(..) => None,
    });
    let mut ranges = one_of.unwrap_or_else(|| vec![all]);
    for bound in bounds {
        let Bounded::Compared(op, value) = bound else { continue };
        let Some(limit) = with(value).and_then(|bytes| half_line(*op, &bytes)) else { continue };
        ranges = ranges.iter().filter_map(|range| range.intersect(&limit)).collect();
    }
    ranges.sort_by(|a, b| a.low.cmp(&b.low));
    ranges.dedup();
    ranges
}

fn encode(columns: &[ArrayRef]) -> Option<Vec<u8>> {
    if columns.is_empty() {
        return Some(Vec::new());
    }
    let keys = store::key::encode_columns(columns).ok()?;
    keys.first().map(|key| key.as_bytes().to_vec())
}

/// The range of one value of a key's only column, which is encoded.
pub(crate) fn of_key(value: &[u8]) -> Option<KeyRange> {
    prefix_range(value)
}

/// All keys with this prefix.
fn prefix_range(prefix: &[u8]) -> Option<KeyRange> {
    if prefix.is_empty() {
        return Some(KeyRange::all());
    }
    KeyRange::new(Bound::At(Key::from(prefix)), after(prefix))
}

/// The keys whose prefix compares with the given one as `op` says.
fn half_line(op: Operator, prefix: &[u8]) -> Option<KeyRange> {
    let at = Bound::At(Key::from(prefix));
    match op {
        Operator::Lt => KeyRange::new(Bound::NegInf, at),
        Operator::LtEq => KeyRange::new(Bound::NegInf, after(prefix)),
        Operator::Gt => KeyRange::new(after(prefix), Bound::PosInf),
        Operator::GtEq => KeyRange::new(at, Bound::PosInf),
        _ => None,
    }
}

/// The least bound above every key with this prefix.
fn after(prefix: &[u8]) -> Bound {
    let mut bytes = prefix.to_vec();
    while let Some(last) = bytes.pop() {
        if last < u8::MAX {
            bytes.push(last + 1);
            return Bound::At(Key::from(bytes));
        }
    }
    Bound::PosInf
}
