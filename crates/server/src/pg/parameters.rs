//! The values of a prepared statement's parameters.

use super::backend::format_of;
use frontend::{Bind, Format};
use query::{Error, ScalarValue, SqlState, SqlType, Style, binary, parameter_of_text};

/// Decodes the values of a Bind message as the statement's types; texts are in the session's style.
pub(crate) fn decode(
    bind: &Bind,
    types: &[SqlType],
    style: Style,
) -> Result<Vec<ScalarValue>, Error> {
    if bind.values.len() != types.len() {
        let message = format!(
            "bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
            bind.values.len(),
            bind.statement,
            types.len()
        );
        return Err(Error::new(SqlState::ProtocolViolation, message));
    }
    if bind.formats.len() > 1 && bind.formats.len() != bind.values.len() {
        let message = format!(
            "bind message has {} parameter formats but {} parameters",
            bind.formats.len(),
            bind.values.len()
        );
        return Err(Error::new(SqlState::ProtocolViolation, message));
    }
    let values = bind.values.iter().zip(types).enumerate();
    values
        .map(|(index, (value, sql_type))| {
            let sql_type = &sql_type.sent();
            let Some(value) = value else {
                return Ok(ScalarValue::try_from(sql_type.arrow())?);
            };
            match format_of(&bind.formats, index) {
                Format::Binary => binary::read(value, sql_type),
                Format::Text => {
                    let text = std::str::from_utf8(value).map_err(|_| {
                        let message = "invalid byte sequence for encoding \"UTF8\"";
                        Error::new(SqlState::CharacterNotInRepertoire, message)
                    })?;
                    of_text(text, sql_type, style)
                }
            }
        })
        .collect()
}

/// Common types are parsed here; all others use the code of casts.
fn of_text(text: &str, sql_type: &SqlType, style: Style) -> Result<ScalarValue, Error> {
    let known = match sql_type {
        SqlType::BigInt => text.parse().ok().map(|v| ScalarValue::Int64(Some(v))),
        SqlType::Integer => text.parse().ok().map(|v| ScalarValue::Int32(Some(v))),
        SqlType::Text | SqlType::Varchar(_) => Some(ScalarValue::Utf8View(Some(text.to_owned()))),
        _ => None,
    };
    match known {
        Some(value) => Ok(value),
        None => parameter_of_text(text, sql_type, style),
    }
}
