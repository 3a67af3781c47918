//! Functions that PostgreSQL has and the engine lacks.

pub(crate) mod arithmetic;
pub mod array_operand;
mod arrays;
pub mod bytes;
mod columnar;
pub mod constant_casts;
pub mod conversion;
pub mod decimals;
pub mod extract;
mod identifiers;
pub mod intervals;
pub mod json;
pub mod like_escapes;
pub mod missing;
pub mod moments;
pub mod of_operators;
mod rounded;
pub mod row_function;
pub mod series;
pub mod simple;
mod sleep;

pub mod zones;

use datafusion::execution::{FunctionRegistry, SessionState};
use std::sync::Arc;
use values::error::Result;

/// Adds what is the same for every session.
pub fn register_shared(engine: &mut SessionState) -> Result<()> {
    let small = simple::all()
        .into_iter()
        .chain(arrays::all())
        .chain(intervals::all())
        .chain(bytes::all())
        .chain(identifiers::all())
        .chain(rounded::all());
    for function in small.chain([
        sleep::function(),
        extract::date_part(),
        array_operand::function(),
        conversion::undeclared(),
        conversion::mentioned(),
        moments::age(),
        series::as_array(),
        zones::at_time_zone(),
    ]) {
        engine.register_udf(Arc::new(function))?;
    }
    for function in json::all() {
        engine.register_udf(function)?;
    }
    engine.register_function_rewrite(Arc::new(json::casts::JsonTypes))?;
    engine.register_function_rewrite(Arc::new(arithmetic::Checked))?;
    Ok(())
}
