//! Limits on the values that functions make, and on the time and memory that they take.
//!
//! The engine's functions make a column at a time, without asking for memory and without looking whether their statement
//! has to end. Those that can make much more than they are given are replaced by ones that compute first how much it will
//! be ([`growing`]), and aggregates that keep all of their input by ones that account for what they return
//! ([`keeping`]). Values that are made once are checked where they would be copied for each row ([`copying`]).

mod copied;
mod copying;
mod folding;
pub(crate) mod growing;
mod keeping;
pub(crate) mod sizes;

pub use copying::limited_copies;
use datafusion::execution::{FunctionRegistry, SessionState};
pub use folding::folding;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// Bytes of a value at most, as in PostgreSQL.
const VALUE_BYTES_MAX: u64 = (1 << 30) - 1;

/// Bytes of a constant up to which its copies fit into any memory.
const SMALL_BYTES: usize = 64 << 10;

/// Replaces the functions that need limits.
///
/// # Errors
/// The engine refuses a function.
pub(super) fn register(engine: &mut SessionState) -> Result<()> {
    for (name, size) in growing::SIZES {
        if let Ok(function) = engine.udf(name) {
            engine.register_udf(Arc::new(growing::limited(function, *size)))?;
        }
    }
    for name in keeping::NAMES {
        if let Ok(function) = engine.udaf(name) {
            engine.register_udaf(Arc::new(keeping::limited(function)))?;
        }
    }
    Ok(())
}

/// Refuses a value that is too long.
///
/// # Errors
/// 54000.
pub(crate) fn check_length(bytes: u64) -> Result<()> {
    if bytes <= VALUE_BYTES_MAX {
        return Ok(());
    }
    let message = "requested length too large";
    Err(Error::new(SqlState::ProgramLimitExceeded, message)
        .with_detail(format!("A value has at most 1 GB; this one may have {bytes} bytes.")))
}
