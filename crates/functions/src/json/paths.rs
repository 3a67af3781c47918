//! JSON paths: `@?`, `@@`, `jsonb_path_exists` and its like. The paths themselves are in `jsonpath`.

use super::Kind;
use super::arguments::{document, strict};
use crate::row_function::{Row, typed_function};
use datafusion::logical_expr::ScalarUDF;
use jsonpath::{Evaluation, Path, Stop};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, Result, SqlState};
use values::json::normal;
use values::json::raw::Value;

/// Paths that are kept parsed.
const KEPT: usize = 128;

/// The function that returns the items that a path finds, as an array of their texts.
pub(super) const ITEMS: &str = "jsonb_path_items";

/// Checks that a text is a path.
///
/// # Errors
/// As [`Path::parse`].
pub fn check(text: &str) -> Result<()> {
    path(text).map(drop)
}

/// The functions. Those of operators take two arguments and ignore errors of the document.
pub(super) fn all() -> Vec<ScalarUDF> {
    let of_jsonb = SqlType::Jsonb;
    let texts = SqlType::Array(Box::new(SqlType::Text));
    let both = |name, of_operator, body: fn(&Row<'_>, bool) -> Result<Cell>| {
        [
            typed_function(
                name,
                4..=4,
                SqlType::Boolean,
                strict(move |row| body(row, row.flag(3) == Some(true))),
            ),
            typed_function(
                of_operator,
                2..=2,
                SqlType::Boolean,
                strict(move |row| body(row, true)),
            ),
        ]
    };
    let mut all = vec![
        typed_function(ITEMS, 4..=4, texts, strict(|row| Ok(of_call(row)?.into()))),
        typed_function(
            "jsonb_path_query_array",
            4..=4,
            of_jsonb.clone(),
            strict(|row| {
                let items = of_call(row)?.into_iter().flatten().collect::<Vec<_>>();
                Ok(Some(normal::array(items.iter().map(String::as_str))).into())
            }),
        ),
        typed_function(
            "jsonb_path_query_first",
            4..=4,
            of_jsonb,
            strict(|row| Ok(of_call(row)?.into_iter().next().flatten().into())),
        ),
    ];
    all.extend(both("jsonb_path_exists", "jsonb_path_exists_opr", exists));
    all.extend(both("jsonb_path_match", "jsonb_path_match_opr", matches));
    all
}

fn exists(row: &Row<'_>, silent: bool) -> Result<Cell> {
    evaluated(row, |evaluation| match evaluation.exists() {
        Ok(exists) => Ok(exists.into()),
        Err(Stop::Failed(_)) if silent => Ok(Cell::Null),
        Err(stop) => Err(error_of(stop)),
    })
}

fn matches(row: &Row<'_>, silent: bool) -> Result<Cell> {
    let items = items(row, silent)?;
    match items.as_slice() {
        [Some(item)] if matches!(Value::of(item), Value::Boolean(_) | Value::Null) => {
            Ok(match Value::of(item) {
                Value::Boolean(value) => value.into(),
                _ => Cell::Null,
            })
        }
        _ if silent => Ok(Cell::Null),
        _ => Err(Error::new(
            SqlState::SingletonSqlJsonItemRequired,
            "single boolean result is expected",
        )),
    }
}

/// The items of a call with four arguments.
fn of_call(row: &Row<'_>) -> Result<Vec<Option<String>>> {
    items(row, row.flag(3) == Some(true))
}

/// The items that a path finds; with `silent` those before an error of the document.
fn items(row: &Row<'_>, silent: bool) -> Result<Vec<Option<String>>> {
    evaluated(row, |evaluation| {
        let mut items = Vec::new();
        let found = evaluation.items(&mut |item| {
            items.push(Some(item.to_owned()));
            Ok(())
        });
        match found {
            Err(Stop::Failed(_)) if silent => Ok(items),
            Err(stop) => Err(error_of(stop)),
            Ok(()) => Ok(items),
        }
    })
}

fn evaluated<T>(row: &Row<'_>, evaluate: impl FnOnce(&Evaluation<'_>) -> Result<T>) -> Result<T> {
    let document = document(row, 0, Kind::Jsonb)?;
    let path = path(row.text(1).unwrap_or_default())?;
    evaluate(&Evaluation::new(&path, &document, row.text(2).unwrap_or("{}"))?)
}

fn error_of(stop: Stop) -> Error {
    match stop {
        Stop::Failed(error) | Stop::Refused(error) => error,
        Stop::Enough => {
            Error::new(SqlState::DataException, "the evaluation of a JSON path ended early")
        }
    }
}

/// The parsed path of a text.
fn path(text: &str) -> Result<Arc<Path>> {
    static PATHS: LazyLock<Mutex<HashMap<String, Arc<Path>>>> = LazyLock::new(Mutex::default);
    let lock = || PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = lock().get(text) {
        return Ok(Arc::clone(path));
    }
    let path = Arc::new(Path::parse(text)?);
    let mut paths = lock();
    if paths.len() >= KEPT {
        paths.clear();
    }
    paths.insert(text.to_owned(), Arc::clone(&path));
    Ok(path)
}
