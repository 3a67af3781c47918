//! Functions that PostgreSQL has and the engine lacks.

pub(crate) mod arithmetic;
pub(crate) mod array_operand;
mod arrays;
pub(crate) mod bytes;
mod columnar;
pub(crate) mod constant_casts;
pub(crate) mod conversion;
pub(crate) mod decimals;
pub(crate) mod extract;
mod identifiers;
pub(crate) mod intervals;
pub(crate) mod json;
pub(crate) mod like_escapes;
pub(crate) mod missing;
pub(crate) mod moments;
pub(crate) mod of_operators;
mod rounded;
pub(crate) mod row_function;
pub(crate) mod series;
pub(crate) mod simple;
mod sleep;

pub(crate) mod zones;

use crate::values::error::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use std::sync::Arc;

/// Adds what is the same for every session.
pub(crate) fn register_shared(engine: &mut SessionState) -> Result<()> {
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
