//! Functions that do what they should.

use crate::making::{module, script};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{Int32Type, Int64Type};
use std::sync::Arc;
use store::catalog::SqlType::{BigInt, Boolean, Integer, Jsonb, Text};

#[test]
fn plain_exports_are_called_for_each_row() {
    let text = r#"(module (func (export "f") (param i64 i64) (result i64)
        local.get 0 local.get 1 i64.add))"#;
    let add = module(text, &[BigInt, BigInt], BigInt).expect("defined");
    let left: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let right: ArrayRef = Arc::new(Int64Array::from(vec![10, 20, 30]));
    let sums = add.call(&[left, right], 3).expect("sums");
    assert_eq!(
        sums.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
        [Some(11), None, Some(33)]
    );
}

#[test]
fn batches_cross_the_border_as_streams() {
    // Returns what it got: a column of texts.
    let text = r#"(module (memory (export "memory") 2)
        (func (export "pando_alloc") (param i32) (result i32) i32.const 1024)
        (func (export "f") (param i32 i32) (result i64)
            (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32))
                    (i64.extend_i32_u (local.get 1)))))"#;
    let same = module(text, &[Text], Text).expect("defined");
    let texts: ArrayRef =
        Arc::new(StringViewArray::from(vec!["a", "a text that is not short", ""]));
    let returned = same.call(&[Arc::clone(&texts)], 3).expect("the same");
    assert_eq!(&returned, &texts);
}

#[test]
fn scripts_take_and_give_values_of_sql() {
    let kinds =
        script("return [typeof a, typeof b, typeof c].join()", &[BigInt, Integer, Text], Text);
    let arguments: [ArrayRef; 3] = [
        Arc::new(Int64Array::from(vec![1])),
        Arc::new(Int32Array::from(vec![2])),
        Arc::new(StringViewArray::from(vec!["x"])),
    ];
    let kinds = kinds.expect("defined").call(&arguments, 1).expect("texts");
    assert_eq!(kinds.as_string_view().value(0), "bigint,number,string");
    let double = script("return a * 2", &[Integer], Integer).expect("defined");
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(4), None]));
    let doubled = double.call(&[numbers], 2).expect("numbers");
    assert_eq!(doubled.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(8), None]);
    let json = script("a.n += 1; return a", &[Jsonb], Jsonb).expect("defined");
    let document: ArrayRef = Arc::new(StringViewArray::from(vec![r#"{"n": 1, "of": []}"#]));
    let changed = json.call(&[document], 1).expect("a document");
    assert_eq!(changed.as_string_view().value(0), r#"{"n": 2, "of": []}"#);
    let nothing = script("", &[], Boolean).expect("defined");
    assert!(nothing.call(&[], 1).expect("NULL").is_null(0));
}
