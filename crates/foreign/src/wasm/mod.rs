//! WebAssembly: modules of plain functions, and of functions on batches.
//!
//! | export | form |
//! |---|---|
//! | a function of `i32`, `i64`, `f32`, `f64` | *plain*: it is called for each row. The SQL types are `boolean`, `smallint`, `integer`, `bigint`, `real` and `double precision`, and the function is STRICT, since these have no NULL. |
//! | `(i32, i32) -> i64`, besides `memory` and `pando_alloc(i32) -> i32` | *batch*: it gets address and length of an Arrow IPC stream with one batch of the arguments, and returns those of a stream of as many rows, the address in the upper 32 bits. Its columns are those of the result. Sets may have any number of rows; in front of their columns is one of type `int32`, the number of the row of arguments from 0 on, in ascending order. |
//!
//! Text is `Utf8` and `bytea` is `Binary` for a module, whatever form they have in the engine; so are labels of enums and
//! numerics without declared digits `Utf8`. Rows of composite types are `Struct`, and `void` is a column that nobody reads.

mod batch;
mod columns;
mod engine;
mod instance;
mod module;
mod plain;
mod rows;

use crate::definition::{Definition, Version};
use datafusion::arrow::array::ArrayRef;
use module::Form;
use values::error::Result;

/// Checks a module, and that its export fits the signature.
pub(crate) fn check(definition: &Definition, bytes: &[u8], digest: Version) -> Result<()> {
    let module = module::compiled(bytes, digest)?;
    module::form(definition, &module).map(drop)
}

/// Calls the export.
pub(crate) fn call(
    definition: &Definition,
    bytes: &[u8],
    digest: Version,
    arguments: &[ArrayRef],
    rows: usize,
) -> Result<ArrayRef> {
    let module = module::compiled(bytes, digest)?;
    match module::form(definition, &module)? {
        Form::Plain => {
            let module = (&module, module::keeps_nothing(bytes));
            plain::call(definition, module, arguments, rows)
        }
        Form::Batch => batch::call(definition, &module, arguments, rows),
    }
}
