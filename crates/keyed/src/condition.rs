//! A condition by key: values of the leading key columns, what it says about the next one, and
//! comparisons of other columns.

use crate::conjunct::{Comparison, Conjunct, Test, collect};
use crate::filter::Filter;
use crate::names::Named;
use crate::operand::Operand;
use grammar::tree::NodeEnum;
use store::catalog::{SqlType, Table};

/// A condition by key.
#[derive(Debug)]
pub(crate) struct Condition {
    /// The values of the leading key columns.
    pub(crate) prefix: Vec<Operand>,
    /// The key column after the prefix.
    pub(crate) next: Next,
    /// What rows found by their keys must fulfil, too.
    pub(crate) filters: Vec<Filter>,
}

/// What a condition says about the key column after the prefix.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing, or there is none.
    Any,
    /// It is the last key column, and one of these values.
    OneOf(Vec<Operand>),
    /// It is the last key column, and one of the items of this array.
    AnyOf(Operand),
    /// It fulfils these comparisons.
    Compared(Vec<(Comparison, Operand)>),
}

impl Condition {
    /// The condition of a WHERE clause; `None` if it says something else.
    pub(crate) fn of(named: Named<'_>, condition: Option<&NodeEnum>) -> Option<Self> {
        let (table, mut conjuncts) = (named.table, Vec::new());
        condition.map_or(Some(()), |condition| collect(named, condition, &mut conjuncts))?;
        let key = table.key_indices();
        let prefix = take_prefix(&key, &mut conjuncts);
        let next = match key.get(prefix.len()) {
            Some(column) => {
                let is_last = prefix.len() + 1 == key.len();
                take_next(table, *column, is_last, &mut conjuncts)
            }
            None => Next::Any,
        };
        let filter = |(column, test): Conjunct| match test {
            Test::Compared(comparison, operand) if is_plain(&table.columns[column].sql_type) => {
                Some(Filter { column, comparison, operand })
            }
            _ => None,
        };
        let filters = conjuncts.into_iter().map(filter).collect::<Option<_>>()?;
        Some(Self { prefix, next, filters })
    }

    /// The values of all key columns, if there is nothing more to it.
    pub(crate) fn point(&self, table: &Table) -> Option<&[Operand]> {
        let is_point = self.prefix.len() == table.key.len() && self.filters.is_empty();
        is_point.then_some(&*self.prefix)
    }

    /// The parameters, with the types of what they are compared with.
    pub(crate) fn parameters(&self, table: &Table) -> Vec<(usize, SqlType)> {
        let key = table.key_indices();
        let type_of = |column: usize| table.columns[column].sql_type.clone();
        let prefix = self.prefix.iter().zip(&key);
        let mut all: Vec<(&Operand, SqlType)> =
            prefix.map(|(operand, column)| (operand, type_of(*column))).collect();
        if let Some(next) = key.get(self.prefix.len()).map(|column| type_of(*column)) {
            match &self.next {
                Next::Any => {}
                Next::OneOf(values) => all.extend(values.iter().map(|value| (value, next.clone()))),
                Next::AnyOf(array) => all.push((array, SqlType::Array(Box::new(next)))),
                Next::Compared(comparisons) => {
                    all.extend(comparisons.iter().map(|(_, value)| (value, next.clone())));
                }
            }
        }
        all.extend(self.filters.iter().map(|filter| (&filter.operand, type_of(filter.column))));
        let parameter = |(operand, of): (&Operand, SqlType)| match operand {
            Operand::Cast(number, to) => Some((*number, to.clone())),
            operand => Some((operand.number()?, of)),
        };
        all.into_iter().filter_map(parameter).collect()
    }
}

/// The values of the key columns in `k1 = a AND k2 = b`; `None` for other conditions.
pub fn point_of(table: &Table, condition: Option<&NodeEnum>) -> Option<Vec<Operand>> {
    let condition = Condition::of(Named::itself(table), condition)?;
    condition.point(table)?;
    Some(condition.prefix)
}

/// Takes the equations of the leading key columns.
fn take_prefix(key: &[usize], conjuncts: &mut Vec<Conjunct>) -> Vec<Operand> {
    let equation = |column: &usize| {
        let is_equation = |conjunct: &Conjunct| {
            conjunct.0 == *column && matches!(conjunct.1, Test::Compared(Comparison::Equal, _))
        };
        match conjuncts.remove(conjuncts.iter().position(is_equation)?) {
            (_, Test::Compared(_, operand)) => Some(operand),
            _ => None,
        }
    };
    key.iter().map_while(equation).collect()
}

/// Takes what restricts the key column after the prefix: a list, or all comparisons.
fn take_next(table: &Table, column: usize, is_last: bool, conjuncts: &mut Vec<Conjunct>) -> Next {
    let sql_type = &table.columns[column].sql_type;
    if !is_plain(sql_type) && *sql_type != SqlType::Uuid {
        return Next::Any;
    }
    let is_list = |(of, test): &Conjunct| *of == column && !matches!(test, Test::Compared(..));
    if let Some(at) = conjuncts.iter().position(is_list).filter(|_| is_last) {
        return match conjuncts.remove(at).1 {
            Test::OneOf(values) => Next::OneOf(values),
            Test::AnyOf(array) => Next::AnyOf(array),
            Test::Compared(..) => Next::Any,
        };
    }
    let mut comparisons = Vec::new();
    conjuncts.retain(|(of, test)| match test {
        Test::Compared(comparison, operand) if *of == column => {
            comparisons.push((*comparison, operand.clone()));
            false
        }
        _ => true,
    });
    if comparisons.is_empty() { Next::Any } else { Next::Compared(comparisons) }
}

/// Whether values of a type are ordered as their representations are.
pub(crate) fn is_plain(sql_type: &SqlType) -> bool {
    matches!(
        sql_type.imprecise(),
        SqlType::Boolean
            | SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Text
            | SqlType::Varchar(_)
            | SqlType::Date
            | SqlType::Timestamp
            | SqlType::TimestampTz
    )
}
