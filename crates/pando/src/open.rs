//! Opening the database that a command works on.

use crate::arguments::DatabaseArguments;
use crate::machine;
use pando::{Database, Options};
use std::num::NonZeroUsize;

/// Opens a database as the command line says.
pub(crate) fn open(arguments: &DatabaseArguments) -> anyhow::Result<Database> {
    let memory_limit = arguments.memory.or_else(machine::default_memory_limit);
    let threads = arguments.threads.map(NonZeroUsize::get);
    Ok(Database::open(Options { memory_limit, threads, ..Options::default() })?)
}

/// Opens a database that is served: what takes long runs on the current runtime, and clients are talked
/// to on another one.
pub(crate) fn open_to_serve(arguments: &DatabaseArguments) -> anyhow::Result<Database> {
    let memory_limit = arguments.memory.or_else(machine::default_memory_limit);
    let threads = arguments.threads.map(NonZeroUsize::get);
    let workers = Some(tokio::runtime::Handle::current());
    Ok(Database::open(Options { memory_limit, threads, workers, ..Options::default() })?)
}
