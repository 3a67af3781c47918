//! Modules that give rows and sets.

use crate::making::{one, returning};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray, StructArray,
};
use datafusion::arrow::datatypes::Int64Type;
use foreign::{Parameter, Returns};
use std::sync::Arc;
use store::catalog::SqlType::{BigInt, Text};
use values::error::SqlState;

/// Rows of a number and a text.
fn rows(is_set: bool) -> Returns {
    let column = |name: &str, sql_type| Parameter { name: name.to_owned(), sql_type };
    Returns { columns: vec![column("n", BigInt), column("t", Text)], is_row: true, is_set }
}

fn numbers(row_numbers: &[i32], count: usize) -> Vec<ArrayRef> {
    let texts: StringArray = (0..count).map(|at| (at > 0).then(|| format!("t{at}"))).collect();
    let of_rows: ArrayRef = Arc::new(Int32Array::from(row_numbers.to_vec()));
    let values = Int64Array::from_iter_values(0..count as i64);
    vec![of_rows, Arc::new(values), Arc::new(texts)]
}

fn three() -> ArrayRef {
    Arc::new(Int64Array::from(vec![Some(7), None, Some(9)]))
}

#[test]
fn a_row_is_a_column_for_each_of_its_own() {
    let columns = numbers(&[0, 0], 2).split_off(1);
    let function = returning(columns, rows(false));
    let returned = function.call(&[three()], 3).expect("rows");
    let returned = returned.as_any().downcast_ref::<StructArray>().expect("records");
    assert_eq!(returned.len(), 3);
    assert!(returned.is_null(1), "NULL arguments are not seen by a STRICT function");
    let numbers = returned.column(0).as_primitive::<Int64Type>();
    assert_eq!((numbers.value(0), numbers.value(2)), (0, 1));
    assert!(returned.column(1).is_null(0));
}

#[test]
fn a_set_has_rows_for_each_row_of_arguments() {
    let function = returning(numbers(&[1, 1, 1], 3), rows(true));
    let returned = function.call(&[three()], 3).expect("sets");
    let sets = returned.as_list::<i32>();
    assert!(sets.is_null(1));
    assert_eq!((sets.value_length(0), sets.value_length(2)), (0, 3));
}

#[test]
fn wrong_row_numbers_are_refused() {
    for wrong in [&[0, 1][..], &[-1, 0], &[0, 2]] {
        let error = returning(numbers(wrong, 2), rows(true)).call(&[one()], 1);
        let error = error.expect_err("there is one row of arguments");
        assert_eq!(error.state(), SqlState::ExternalRoutineException, "{error}");
    }
    let mut columns = numbers(&[0, 0], 2);
    columns[0] = Arc::clone(&columns[1]);
    let error = returning(columns, rows(true)).call(&[one()], 1).expect_err("no int32");
    assert!(error.message().contains("int32"), "{error}");
    let columns = numbers(&[0, 0], 2).split_off(1);
    let error = returning(columns, rows(true)).call(&[one()], 1).expect_err("a column is missing");
    assert!(error.message().contains("2 columns, not 3"), "{error}");
}
