//! LIKE with a constant pattern, prepared once for a scan instead of once for each piece.
//!
//! A pattern of `%` and literal characters is a prefix, a suffix, and substrings between them in
//! this order. They are searched as bytes, which is correct for UTF-8. Other patterns (`_`,
//! escapes, ILIKE) stay with the engine, which compiles them to a regular expression.
//!
//! If another conjunct has left only some rows, their strings are matched in place, without a copy.

use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch, StringViewArray};
use datafusion::arrow::buffer::{BooleanBuffer, MutableBuffer};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::util::bit_util::set_bit;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, LikeExpr, Literal};
use memchr::memmem::Finder;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::hint::black_box;
use std::sync::Arc;

/// Strings that are fetched together.
const TOGETHER: usize = 64;
/// If less than one in this many strings is selected, the hardware does not prefetch the next one.
const APART: usize = 6;

/// The expression with its patterns prepared.
pub(super) fn prepared(expression: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let prepare = |node: Arc<dyn PhysicalExpr>| {
        Ok(match Like::of(&node) {
            Some(like) => Transformed::yes(Arc::new(like) as Arc<dyn PhysicalExpr>),
            None => Transformed::no(node),
        })
    };
    Ok(expression.transform_up(prepare)?.data)
}

/// Whether an expression is evaluated on selected rows of a batch without copying them.
pub fn is_in_place(expression: &Arc<dyn PhysicalExpr>) -> bool {
    Like::of(expression).is_some_and(|like| like.text.downcast_ref::<Column>().is_some())
}

/// `text LIKE pattern`, or NOT LIKE.
#[derive(Debug)]
struct Like {
    text: Arc<dyn PhysicalExpr>,
    is_negated: bool,
    pattern: Arc<Pattern>,
    /// The engine's expression that this replaces.
    engines: Arc<dyn PhysicalExpr>,
}

impl Like {
    /// `None` if the node is not LIKE, or stays with the engine.
    fn of(node: &Arc<dyn PhysicalExpr>) -> Option<Self> {
        let like = node.downcast_ref::<LikeExpr>().filter(|like| !like.case_insensitive())?;
        let constant = like.pattern().downcast_ref::<Literal>()?.value();
        let pattern = Pattern::of(constant.try_as_str().flatten()?)?;
        Some(Self {
            text: Arc::clone(like.expr()),
            is_negated: like.negated(),
            pattern: Arc::new(pattern),
            engines: Arc::clone(node),
        })
    }

    fn matches(&self, texts: &StringViewArray, row: usize) -> bool {
        self.pattern.matches(texts.value(row).as_bytes()) != self.is_negated
    }

    /// Which of the selected strings match.
    fn matching(&self, texts: &StringViewArray, selected: &BooleanBuffer) -> BooleanBuffer {
        let rows: Vec<usize> = selected.set_indices().collect();
        let lie_apart = rows.len() < texts.len() / APART;
        let mut matching = MutableBuffer::new_null(texts.len());
        for rows in rows.chunks(TOGETHER) {
            if lie_apart {
                fetch(texts, rows);
            }
            for row in rows.iter().filter(|row| self.matches(texts, **row)) {
                set_bit(&mut matching, *row);
            }
        }
        BooleanBuffer::new(matching.into(), 0, texts.len())
    }
}

/// The values, NULL where a string is NULL.
fn with_nulls(values: BooleanBuffer, texts: &dyn Array) -> ColumnarValue {
    ColumnarValue::Array(Arc::new(BooleanArray::new(values, texts.logical_nulls())))
}

/// Loads strings from memory before the first of them is searched, so that the loads overlap.
fn fetch(texts: &StringViewArray, rows: &[usize]) {
    let ends = rows.iter().map(|row| {
        let text = texts.value(*row).as_bytes();
        text.first().unwrap_or(&0) ^ text.last().unwrap_or(&0)
    });
    black_box(ends.fold(0, |all, ends| all ^ ends));
}

impl PhysicalExpr for Like {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.text.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let texts = match self.text.evaluate(batch)? {
            ColumnarValue::Array(texts) if *texts.data_type() == DataType::Utf8View => texts,
            _ => return self.engines.evaluate(batch),
        };
        let views = texts.as_string_view();
        let matches = |row| self.matches(views, row);
        let values = BooleanBuffer::collect_bool(views.len(), matches);
        Ok(with_nulls(values, &texts))
    }

    /// Matches the strings of a column in place.
    fn evaluate_selection(
        &self,
        batch: &RecordBatch,
        selection: &BooleanArray,
    ) -> Result<ColumnarValue> {
        let text = match self.text.downcast_ref::<Column>() {
            Some(column) => column.evaluate(batch),
            None => self.text.evaluate_selection(batch, selection),
        };
        let texts = match text? {
            ColumnarValue::Array(texts) if *texts.data_type() == DataType::Utf8View => texts,
            _ => return self.engines.evaluate_selection(batch, selection),
        };
        let selected = match selection.nulls() {
            Some(known) => selection.values() & known.inner(),
            None => selection.values().clone(),
        };
        let values = self.matching(texts.as_string_view(), &selected);
        Ok(with_nulls(values, &texts))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.text]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let ([text], [_, constant]) = (&children[..], &self.engines.children()[..]) else {
            return internal_err!("LIKE takes a string and a pattern");
        };
        let parts = vec![Arc::clone(text), Arc::clone(constant)];
        Ok(Arc::new(Self {
            text: Arc::clone(text),
            is_negated: self.is_negated,
            pattern: Arc::clone(&self.pattern),
            engines: Arc::clone(&self.engines).with_new_children(parts)?,
        }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engines.fmt_sql(f)
    }
}

impl fmt::Display for Like {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.engines.fmt(f)
    }
}

