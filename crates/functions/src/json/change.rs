//! Functions that change `jsonb` values: `||`, `-`, `#-`, `jsonb_set`, `jsonb_insert` and others.

use super::Kind;
use super::arguments::{document, strict, texts};
use crate::row_function::{Row, typed_function};
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, Result, SqlState};
use values::json::change;
use values::json::change::Edit;
use values::json::normal::of_json;
use values::json::pretty::pretty;

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        jsonb("jsonb_concat", 2..=2, |row| change::joined(&value(row, 0)?, &value(row, 1)?)),
        jsonb("jsonb_delete", 2..=2, without),
        jsonb("jsonb_delete_path", 2..=2, |row| {
            change::edit(&value(row, 0)?, &texts(row, 1)?, "", Edit::Delete)
        }),
        jsonb("jsonb_set", 3..=4, |row| {
            edited(row, Edit::Set { create: row.flag(3) != Some(false) })
        }),
        typed_function("jsonb_set_lax", 5..=5, SqlType::Jsonb, set_lax),
        jsonb("jsonb_assigned", 3..=3, |row| {
            let path: Option<Vec<String>> = texts(row, 1)?.into_iter().collect();
            let path = path.ok_or_else(|| {
                let message = "jsonb subscript in assignment must not be null";
                Error::new(SqlState::NullValueNotAllowed, message)
            })?;
            change::assign(&value(row, 0)?, &path, &value(row, 2)?)
        }),
        jsonb("jsonb_insert", 3..=4, |row| {
            edited(row, Edit::Insert { after: row.flag(3) == Some(true) })
        }),
        jsonb("jsonb_strip_nulls", 1..=1, |row| of_json(&change::without_nulls(&value(row, 0)?)?)),
        typed_function(
            "json_strip_nulls",
            1..=1,
            SqlType::Json,
            strict(|row| Ok(change::without_nulls(&document(row, 0, Kind::Json)?)?.into())),
        ),
        typed_function(
            "jsonb_pretty",
            1..=1,
            SqlType::Text,
            strict(|row| Ok(pretty(&value(row, 0)?).into())),
        ),
    ]
}

fn jsonb(
    name: &'static str,
    arguments: std::ops::RangeInclusive<usize>,
    body: impl Fn(&Row<'_>) -> Result<String> + Send + Sync + 'static,
) -> ScalarUDF {
    let body = strict(move |row| Ok(Cell::from(body(row)?)));
    typed_function(name, arguments, SqlType::Jsonb, body)
}

fn value<'a>(row: &'a Row<'_>, index: usize) -> Result<std::borrow::Cow<'a, str>> {
    document(row, index, Kind::Jsonb)
}

fn edited(row: &Row<'_>, edit: Edit) -> Result<String> {
    change::edit(&value(row, 0)?, &texts(row, 1)?, &value(row, 2)?, edit)
}

/// `jsonb_set` whose last argument says what is done where the new value is NULL.
fn set_lax(row: &Row<'_>) -> Result<Cell> {
    if [0, 1, 3].iter().any(|index| row.is_null(*index)) {
        return Ok(Cell::Null);
    }
    let unknown = || {
        let message = "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \
                       \"raise_exception\"";
        Error::new(SqlState::InvalidParameterValue, message)
    };
    let treatment = row.text(4).ok_or_else(unknown)?;
    let set = Edit::Set { create: row.flag(3) == Some(true) };
    if !row.is_null(2) {
        return edited(row, set).map(Cell::from);
    }
    let (target, path) = (value(row, 0)?, texts(row, 1)?);
    let changed = match treatment {
        "use_json_null" => change::edit(&target, &path, "null", set)?,
        "delete_key" => change::edit(&target, &path, "", Edit::Delete)?,
        "return_target" => target.into_owned(),
        "raise_exception" => {
            let error = Error::new(SqlState::NullValueNotAllowed, "JSON value must not be null");
            let detail =
                "Exception was raised because null_value_treatment is \"raise_exception\".";
            let hint = "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not \
                        passed.";
            return Err(error.with_detail(detail).with_hint(hint));
        }
        _ => return Err(unknown()),
    };
    Ok(changed.into())
}

/// `value - key`, `value - keys` or `value - index`, by the second argument's type.
fn without(row: &Row<'_>) -> Result<String> {
    let whole = value(row, 0)?;
    match row.value(1).map(|(sql_type, _, _)| sql_type) {
        Some(SqlType::SmallInt | SqlType::Integer | SqlType::BigInt) => {
            change::without_index(&whole, row.number(1).unwrap_or_default())
        }
        Some(SqlType::Array(_)) => {
            let keys = texts(row, 1)?;
            change::without_keys(
                &whole,
                &keys.iter().flatten().map(|key| &**key).collect::<Vec<_>>(),
            )
        }
        _ => change::without_keys(&whole, &[row.text(1).unwrap_or_default()]),
    }
}
