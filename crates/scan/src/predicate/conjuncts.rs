//! The predicate of a scan, conjunct by conjunct.
//!
//! Comparisons of columns with constants cannot fail, and comparing all rows of a batch is faster
//! than selecting the rows that are left. They are evaluated first, the narrowest columns before
//! the others. Other conjuncts cost more or may fail. They are evaluated only on the rows that are
//! left, and only the columns that they need are copied. A column is prefetched before the first
//! comparison of all its values (`prefetch`).

use super::{pattern, prefetch::prefetch};
use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::{and, prep_null_mask_filter};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::{Column, LikeExpr};
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use executor::{first_error, physical_may_fail, short_circuit};
use std::collections::BTreeSet;
use std::sync::Arc;

/// If less than one in this many rows is left, selecting them is faster than comparing all. The
/// best of 4, 8 and 16 for TPC-H.
pub const FEW: usize = 8;
/// Bytes of a string for the order of conjuncts.
const TEXT_BYTES: usize = 32;

/// A predicate as a list of conjuncts in the order of their evaluation.
pub(crate) struct Conjuncts {
    plain: Vec<Conjunct>,
    others: Vec<Conjunct>,
    /// By conjunct, the rows that are left after it; empty if they are not counted.
    rows_left: Vec<Count>,
}

/// An expression that is evaluated on batches, or on some of their rows.
pub(crate) struct Conjunct {
    /// Over all columns that are read.
    expression: Arc<dyn PhysicalExpr>,
    /// The expression over `columns` only.
    narrow: Arc<dyn PhysicalExpr>,
    /// The columns that it needs.
    columns: Vec<usize>,
    /// Those of them that no earlier conjunct needs.
    new_columns: Vec<usize>,
}

impl Conjuncts {
    /// The conjuncts of a predicate over the columns of `schema`.
    pub(crate) fn of(predicate: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Self> {
        let [plain, others] = in_order(predicate, schema);
        let mut seen = BTreeSet::new();
        let mut prepare = |parts: Vec<&Arc<dyn PhysicalExpr>>| {
            let prepare = |part| {
                let part = short_circuit(pattern::prepared(Arc::clone(part))?)?;
                let mut conjunct = Conjunct::new(part, schema)?;
                conjunct.new_columns.retain(|column| seen.insert(*column));
                Ok(conjunct)
            };
            parts.into_iter().map(prepare).collect::<Result<_>>()
        };
        Ok(Self { plain: prepare(plain)?, others: prepare(others)?, rows_left: Vec::new() })
    }

    /// Counts the rows that each conjunct leaves in the metrics of a scan's partition.
    pub(crate) fn counted(mut self, metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |at| MetricBuilder::new(metrics).counter(rows_left_metric(at), partition);
        self.rows_left = (0..self.plain.len() + self.others.len()).map(counter).collect();
        self
    }

    /// The rows of a batch that match. An error is that of the first row in error.
    pub(crate) fn matching(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        self.matching_of_all(batch).map_err(|error| {
            let evaluate = |begin: usize, end: usize| {
                self.matching_of_all(&batch.slice(begin, end - begin)).map(drop)
            };
            first_error(batch.num_rows(), error, evaluate).1
        })
    }

    fn matching_of_all(&self, batch: &RecordBatch) -> Result<BooleanArray> {
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
    pub(crate) fn new(expression: Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Self> {
        let used = collect_columns(&expression);
        let mut columns: Vec<usize> = used.iter().map(Column::index).collect();
        columns.sort_unstable();
        let narrow = reassign_expr_columns(Arc::clone(&expression), &schema.project(&columns)?)?;
        Ok(Self { expression, narrow, new_columns: columns.clone(), columns })
    }

    /// The rows of a batch that match; NULL does not.
    pub(crate) fn of_all(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        self.new_columns.iter().for_each(|column| prefetch(batch.column(*column)));
        mask(self.expression.evaluate(batch)?, batch.num_rows())
    }

    /// The rows among `some` that match.
    pub(crate) fn of_some(&self, batch: &RecordBatch, some: &BooleanArray) -> Result<BooleanArray> {
        let narrow = batch.project(&self.columns)?;
        let value = self.narrow.evaluate_selection(&narrow, some)?;
        and(&mask(value, batch.num_rows())?, some).map_err(Into::into)
    }
}

/// The metric that counts the rows that a conjunct leaves, by its position (from 0) in
/// [`in_order`].
pub fn rows_left_metric(at: usize) -> String {
    format!("rows_left_{}", at + 1)
}

/// The conjuncts of a predicate in the order of evaluation: plain comparisons, then the others.
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

/// Whether an expression cannot fail and is cheap: it compares columns and constants, and searches no strings.
fn is_plain(part: &Arc<dyn PhysicalExpr>) -> bool {
    let searches = |part: &Arc<dyn PhysicalExpr>| Ok(part.is::<LikeExpr>());
    !physical_may_fail(part) && !part.exists(searches).unwrap_or(true)
}

/// Estimated bytes of a row that an expression reads.
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
    use datafusion::logical_expr::Operator;
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
        // Few rows are left, so they are selected first.
        let few = rows(vec![narrow(Operator::Eq, 9), wide(), text()]).expect("kept");
        assert_eq!(few, expected(|i| i % 50 == 9 && of_wide(i) && i % 3 == 1));
        assert_eq!(
            rows(vec![narrow(Operator::Gt, 50), wide()]).expect("kept"),
            expected(|_| false)
        );
    }

    #[test]
    fn fallible_conjuncts_see_only_the_rows_that_are_left() {
        assert!(rows(vec![divided(3)]).is_err());
        let other = || compare("narrow", Operator::NotEq, ScalarValue::from(7));
        let keeps = |i: i64| i % 50 != 7 && 100 / (i % 50 - 7) > 3;
        for parts in [vec![other(), divided(3)], vec![divided(3), other()]] {
            assert_eq!(rows(parts).expect("no row is 7"), expected(keeps));
        }
    }

    #[test]
    fn conjuncts_without_columns_are_evaluated() {
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
    fn narrow_comparisons_come_first_and_computations_last() {
        let schema = batch().schema();
        let text = compare("text", Operator::Eq, ScalarValue::Utf8View(Some("t1".to_owned())));
        let parts = vec![
            divided(3),
            text,
            compare("wide", Operator::Lt, ScalarValue::from(9_i64)),
            compare("narrow", Operator::Lt, ScalarValue::from(9)),
        ];
        let conjuncts = Conjuncts::of(&conjunction(parts), &schema).expect("conjuncts");
        let texts = |parts: &[Conjunct]| {
            parts.iter().map(|part| part.expression.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&conjuncts.plain), ["narrow@1 < 9", "wide@0 < 9", "text@2 = t1"]);
        assert_eq!(texts(&conjuncts.others).len(), 1);
        assert_eq!(conjuncts.others[0].columns, [1]);
        assert_eq!(conjuncts.plain[0].new_columns, [1]);
        assert!(conjuncts.others[0].new_columns.is_empty(), "compared before");
    }
}
