//! The options of the database of a command.

use crate::arguments::DatabaseArguments;
use crate::machine;
use pando::Options;
use query::Executors;
use std::num::NonZeroUsize;

/// The options of a database, from the command line.
pub(crate) fn options(arguments: &DatabaseArguments, executors: Executors) -> Options {
    let memory_limit = arguments.memory.or_else(machine::default_memory_limit);
    let threads = arguments.threads.map(NonZeroUsize::get);
    let give_back_memory = Some(program::give_back_memory as fn());
    Options {
        memory_limit,
        threads,
        executors: Some(executors),
        give_back_memory,
        ..Options::default()
    }
}
