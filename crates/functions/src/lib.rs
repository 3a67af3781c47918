//! SQL functions that PostgreSQL has and the engine lacks, or computes differently.
//!
//! Each folder holds the functions on one kind of value. To add a SQL function:
//!
//! 1. Write it in its own file in the folder of its kind, with `columnar::function` (whole columns,
//!    fast), `columnar::row_function::function` (row by row, short) or the engine's `ScalarUDFImpl`.
//! 2. Add it to `all()` in the folder's `mod.rs`: [`register_shared`] registers it in all sessions.
//! 3. Test it with a statement in `crates/query/tests`, with PostgreSQL's output as expected output.
//! 4. If it replaces an operator, add it to [`operators`] instead of `all()`; `lowering` inserts it.
//! 5. If it reads the session or the catalog, put it in `catalog_views::functions` instead.

mod aggregates;
pub mod arrays;
pub mod casts;
pub mod datetime;
pub mod extremes;
pub mod json;
mod limits;
pub mod numbers;
pub mod operators;
mod regexes;
mod replaced;
pub mod system;
pub mod text;

use columnar::overload;
use datafusion::execution::{FunctionRegistry, SessionState};
use std::sync::Arc;
use values::error::Result;

pub use columnar::{chance, row_function, text_function, zoned};
pub use formats;
pub use limits::{folding, limited_copies};

/// Registers the functions that are the same for every session.
///
/// # Errors
/// The engine refuses a function.
pub fn register_shared(engine: &mut SessionState) -> Result<()> {
    let folders = [
        arrays::all(),
        casts::all(),
        datetime::all(),
        formats::all(),
        numbers::all(),
        regexes::all(),
        system::all(),
        text::all(),
    ];
    for function in folders.into_iter().flatten() {
        engine.register_udf(Arc::new(function))?;
    }
    for function in json::all() {
        engine.register_udf(function)?;
    }
    let aggregates = numbers::totals::all().into_iter().chain(numbers::moments::all());
    for aggregate in aggregates.chain(numbers::sums::all()).chain(extremes::all()) {
        engine.register_udaf(Arc::new(aggregate))?;
    }
    limits::register(engine)?;
    engine.register_function_rewrite(Arc::new(json::casts::JsonTypes))?;
    engine.register_function_rewrite(Arc::new(numbers::integers::Checked))?;
    engine.register_function_rewrite(Arc::new(numbers::floats::CheckedFloats))?;
    engine.register_function_rewrite(Arc::new(replaced::Replacements))?;
    engine.register_function_rewrite(Arc::new(regexes::Operators))?;
    engine.register_function_rewrite(Arc::new(text::concatenation::Concatenations))?;
    Ok(())
}
