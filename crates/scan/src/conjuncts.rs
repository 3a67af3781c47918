//! The predicate of a scan, conjunct by conjunct.
//!
//! Comparisons of columns and constants cannot fail, and comparing all rows of a batch takes less time than choosing those
//! that are left: they come first, the narrowest before all. What is dearer, or may fail, is computed only of the rows that
//! are left, and only their columns that it needs are copied for it. Columns are asked of memory before the first that compares
//! all their values ([`super::prefetch`]).

use super::{pattern, prefetch::prefetch};
use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::{and, prep_null_mask_filter};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Operator};
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where fewer than one of so many rows are left, choosing them takes less time than comparing all: of 4, 8 and 16 the best
/// for TPC-H.
pub const FEW: usize = 8;
/// Bytes that a text is counted for.
const TEXT_BYTES: usize = 32;

/// A predicate, taken apart.
pub(super) struct Conjuncts {
    plain: Vec<Conjunct>,
    others: Vec<Conjunct>,
    /// How many rows each has left, together with those before it.
    rows_left: Vec<Count>,
}

/// An expression that is computed of batches, or of some rows of them.
pub(super) struct Conjunct {
    /// Over all columns that are read.
    expression: Arc<dyn PhysicalExpr>,
    /// The same over those of them that it needs.
    narrow: Arc<dyn PhysicalExpr>,
    columns: Vec<usize>,
    /// Those of them that no conjunct before looks at.
    new_columns: Vec<usize>,
}

