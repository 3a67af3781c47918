//! Prefetching of a column before it is compared.
//!
//! A comparison takes several instructions per value, and a processor runs only some hundred
//! instructions ahead of a load that waits. So few cache lines are loaded at once. Prefetch
//! instructions in a row load as many as memory can deliver. On a server of 2023, comparing a date
//! took 4.6 cycles from memory, 2.6 with prefetching, and 1.5 from cache.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, downcast_primitive_array};
use datafusion::arrow::datatypes::DataType;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Prefetches the numbers of a column, or the views of its strings.
pub(super) fn prefetch(column: &ArrayRef) {
    values(column).iter().step_by(LINE_BYTES).for_each(prefetch_line);
}

/// The bytes of a contiguous column; empty for other layouts.
fn values(column: &ArrayRef) -> &[u8] {
    let column: &dyn Array = column;
    downcast_primitive_array! {
        column => column.values().inner().as_slice(),
        DataType::Utf8View => column.as_string_view().views().inner().as_slice(),
        _ => &[],
    }
}

#[cfg(target_arch = "x86_64")]
fn prefetch_line(byte: &u8) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a prefetch has no architectural effect, at any address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(byte).cast()) }
}

/// Reads the byte: there is no stable intrinsic for a prefetch on this architecture.
#[cfg(not(target_arch = "x86_64"))]
fn prefetch_line(byte: &u8) {
    std::hint::black_box(*byte);
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{BooleanArray, Int64Array, NullArray, StringViewArray};
    use std::sync::Arc;

    #[test]
    fn a_slice_has_its_own_values() {
        let all: ArrayRef = Arc::new(Int64Array::from_iter(0..1000));
        let some = all.slice(10, 100);
        assert_eq!(values(&all).len(), 8000);
        assert_eq!(values(&some), &values(&all)[80..880]);
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(["a", "b", "c"]));
        assert_eq!(values(&texts.slice(1, 2)), &values(&texts)[16..48]);
        [all, some, texts].iter().for_each(prefetch);
    }

    #[test]
    fn columns_without_contiguous_values_are_skipped() {
        let columns: [ArrayRef; 3] = [
            Arc::new(BooleanArray::from(vec![true; 100])),
            Arc::new(NullArray::new(9)),
            Arc::new(Int64Array::from_iter(0..0)),
        ];
        for column in &columns {
            assert!(values(column).is_empty());
            prefetch(column);
        }
    }
}
