//! The `pando` program.

mod arguments;
mod backup;
mod bench;
mod check;
mod demo;
mod drain;
mod function;
mod load;
mod machine;
mod open;
mod predict;
mod reading;
mod serve;
mod simulate;
mod sql;
mod status;

use arguments::{Arguments, Command};
use query::Executors;
use std::num::NonZeroUsize;
use std::process::ExitCode;

fn main() -> ExitCode {
    program::keep_freed_memory();
    let arguments = Arguments::read();
    if arguments.command.measures() {
        program::warn_if_unoptimised("pando");
    }
    program::run("pando", async || {
        let executors = Executors::new(arguments.command.threads().and_then(NonZeroUsize::new))?;
        run(arguments.command, executors).await
    })
}

async fn run(command: Command, executors: Executors) -> anyhow::Result<ExitCode> {
    match command {
        Command::Sql(arguments) => sql::run(arguments, executors).await,
        Command::Serve(arguments) => serve::run(arguments, executors).await,
        Command::Status(arguments) => status::show(arguments).await,
        Command::Drain(arguments) => drain::run(arguments).await,
        Command::Load(arguments) => load::run(arguments, executors).await,
        Command::Backup(arguments) => backup::make(arguments, executors).await,
        Command::Restore(arguments) => backup::restore(arguments).await,
        Command::Demo(arguments) => demo::run(arguments, executors).await,
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Predict(arguments) => predict::run(&arguments).await,
        Command::Check(arguments) => check::run(&arguments),
        Command::Function(arguments) => function::run(&arguments.command),
        Command::Bench(arguments) => bench::run(&arguments),
    }
}
