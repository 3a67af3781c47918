//! SQL functions that PostgreSQL has and the engine lacks, or computes differently.
//!
//! A folder holds the functions on one kind of value. To add a SQL function:
//!
//! 1. Write it in a file of its own in the folder of its kind: over whole columns ([`columnar`], fast), over one row at
//!    a time ([`row_function`], short), or as a `ScalarUDFImpl` of the engine.
//! 2. Add it to the list `all()` in the folder's `mod.rs`; [`register_shared`] gives it to every session.
//! 3. A function that replaces an operator goes to the list in [`operators`] instead, and its use to `planner`.
//! 4. Functions that need a session or the catalog belong to `catalog_views::functions`.
//! 5. Test it with a statement in `crates/query/tests`; the expected output is PostgreSQL's.

pub mod arrays;
pub mod casts;
mod columnar;
pub mod datetime;
pub mod json;
pub mod numbers;
pub mod operators;
pub mod row_function;
pub mod system;
pub mod text;
pub mod text_function;

use datafusion::execution::{FunctionRegistry, SessionState};
use std::sync::Arc;
use values::error::Result;

/// Registers the functions that are the same for every session.
///
/// # Errors
/// The engine refuses a function.
pub fn register_shared(engine: &mut SessionState) -> Result<()> {
    let folders =
        [arrays::all(), casts::all(), datetime::all(), numbers::all(), system::all(), text::all()];
    for function in folders.into_iter().flatten() {
        engine.register_udf(Arc::new(function))?;
    }
    for function in json::all() {
        engine.register_udf(function)?;
    }
    engine.register_function_rewrite(Arc::new(json::casts::JsonTypes))?;
    engine.register_function_rewrite(Arc::new(numbers::integers::Checked))?;
    Ok(())
}