impl Conjuncts {
    /// Those of a predicate over columns that are read.
    pub(super) fn of(predicate: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Self> {
        let [plain, others] = in_order(predicate, schema);
        let mut seen = BTreeSet::new();
        let mut taken_up = |parts: Vec<&Arc<dyn PhysicalExpr>>| {
            let taken_up = |part| {
                let mut conjunct = Conjunct::new(pattern::prepared(Arc::clone(part))?, schema)?;
                conjunct.new_columns.retain(|column| seen.insert(*column));
                Ok(conjunct)
            };
            parts.into_iter().map(taken_up).collect::<Result<_>>()
        };
        Ok(Self { plain: taken_up(plain)?, others: taken_up(others)?, rows_left: Vec::new() })
    }

    /// The same, which count the rows that each leaves among the metrics of a scan's partition.
    pub(super) fn counted(mut self, metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |at| MetricBuilder::new(metrics).counter(name_of_rows_left(at), partition);
        self.rows_left = (0..self.plain.len() + self.others.len()).map(counter).collect();
        self
    }

    /// The rows of a batch that match.
    pub(super) fn matching(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let all = batch.num_rows();
        let mut mask: Option<BooleanArray> = None;
        let plain = self.plain.iter().map(|conjunct| (conjunct, all / FEW));
        let conjuncts = plain.chain(self.others.iter().map(|conjunct| (conjunct, all)));
        let mut left = all;
        for (at, (conjunct, few)) in conjuncts.enumerate() {
            if left == 0 {
                break;
            }
            let next = match mask {
                Some(mask) if left < few => conjunct.of_some(batch, &mask)?,
                Some(mask) => and(&mask, &conjunct.of_all(batch)?)?,
                None => conjunct.of_all(batch)?,
            };
            left = next.true_count();
            if let Some(count) = self.rows_left.get(at) {
                count.add(left);
            }
            mask = Some(next);
        }
        Ok(mask.unwrap_or_else(|| BooleanBuffer::new_set(all).into()))
    }
}

impl Conjunct {
    pub(super) fn new(expression: Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Self> {
        let used = collect_columns(&expression);
        let mut columns: Vec<usize> = used.iter().map(Column::index).collect();
        columns.sort_unstable();
        let narrow = reassign_expr_columns(Arc::clone(&expression), &schema.project(&columns)?)?;
        Ok(Self { expression, narrow, new_columns: columns.clone(), columns })
    }

    /// The rows of a batch that match; NULL does not.
    pub(super) fn of_all(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        self.new_columns.iter().for_each(|column| prefetch(batch.column(*column)));
        mask(self.expression.evaluate(batch)?, batch.num_rows())
    }

    /// Those of some rows that match.
    pub(super) fn of_some(&self, batch: &RecordBatch, some: &BooleanArray) -> Result<BooleanArray> {
        let narrow = batch.project(&self.columns)?;
        let value = self.narrow.evaluate_selection(&narrow, some)?;
        and(&mask(value, batch.num_rows())?, some).map_err(Into::into)
    }
}

/// How EXPLAIN ANALYZE calls the rows that a conjunct leaves, by its place among those [`in_order`].
pub fn name_of_rows_left(at: usize) -> String {
    format!("rows_left_{}", at + 1)
}

/// The conjuncts of a predicate as they are computed: those that only compare, then the others.
pub fn in_order<'a>(
    predicate: &'a Arc<dyn PhysicalExpr>,
    schema: &Schema,
) -> [Vec<&'a Arc<dyn PhysicalExpr>>; 2] {
    let parts = split_conjunction(predicate).into_iter();
    let (mut plain, others): (Vec<_>, Vec<_>) = parts.partition(|part| is_plain(part));
    plain.sort_by_key(|part| width(part, schema));
    [plain, others]
}

fn mask(value: ColumnarValue, rows: usize) -> Result<BooleanArray> {
    let value = value.into_array(rows)?;
    let mask = value.as_boolean();
    Ok(if mask.null_count() == 0 { mask.clone() } else { prep_null_mask_filter(mask) })
}

/// Whether it compares columns and constants and does nothing else, so that it cannot fail and takes little time.
fn is_plain(part: &Arc<dyn PhysicalExpr>) -> bool {
    let is_value = |value: &Arc<dyn PhysicalExpr>| {
        value.downcast_ref::<Column>().is_some() || value.downcast_ref::<Literal>().is_some()
    };
    if let Some(binary) = part.downcast_ref::<BinaryExpr>() {
        let sides = [binary.left(), binary.right()];
        return match binary.op() {
            Operator::And | Operator::Or => sides.into_iter().all(is_plain),
            Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq => sides.into_iter().all(is_value),
            _ => false,
        };
    }
    if let Some(list) = part.downcast_ref::<InListExpr>() {
        return is_value(list.expr()) && list.list().iter().all(is_value);
    }
    if let Some(not) = part.downcast_ref::<NotExpr>() {
        return is_plain(not.arg());
    }
    let of_null = part.downcast_ref::<IsNullExpr>().map(IsNullExpr::arg);
    let of_null = of_null.or(part.downcast_ref::<IsNotNullExpr>().map(IsNotNullExpr::arg));
    of_null.map_or_else(|| is_value(part), is_value)
}

/// Bytes of a row that it looks at, about.
fn width(part: &Arc<dyn PhysicalExpr>, schema: &Schema) -> usize {
    let bytes = |column: &Column| {
        schema.field(column.index()).data_type().primitive_width().unwrap_or(TEXT_BYTES)
    };
    collect_columns(part).iter().map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, StringViewArray};
    use datafusion::common::ScalarValue;
    use datafusion::physical_expr::conjunction;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    fn batch() -> RecordBatch {
        let rows = 0..4096;
        let columns: [(&str, ArrayRef); 3] = [
            (
                "wide",
                Arc::new(Int64Array::from_iter(rows.clone().map(|i| (i % 7 != 0).then_some(i)))),
            ),
            (
                "narrow",
                Arc::new(Int32Array::from_iter_values(rows.clone().map(|i| (i % 50) as i32))),
            ),
            (
                "text",
                Arc::new(StringViewArray::from_iter_values(rows.map(|i| format!("t{}", i % 3)))),
            ),
        ];
        RecordBatch::try_from_iter_with_nullable(
            columns.map(|(name, column)| (name, column, name == "wide")),
        )
        .expect("columns")
    }

    fn compare(column: &str, op: Operator, value: ScalarValue) -> Arc<dyn PhysicalExpr> {
        let schema = batch().schema();
        binary(col(column, &schema).expect("a column"), op, lit(value), &schema).expect("typed")
    }

    /// `100 / (narrow - 7) > at_least`, which fails where `narrow` is 7.
    fn divided(at_least: i32) -> Arc<dyn PhysicalExpr> {
        let schema = batch().schema();
        let narrow = col("narrow", &schema).expect("a column");
        let of = |left, op, right| binary(left, op, right, &schema).expect("typed");
        let less = of(narrow, Operator::Minus, lit(7));
        of(of(lit(100), Operator::Divide, less), Operator::Gt, lit(at_least))
    }

