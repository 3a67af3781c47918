//! `pando simulate`: simulates clusters of thousands of servers with the code of real ones.

mod directory;
mod report;

use crate::arguments::{SimulateArguments, Simulated};
use std::process::ExitCode;

/// Runs a simulation.
pub(crate) fn run(arguments: SimulateArguments) -> anyhow::Result<ExitCode> {
    match arguments.what {
        Simulated::Directory(arguments) => directory::run(&arguments),
    }
}
