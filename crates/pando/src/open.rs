//! Opens the database of a command.

use crate::arguments::DatabaseArguments;
use crate::machine;
use pando::{Database, Options};
use std::num::NonZeroUsize;
use tokio::runtime::Handle;

/// Opens a database with the options of the command line. Its statements run on `workers`.
pub(crate) fn open(arguments: &DatabaseArguments, workers: Handle) -> anyhow::Result<Database> {
    Ok(Database::open(options(arguments, workers))?)
}

/// The options of a database, from the command line.
pub(crate) fn options(arguments: &DatabaseArguments, workers: Handle) -> Options {
    let memory_limit = arguments.memory.or_else(machine::default_memory_limit);
    let threads = arguments.threads.map(NonZeroUsize::get);
    Options { memory_limit, threads, workers: Some(workers), ..Options::default() }
}
