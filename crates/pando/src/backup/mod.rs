//! `pando backup` and `pando restore`.

mod asking;
mod making;
mod progress;
mod restoring;

pub(crate) use making::run as make;
pub(crate) use restoring::run as restore;

/// An error with its SQLSTATE and hint, as those of other commands.
fn explained(error: backup::Error) -> pando::Error {
    query::store::Error::from(error).into()
}
