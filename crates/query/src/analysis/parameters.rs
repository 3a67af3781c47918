//! The types of parameters with values.

use analyzer::system::{Oid, SqlType};
use datafusion::common::ScalarValue;
use parser::types;
use store::catalog;
use table_rows::Refused;
use values::error::{Error, SqlState};

/// The types of parameters with values: those that are given, else those of the values.
pub(super) fn declared(
    values: &[ScalarValue],
    given: &[Option<catalog::SqlType>],
) -> Vec<Option<SqlType>> {
    let declared = |(number, value): (usize, &ScalarValue)| {
        let given = given.get(number).and_then(Option::as_ref);
        given.and_then(types::of_held).or_else(|| type_of_value(value))
    };
    values.iter().enumerate().map(declared).collect()
}

/// The type of a parameter with this value. `None` for texts, which also represent values of other types: their place in the
/// statement decides, as when the statement was described.
fn type_of_value(value: &ScalarValue) -> Option<SqlType> {
    let data_type = value.data_type();
    let found = types::of_held(&values::types::of_arrow(&data_type))?;
    let is_text = |oid: Oid| oid.category() == 'S';
    match found.oid {
        oid if is_text(oid) || oid.element().is_some_and(is_text) => None,
        oid => Some(SqlType::plain(oid)),
    }
    .filter(|_| !data_type.is_null())
}

/// The types of a statement's parameters: those that the client gives, else those that the statement means.
///
/// # Errors
/// 42P18: neither says what type a parameter has.
pub(super) fn described(
    given: &[Option<catalog::SqlType>],
    found: &[Option<SqlType>],
) -> Result<Vec<catalog::SqlType>, Refused> {
    let mut parameters = Vec::with_capacity(found.len());
    for (number, found) in found.iter().enumerate() {
        let given = given.get(number).cloned().flatten();
        parameters.push(match (given, found) {
            (Some(given), _) => given,
            (None, Some(found)) => types::held(*found)
                .ok_or_else(|| Refused::Missing(Error::unsupported(found.to_string())))?,
            (None, None) => return Err(undetermined(number + 1).into()),
        });
    }
    Ok(parameters)
}

/// The error for a parameter of which neither the client nor the statement says what type it has.
fn undetermined(number: usize) -> Error {
    let message = format!("could not determine data type of parameter ${number}");
    Error::new(SqlState::IndeterminateDatatype, message)
}

/// The error for a parameter without a value.
pub(super) fn undefined(number: usize) -> Error {
    Error::new(SqlState::UndefinedParameter, format!("there is no parameter ${number}"))
}
