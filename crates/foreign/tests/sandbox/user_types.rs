//! Modules that give rows of composite types and labels of enums.

use crate::making::{one, returning};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int64Array, NullArray, StringArray, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use foreign::Returns;
use std::sync::Arc;
use store::catalog::{Attribute, SqlType, TypeId, UserType, UserTypeKind, labels};
use values::error::SqlState;

fn user(name: &str, kind: UserTypeKind) -> SqlType {
    let (id, array, schema) = (TypeId(1), TypeId(2), "public".to_owned());
    let name = name.to_owned();
    SqlType::User(Arc::new(UserType { id, array, schema, name, kind, comment: None }))
}

fn mood() -> SqlType {
    user("mood", UserTypeKind::Enum(labels(["sad", "ok"].map(str::to_owned))))
}

/// Rows of a number and a label.
fn pair() -> SqlType {
    let attribute = |name: &str, sql_type| Attribute { name: name.to_owned(), sql_type };
    let attributes = vec![attribute("n", SqlType::BigInt), attribute("m", mood())];
    user("pair", UserTypeKind::Composite(attributes))
}

fn row(fields: Vec<(&str, ArrayRef)>) -> ArrayRef {
    let fields = fields.into_iter().map(|(name, column)| {
        (Arc::new(Field::new(name, column.data_type().clone(), true)), column)
    });
    Arc::new(StructArray::from(fields.collect::<Vec<_>>()))
}

fn text(text: &str) -> ArrayRef {
    Arc::new(StringArray::from(vec![text]))
}

#[test]
fn fields_of_rows_have_names() {
    let of = pair();
    let number: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let columns = vec![row(vec![("m", text("ok")), ("n", number)])];
    let returned = returning(columns, Returns::value(of.clone())).call(&[one()], 1);
    let returned = returned.expect("a row");
    assert_eq!(*returned.data_type(), of.arrow());
    let fields = returned.as_struct();
    assert_eq!(fields.column(0).as_primitive::<Int64Type>().value(0), 7);
    assert_eq!(Some(fields.column(1).as_primitive::<Int64Type>().value(0)), order("ok"));

    let missing = vec![row(vec![("m", text("sad"))])];
    let returned = returning(missing, Returns::value(of.clone())).call(&[one()], 1);
    assert!(returned.expect("a row").as_struct().column(0).is_null(0));

    let unknown = vec![row(vec![("x", text("sad"))])];
    let error = returning(unknown, Returns::value(of)).call(&[one()], 1).map(|value| value.len());
    let error = error.expect_err("it has no such attribute");
    assert_eq!(error.state(), SqlState::InvalidTextRepresentation, "{error}");
    assert!(error.message().contains("\"x\""), "{error}");
}

/// The number of a label.
fn order(label: &str) -> Option<i64> {
    mood().user_type()?.order_of(label)
}

#[test]
fn labels_are_texts() {
    let returned =
        |column: ArrayRef| returning(vec![column], Returns::value(mood())).call(&[one()], 1);
    let number = returned(text("sad")).expect("a label");
    assert_eq!(Some(number.as_primitive::<Int64Type>().value(0)), order("sad"));
    for wrong in [text("angry"), Arc::new(Int64Array::from(vec![1]))] {
        let error = returned(wrong).map(|value| value.len()).expect_err("it is no label");
        assert_eq!(error.state(), SqlState::InvalidTextRepresentation, "{error}");
    }
}

#[test]
fn void_is_an_empty_text() {
    let nothing: ArrayRef = Arc::new(NullArray::new(1));
    let returned = returning(vec![nothing], Returns::void()).call(&[one()], 1).expect("nothing");
    assert_eq!(*returned.data_type(), DataType::Utf8View);
    assert_eq!(returned.as_string_view().value(0), "");
}
