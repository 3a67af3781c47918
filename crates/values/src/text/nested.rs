//! Arrays, `{1,2,"a b",NULL}`, and composite values, `(1,"a b",)`.
//!
//! Elements are quoted where PostgreSQL's parser needs it. An array in an array is a dimension and
//! is not quoted.

use super::{TextColumn, Writer};
use crate::error::Result;
use crate::style::Style;
use arrow::array::{
    Array, FixedSizeListArray, GenericListArray, GenericListViewArray, OffsetSizeTrait, StructArray,
};
use arrow::datatypes::DataType;
use std::ops::Range;

pub(super) fn list<O: OffsetSizeTrait>(
    lists: &GenericListArray<O>,
    style: Style,
) -> Result<Writer<'_>> {
    let offsets = lists.value_offsets();
    elements(lists.values(), style, move |row| offsets[row].as_usize()..offsets[row + 1].as_usize())
}

pub(super) fn list_view<O: OffsetSizeTrait>(
    lists: &GenericListViewArray<O>,
    style: Style,
) -> Result<Writer<'_>> {
    let (offsets, sizes) = (lists.value_offsets(), lists.value_sizes());
    elements(lists.values(), style, move |row| {
        let start = offsets[row].as_usize();
        start..start + sizes[row].as_usize()
    })
}

pub(super) fn fixed_list(lists: &FixedSizeListArray, style: Style) -> Result<Writer<'_>> {
    elements(lists.values(), style, move |row| {
        let start = lists.value_offset(row) as usize;
        start..start + lists.value_length() as usize
    })
}

/// A writer of lists whose elements at a row are a range of `values`.
fn elements<'a>(
    values: &'a dyn Array,
    style: Style,
    range: impl Fn(usize) -> Range<usize> + Send + Sync + 'a,
) -> Result<Writer<'a>> {
    let column = TextColumn::styled(values, style)?;
    let nested = is_list(values.data_type());
    Ok(Box::new(move |row, out| {
        out.push('{');
        for (index, element) in range(row).enumerate() {
            if index > 0 {
                out.push(',');
            }
            let start = out.len();
            if !column.write(element, out) {
                out.push_str("NULL");
            } else if !nested && needs_quotes(&out[start..]) {
                quote(start, "\\", out);
            }
        }
        out.push('}');
    }))
}

fn is_list(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::ListView(_)
            | DataType::LargeListView(_)
            | DataType::FixedSizeList(..)
    )
}

/// A writer of composite values: NULL is empty, and a quote is doubled.
pub(super) fn composite(values: &StructArray, style: Style) -> Result<Writer<'_>> {
    let columns = values
        .columns()
        .iter()
        .map(|c| TextColumn::styled(c, style))
        .collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |row, out| {
        out.push('(');
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            let start = out.len();
            if column.write(row, out) && has_special(&out[start..], &['(', ')']) {
                quote(start, "\"", out);
            }
        }
        out.push(')');
    }))
}

fn needs_quotes(element: &str) -> bool {
    element.eq_ignore_ascii_case("null") || has_special(element, &['{', '}'])
}

/// Whether a text is empty or has characters that need quotes.
fn has_special(text: &str, brackets: &[char]) -> bool {
    let special =
        |c: char| matches!(c, '"' | '\\' | ',') || c.is_ascii_whitespace() || brackets.contains(&c);
    text.is_empty() || text.contains(special)
}

/// Quotes the text from `start` on; `escape` precedes a quote in it.
fn quote(start: usize, escape: &str, out: &mut String) {
    let plain = out.split_off(start);
    out.push('"');
    for c in plain.chars() {
        match c {
            '"' => out.push_str(escape),
            '\\' => out.push('\\'),
            _ => (),
        }
        out.push(c);
    }
    out.push('"');
}
