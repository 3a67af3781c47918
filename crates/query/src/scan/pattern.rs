//! LIKE with a constant pattern: what it looks for is prepared once for a scan, and not again for each of its pieces.
//!
//! A pattern of `%` and characters that mean themselves is a beginning, an end, and what has to come between in this order.
//! Each is looked for as bytes, which in UTF-8 is the same as characters. Whatever else there is (`_`, escapes, ILIKE) stays with
//! the engine, which makes a regular expression of it.

use datafusion::arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{LikeExpr, Literal};
use memchr::memmem::Finder;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An expression whose patterns are prepared.
pub(super) fn prepared(expression: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let prepare = |node: Arc<dyn PhysicalExpr>| {
        Ok(match Like::of(&node) {
            Some(like) => Transformed::yes(Arc::new(like) as Arc<dyn PhysicalExpr>),
            None => Transformed::no(node),
        })
    };
    Ok(expression.transform_up(prepare)?.data)
}

/// A text, and a pattern that it is to match or not.
#[derive(Debug)]
struct Like {
    text: Arc<dyn PhysicalExpr>,
    is_negated: bool,
    pattern: Arc<Pattern>,
    /// The engine's expression, which this stands for.
    engines: Arc<dyn PhysicalExpr>,
}

impl Like {
    /// `None` for what is no LIKE, or stays with the engine.
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
        let matches = |at| {
            let is_null = views.is_null(at);
            !is_null && self.pattern.matches(views.value(at).as_bytes()) != self.is_negated
        };
        let values = BooleanBuffer::collect_bool(views.len(), matches);
        let mask = BooleanArray::new(values, texts.logical_nulls());
        Ok(ColumnarValue::Array(Arc::new(mask)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.text]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let ([text], [_, constant]) = (&children[..], &self.engines.children()[..]) else {
            return internal_err!("LIKE has a text and a pattern");
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

/// A pattern, taken apart at its `%`.
#[derive(Debug)]
enum Pattern {
    /// There is none.
    Whole(Box<[u8]>),
    /// What the text begins with, what comes in it one after another, and what it ends with.
    Parts { first: Box<[u8]>, between: Vec<Finder<'static>>, last: Box<[u8]> },
}

impl Pattern {
    /// `None` where it has more than `%` and characters that mean themselves.
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
        let rest = match first.is_empty() {
            true => Some(text),
            false => text.strip_prefix(&**first),
        };
        // Comparing nothing with nothing takes as long as a search: there is no memory that it could look at.
        let rest = match last.is_empty() {
            true => rest,
            false => rest.and_then(|rest| rest.strip_suffix(&**last)),
        };
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
        (expected, prepared.downcast_ref::<Like>().is_some())
    }

    #[test]
    fn patterns_of_percents_are_prepared_and_others_left_alone() {
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
    fn an_end_is_no_part_of_what_comes_before_it() {
        let pattern = |pattern: &str| Pattern::of(pattern).expect("prepared");
        assert!(!pattern("aa%aa").matches(b"aaa") && pattern("aa%aa").matches(b"aaaa"));
        assert!(!pattern("%ab%b").matches(b"ab") && pattern("%ab%b").matches(b"abb"));
    }

    proptest! {
        #[test]
        fn they_match_what_the_engine_matches(
            texts in prop::collection::vec(prop::option::of("[abä]{0,7}"), 1..20),
            pattern in "[abä%]{0,6}",
            is_negated: bool,
        ) {
            prop_assert!(like(is_negated, &pattern, Arc::new(StringViewArray::from_iter(texts))).1);
        }
    }
}
