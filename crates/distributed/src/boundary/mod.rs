//! The boundary between two bundles of operators: an operator that stores all rows of the bundle
//! below, on every server that runs it, before it returns any.

mod amounts;
mod begun;
mod results;
mod storage;
mod stored;

pub(crate) use amounts::Amounts;
pub(crate) use results::Results;
pub(crate) use stored::{Stored, open_below};