impl PartialEq for Like {
    fn eq(&self, other: &Self) -> bool {
        self.engines.eq(&other.engines)
    }
}

impl Eq for Like {}

impl Hash for Like {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.engines.hash(state);
    }
}

/// A pattern, split at its `%`.
#[derive(Debug)]
enum Pattern {
    /// It has no `%`.
    Whole(Box<[u8]>),
    /// Prefix, substrings in order, and suffix.
    Parts { first: Box<[u8]>, between: Vec<Finder<'static>>, last: Box<[u8]> },
}

impl Pattern {
    /// `None` if it has anything but `%` and literal characters.
    fn of(pattern: &str) -> Option<Self> {
        if pattern.contains(['_', '\\']) {
            return None;
        }
        let Some((first, rest)) = pattern.split_once('%') else {
            return Some(Self::Whole(pattern.as_bytes().into()));
        };
        let (between, last) = rest.rsplit_once('%').unwrap_or(("", rest));
        let between = between.split('%').filter(|part| !part.is_empty());
        let between = between.map(|part| Finder::new(part).into_owned()).collect();
        Some(Self::Parts { first: first.as_bytes().into(), between, last: last.as_bytes().into() })
    }

    fn matches(&self, text: &[u8]) -> bool {
        let (first, between, last) = match self {
            Self::Whole(whole) => return **whole == *text,
            Self::Parts { first, between, last } => (first, between, last),
        };
        let rest = if first.is_empty() { Some(text) } else { text.strip_prefix(&**first) };
        // An empty comparison is skipped: it takes as long as a search.
        let rest =
            if last.is_empty() { rest } else { rest.and_then(|rest| rest.strip_suffix(&**last)) };
        let after =
            |rest: &[u8], part: &Finder<'_>| part.find(rest).map(|at| at + part.needle().len());
        rest.is_some_and(|mut rest| {
            between.iter().all(|part| match after(rest, part) {
                Some(at) => {
                    rest = &rest[at..];
                    true
                }
                None => false,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use datafusion::arrow::array::{ArrayRef, StringArray, StringViewArray};
    use datafusion::common::ScalarValue;
    use datafusion::physical_expr::expressions::{col, lit};
    use proptest::prelude::*;

    fn batch(texts: ArrayRef) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable([("t", texts, true)]).expect("a column")
    }

    fn like(is_negated: bool, pattern: &str, texts: ArrayRef) -> (Vec<Option<bool>>, bool) {
        let constant = ScalarValue::from(pattern).cast_to(texts.data_type()).expect("a text");
        let batch = batch(texts);
        let text = col("t", &batch.schema()).expect("a column");
        let like: Arc<dyn PhysicalExpr> =
            Arc::new(LikeExpr::new(is_negated, false, text, lit(constant)));
        let values = |expr: &Arc<dyn PhysicalExpr>| {
            let value = expr.evaluate(&batch).expect("evaluated").into_array(batch.num_rows());
            value.expect("an array").as_boolean().iter().collect::<Vec<_>>()
        };
        let expected = values(&like);
        let prepared = prepared(like).expect("prepared");
        assert_eq!(values(&prepared), expected, "{prepared}");
        for step in [1, 2, APART, 2 * APART] {
            let rows = 0..batch.num_rows();
            let some = BooleanArray::from_iter(rows.clone().map(|row| match row % (step + 1) {
                0 => None,
                at => Some(at == 1),
            }));
            let of_some = prepared.evaluate_selection(&batch, &some).expect("evaluated");
            let of_some = of_some.into_array(batch.num_rows()).expect("an array");
            let of_some: Vec<_> = of_some.as_boolean().iter().collect();
            let is_chosen = |row: &usize| some.is_valid(*row) && some.value(*row);
            for row in rows.filter(is_chosen) {
                assert_eq!(of_some[row], expected[row], "{prepared} of row {row}");
            }
        }
        (expected, prepared.downcast_ref::<Like>().is_some())
    }

    #[test]
    fn only_patterns_of_percents_are_prepared() {
        let texts = || {
            let texts = [Some("special requests"), None, Some("specialrequests"), Some("")];
            Arc::new(StringViewArray::from_iter(texts)) as ArrayRef
        };
        let [yes, no] = [Some(true), Some(false)];
        assert_eq!(like(false, "%special%requests%", texts()), (vec![yes, None, yes, no], true));
        assert_eq!(like(true, "%l r%", texts()), (vec![no, None, yes, yes], true));
        assert_eq!(like(false, "special%", texts()), (vec![yes, None, yes, no], true));
        assert_eq!(like(false, "", texts()), (vec![no, None, no, yes], true));
        assert!(!like(false, "special_requests", texts()).1);
        assert!(!like(false, r"special\%", texts()).1);
        let others: ArrayRef = Arc::new(StringArray::from(vec![Some("abc"), None]));
        assert_eq!(like(false, "a%c", others).0, vec![yes, None]);
    }

    #[test]
    fn the_suffix_does_not_overlap_what_precedes_it() {
        let pattern = |pattern: &str| Pattern::of(pattern).expect("prepared");
        assert!(!pattern("aa%aa").matches(b"aaa") && pattern("aa%aa").matches(b"aaaa"));
        assert!(!pattern("%ab%b").matches(b"ab") && pattern("%ab%b").matches(b"abb"));
    }

    proptest! {
        #[test]
                fn prepared_patterns_match_as_the_engine_does(
            texts in prop::collection::vec(prop::option::of("[abä]{0,14}"), 1..200),
            pattern in "[abä%]{0,6}",
            is_negated: bool,
        ) {
            prop_assert!(like(is_negated, &pattern, Arc::new(StringViewArray::from_iter(texts))).1);
        }
    }
}
