//! Arrays, `{1,2,"a b",NULL}`, and composites, `(1,"a b",)`.
//!
//! Elements are written by their own type's writer and then quoted where PostgreSQL's reader would
//! otherwise take them for something else. An array inside an array is not quoted: it is a dimension.

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

/// Lists whose values at a row are a range of one array.
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

/// Composites: NULL is nothing between the commas, and a quote inside is doubled.
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
            if column.write(row, out) && is_delicate(&out[start..], &['(', ')']) {
                quote(start, "\"", out);
            }
        }
        out.push(')');
    }))
}

fn needs_quotes(element: &str) -> bool {
    element.eq_ignore_ascii_case("null") || is_delicate(element, &['{', '}'])
}

fn is_delicate(text: &str, brackets: &[char]) -> bool {
    let special =
        |c: char| matches!(c, '"' | '\\' | ',') || c.is_ascii_whitespace() || brackets.contains(&c);
    text.is_empty() || text.contains(special)
}

/// Puts what stands from `start` on between double quotes; `escape` goes before a quote inside.
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
