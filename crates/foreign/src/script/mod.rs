//! JavaScript: bodies of functions, called for each row.
//!
//! | SQL | JavaScript |
//! |---|---|
//! | `boolean`, `smallint`, `integer`, `real`, `double precision` | boolean, number |
//! | `bigint` | BigInt |
//! | `json`, `jsonb` | what JSON.parse makes of it |
//! | `bytea` | Uint8Array |
//! | arrays | arrays |
//! | composite types | objects with a field for each attribute |
//! | enums | text: the label |
//! | `date`, `timestamp`, `timestamptz` | text in ISO form |
//! | all others, also `numeric` | text as PostgreSQL writes it |
//!
//! NULL is `null`. Results are converted back; `undefined` is NULL, too. Rows are objects with the names of the columns, or
//! arrays; sets are arrays of values or rows, or what else can be iterated. Each batch of rows has a heap of its own.

mod arguments;
mod results;
mod returned;
mod runtime;

use crate::definition::Definition;
use crate::rows::row_of;
use arguments::Column;
use datafusion::arrow::array::{Array, ArrayRef, new_null_array};
use returned::Returned;
use runtime::Script;
use values::error::Result;

/// Checks that a body is one.
pub(crate) fn check(definition: &Definition, body: &str) -> Result<()> {
    Script::start(definition, body)?.within(|_, _| Ok(()))
}

/// Calls a body for each row.
pub(crate) fn call(
    definition: &Definition,
    body: &str,
    arguments: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef> {
    let parameters = definition.signature.parameters.iter();
    let columns = parameters.zip(arguments);
    let columns = columns.map(|(parameter, array)| Column::new(array, &parameter.sql_type));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let script = Script::start(definition, body)?;
    let mut returned = Returned::new(definition, rows);
    script.within(|program, function| {
        for row in 0..rows {
            let value = program.called(function, &columns, row)?;
            returned.push(program, &value)?;
        }
        Ok(())
    })?;
    returned.column()
}

/// Calls a body for each row, with its value for the row before as the first argument.
pub(crate) fn fold(
    definition: &Definition,
    body: &str,
    state: ArrayRef,
    arguments: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef> {
    let signature = &definition.signature;
    let script = Script::start(definition, body)?;
    script.within(|program, function| {
        (0..rows).try_fold(state, |state, row| {
            let arrays = row_of(state, arguments, row);
            if signature.is_strict && arrays.iter().any(|array| array.is_null(0)) {
                return Ok(new_null_array(&signature.returns.data_type(), 1));
            }
            let columns = signature.parameters.iter().zip(&arrays);
            let columns = columns.map(|(of, array)| Column::new(array, &of.sql_type));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let mut returned = Returned::new(definition, 1);
            returned.push(program, &program.called(function, &columns, 0)?)?;
            returned.column()
        })
    })
}
