//! The fields of a record as values of their own.

use crate::refusal::{Result, missing};
use crate::typed::Typed;
use analyzer::system::SqlType;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use records::Of;

/// The fields of a record.
pub(crate) fn fields_of(record: &Typed, types: &[SqlType]) -> Result<Vec<Typed>> {
    let DataType::Struct(fields) = &record.data_type else { return missing("a set of this type") };
    let field = |(at, (field, sql_type)): (usize, (&FieldRef, &SqlType))| {
        let expr = Of::Field(at).function().call(vec![record.expr.clone()]);
        Typed::of(expr, field.data_type().clone(), *sql_type)
    };
    fields.iter().zip(types).enumerate().map(field).collect()
}
