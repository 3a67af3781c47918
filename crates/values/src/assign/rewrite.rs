//! Rewriting the texts of an array.

use crate::error::Result;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder};
use std::borrow::Cow;
use std::sync::Arc;

/// Applies a function to each text. Returns the same array if no text changes.
pub(super) fn rewrite(
    array: ArrayRef,
    change: impl Fn(&str) -> Result<Cow<'_, str>>,
) -> Result<ArrayRef> {
    let texts: &StringViewArray = array.as_string_view();
    let mut changed = false;
    for text in texts.iter().flatten() {
        changed |= *change(text)? != *text;
    }
    if !changed {
        return Ok(array);
    }
    let mut builder = StringViewBuilder::with_capacity(texts.len());
    for text in texts {
        match text {
            Some(text) => builder.append_value(change(text)?),
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}