    fn rows(parts: Vec<Arc<dyn PhysicalExpr>>) -> Result<Vec<usize>> {
        let batch = batch();
        let conjuncts = Conjuncts::of(&conjunction(parts), &batch.schema())?;
        let mask = conjuncts.matching(&batch)?;
        assert_eq!(mask.null_count(), 0);
        Ok(mask.values().set_indices().collect())
    }

    fn expected(keeps: impl Fn(i64) -> bool) -> Vec<usize> {
        (0..4096).filter(|i| keeps(*i)).map(|i| usize::try_from(i).expect("positive")).collect()
    }

    #[test]
    fn rows_are_those_that_all_conjuncts_keep_and_null_keeps_none() {
        let wide = || compare("wide", Operator::Lt, ScalarValue::from(3000_i64));
        let text = || compare("text", Operator::Eq, ScalarValue::Utf8View(Some("t1".to_owned())));
        let narrow = |op, value: i32| compare("narrow", op, ScalarValue::from(value));
        let of_wide = |i: i64| i % 7 != 0 && i < 3000;
        assert_eq!(rows(vec![wide()]).expect("kept"), expected(of_wide));
        let both = rows(vec![text(), wide()]).expect("kept");
        assert_eq!(both, expected(|i| of_wide(i) && i % 3 == 1));
        // So few are left that they are chosen first.
        let few = rows(vec![narrow(Operator::Eq, 9), wide(), text()]).expect("kept");
        assert_eq!(few, expected(|i| i % 50 == 9 && of_wide(i) && i % 3 == 1));
        assert_eq!(
            rows(vec![narrow(Operator::Gt, 50), wide()]).expect("kept"),
            expected(|_| false)
        );
    }

    #[test]
    fn what_may_fail_is_computed_of_the_rows_that_are_left() {
        assert!(rows(vec![divided(3)]).is_err());
        let other = || compare("narrow", Operator::NotEq, ScalarValue::from(7));
        let keeps = |i: i64| i % 50 != 7 && 100 / (i % 50 - 7) > 3;
        for parts in [vec![other(), divided(3)], vec![divided(3), other()]] {
            assert_eq!(rows(parts).expect("no row is 7"), expected(keeps));
        }
    }

    #[test]
    fn what_needs_no_column_is_computed_of_rows_that_have_none() {
        let schema = batch().schema();
        let of = |left, op, right| binary(left, op, right, &schema).expect("typed");
        let half =
            |at_least| of(of(lit(100), Operator::Divide, lit(50)), Operator::Gt, lit(at_least));
        let narrow = || compare("narrow", Operator::Lt, ScalarValue::from(20));
        assert_eq!(rows(vec![narrow(), half(1)]).expect("kept"), expected(|i| i % 50 < 20));
        assert_eq!(rows(vec![narrow(), half(2)]).expect("kept"), expected(|_| false));
        assert_eq!(rows(vec![half(1)]).expect("kept"), expected(|_| true));
    }

    #[test]
    fn narrow_comparisons_come_first_and_what_computes_last() {
        let schema = batch().schema();
        let text = compare("text", Operator::Eq, ScalarValue::Utf8View(Some("t1".to_owned())));
        let parts = vec![
            divided(3),
            text,
            compare("wide", Operator::Lt, ScalarValue::from(9_i64)),
            compare("narrow", Operator::Lt, ScalarValue::from(9)),
        ];
        let conjuncts = Conjuncts::of(&conjunction(parts), &schema).expect("taken apart");
        let texts = |parts: &[Conjunct]| {
            parts.iter().map(|part| part.expression.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&conjuncts.plain), ["narrow@1 < 9", "wide@0 < 9", "text@2 = t1"]);
        assert_eq!(texts(&conjuncts.others).len(), 1);
        assert_eq!(conjuncts.others[0].columns, [1]);
        assert_eq!(conjuncts.plain[0].new_columns, [1]);
        assert!(conjuncts.others[0].new_columns.is_empty(), "was compared before");
    }
}
