//! Asking memory for a column before it is looked at.
//!
//! A loop that compares takes several instructions a value, and a processor runs some hundred instructions ahead of one that waits: so
//! few lines of a column are on their way at once, whatever memory could deliver. Asked for in a row, as many are as it can. A date
//! that nothing has looked at took 4.6 cycles to compare on a server of 2023, and 2.6 so; one that was at hand takes 1.5.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, downcast_primitive_array};
use datafusion::arrow::datatypes::DataType;

/// Bytes that memory delivers at once.
const LINE_BYTES: usize = 64;

/// Asks for the numbers of a column, or for what says where its texts are; they come while the processor goes on.
pub(super) fn prefetch(column: &ArrayRef) {
    values(column).iter().step_by(LINE_BYTES).for_each(ask_for);
}

/// Bytes of the values as they lie; none of those that lie otherwise.
fn values(column: &ArrayRef) -> &[u8] {
    let column: &dyn Array = column;
    downcast_primitive_array! {
        column => column.values().inner().as_slice(),
        DataType::Utf8View => column.as_string_view().views().inner().as_slice(),
        _ => &[],
    }
}

#[cfg(target_arch = "x86_64")]
fn ask_for(byte: &u8) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a prefetch changes nothing that a program can see, at whatever address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(byte).cast()) }
}

/// There is no such instruction that the language has a name for; a byte that is read comes along with its line.
#[cfg(not(target_arch = "x86_64"))]
fn ask_for(byte: &u8) {
    std::hint::black_box(*byte);
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{BooleanArray, Int64Array, NullArray, StringViewArray};
    use std::sync::Arc;

    #[test]
    fn values_are_those_of_a_columns_own_part() {
        let all: ArrayRef = Arc::new(Int64Array::from_iter(0..1000));
        let some = all.slice(10, 100);
        assert_eq!(values(&all).len(), 8000);
        assert_eq!(values(&some), &values(&all)[80..880]);
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(["a", "b", "c"]));
        assert_eq!(values(&texts.slice(1, 2)), &values(&texts)[16..48]);
        [all, some, texts].iter().for_each(prefetch);
    }

    #[test]
    fn columns_without_values_in_a_row_are_left_alone() {
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
