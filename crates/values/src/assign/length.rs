//! The declared length of `varchar(n)` and `char(n)`, which assignments enforce and to which casts truncate, and the declared
//! precision of times, to which both round.

use super::rewrite::rewrite;
use crate::error::{Error, Result, SqlState};
use crate::{numbers, precision};
use datafusion::arrow::array::{ArrayRef, AsArray, ListArray};
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::SqlType;

/// What to do with a text that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// Truncate it, as an explicit cast does.
    Cut,
    /// Report an error unless only blanks exceed the length, as an assignment does.
    Refuse,
}

/// Enforces the declared length of a type; lengths count characters.
///
/// # Errors
/// 22001: a text is too long.
pub fn fit(array: ArrayRef, sql_type: &SqlType, excess: Excess) -> Result<ArrayRef> {
    let sql_type = sql_type.representation();
    match sql_type {
        SqlType::Varchar(Some(limit)) | SqlType::Char(limit) => {
            let fits = |view: &u128| *view as u32 <= *limit;
            if array.as_string_view().views().iter().all(fits) {
                return Ok(array);
            }
            rewrite(array, |text| shortened(text, *limit as usize, sql_type, excess))
        }
        SqlType::Precise(of, modifier) if **of == SqlType::NUMERIC => {
            numbers::with_precision(&array, *modifier)
        }
        SqlType::Precise(_, modifier) => {
            let modifier = i32::try_from(*modifier).unwrap_or(-1);
            precision::rounded(&array, |_| modifier)
        }
        SqlType::Array(item) if **item != SqlType::Text => {
            let (field, offsets, items, nulls) = array.as_list::<i32>().clone().into_parts();
            let same = Arc::clone(&items);
            let items = fit(items, item, excess)?;
            if Arc::ptr_eq(&same, &items) || !is_limited(item) {
                Ok(array)
            } else {
                Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?))
            }
        }
        _ => Ok(array),
    }
}

/// Whether values of a type are changed to fit it.
fn is_limited(sql_type: &SqlType) -> bool {
    matches!(
        sql_type.representation(),
        SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Precise(..)
    )
}

fn shortened<'a>(
    text: &'a str,
    limit: usize,
    sql_type: &SqlType,
    excess: Excess,
) -> Result<Cow<'a, str>> {
    let Some((end, _)) = text.char_indices().nth(limit) else { return Ok(Cow::Borrowed(text)) };
    let (kept, rest) = text.split_at(end);
    if excess == Excess::Refuse && rest.contains(|c| c != ' ') {
        return Err(Error::new(
            SqlState::StringDataRightTruncation,
            format!("value too long for type {sql_type}"),
        ));
    }
    Ok(Cow::Borrowed(match sql_type {
        SqlType::Char(_) => kept.trim_end_matches(' '),
        _ => kept,
    }))
}
