//! Opening the database that a command works on.

use crate::arguments::DatabaseArguments;
use crate::machine;
use pando::{Database, Options};
use std::num::NonZeroUsize;
use tokio::runtime::Handle;

/// Opens a database as the command line says, whose statements run on the workers.
pub(crate) fn open(arguments: &DatabaseArguments, workers: Handle) -> anyhow::Result<Database> {
    Ok(Database::open(options(arguments, workers))?)
}

/// How a database is opened that the command line describes.
pub(crate) fn options(arguments: &DatabaseArguments, workers: Handle) -> Options {
    let memory_limit = arguments.memory.or_else(machine::default_memory_limit);
    let threads = arguments.threads.map(NonZeroUsize::get);
    Options { memory_limit, threads, workers: Some(workers), ..Options::default() }
}
