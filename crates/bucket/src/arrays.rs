//! Sizes of arrays, and compaction of view arrays.
//!
//! Text and bytes are stored in view arrays: short values within the view, longer ones in shared
//! buffers. Slices and filtered arrays keep whole buffers alive, so arrays are compacted before
//! they are stored.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// Size of a view in bytes.
const VIEW_BYTES: u64 = 16;
/// Maximum length of a value stored within its view.
const VIEW_INLINE_BYTES: usize = 12;

/// Copies text and bytes out of buffers that mostly contain values of other rows.
pub fn compact_views(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => {
            let views = array.as_string_view();
            let held: usize = views.data_buffers().iter().map(|buffer| buffer.capacity()).sum();
            let used = outside_bytes(views.views());
            if held > used + used / 8 { Arc::new(views.gc()) } else { Arc::clone(array) }
        }
        DataType::BinaryView => {
            let views = array.as_binary_view();
            let held: usize = views.data_buffers().iter().map(|buffer| buffer.capacity()).sum();
            let used = outside_bytes(views.views());
            if held > used + used / 8 { Arc::new(views.gc()) } else { Arc::clone(array) }
        }
        _ => Arc::clone(array),
    }
}

fn outside_bytes(views: &[u128]) -> usize {
    let lengths = views.iter().map(|view| *view as u32 as usize);
    lengths.filter(|len| *len > VIEW_INLINE_BYTES).sum()
}

/// Returns the length of the longest value in bytes; zero for fixed-width types.
pub fn longest_value(array: &ArrayRef) -> u64 {
    let views = match array.data_type() {
        DataType::Utf8View => array.as_string_view().views(),
        DataType::BinaryView => array.as_binary_view().views(),
        other if other.primitive_width().is_some() || *other == DataType::Boolean => return 0,
        _ => {
            let bytes = |row| array_bytes(&array.slice(row, 1));
            return (0..array.len()).map(bytes).max().unwrap_or(0);
        }
    };
    views.iter().map(|view| u64::from(*view as u32)).max().unwrap_or(0)
}

/// Returns the bytes that the values of an array take, without unused parts of its buffers.
pub fn array_bytes(array: &ArrayRef) -> u64 {
    let rows = array.len() as u64;
    let values = match array.data_type() {
        DataType::Utf8View => {
            rows * VIEW_BYTES + outside_bytes(array.as_string_view().views()) as u64
        }
        DataType::BinaryView => {
            rows * VIEW_BYTES + outside_bytes(array.as_binary_view().views()) as u64
        }
        other => match other.primitive_width() {
            Some(width) => rows * width as u64,
            None => array.to_data().get_slice_memory_size().unwrap_or(0) as u64,
        },
    };
    values + if array.null_count() > 0 { rows.div_ceil(8) } else { 0 }
}
