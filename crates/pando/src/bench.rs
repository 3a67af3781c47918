//! `pando bench`: replaces this process with the program `pando-bench` from the same folder.

use crate::arguments::BenchArguments;
use anyhow::Context;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Exit code if there is no `pando-bench`.
const EXIT_MISSING: u8 = 2;

/// Executes `pando-bench` with the arguments. Returns only if that fails.
pub(crate) fn run(arguments: &BenchArguments) -> anyhow::Result<ExitCode> {
    let own = std::env::current_exe().context("cannot find the path of this program")?;
    let program = own.with_file_name("pando-bench");
    if !program.is_file() {
        let program = program.display();
        eprintln!("pando: {program} does not exist (cargo build --release --bin pando-bench)");
        return Ok(ExitCode::from(EXIT_MISSING));
    }
    let error = Command::new(&program).args(&arguments.arguments).exec();
    Err(error).with_context(|| format!("cannot execute {}", program.display()))
}
