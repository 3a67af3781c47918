//! `pando simulate`: what is larger than the machines at hand, with the code that runs on them.

mod directory;
mod plot;
mod report;

use crate::arguments::{SimulateArguments, Simulated};
use std::process::ExitCode;

/// Runs the simulation that is asked for.
pub(crate) fn run(arguments: SimulateArguments) -> anyhow::Result<ExitCode> {
    match arguments.what {
        Simulated::Directory(arguments) => directory::run(&arguments),
    }
}
