//! The `pando` program.

mod arguments;
mod bench;
mod demo;
mod drain;
mod load;
mod machine;
mod open;
mod predict;
mod serve;
mod simulate;
mod sql;
mod status;

use arguments::{Arguments, Command};
use std::process::ExitCode;
use tokio::runtime::Handle;

fn main() -> ExitCode {
    program::keep_freed_memory();
    let arguments = Arguments::read();
    if arguments.command.measures() {
        program::warn_if_unoptimised("pando");
    }
    let threads = arguments.command.threads();
    program::run("pando", threads, async |workers| run(arguments.command, workers).await)
}

async fn run(command: Command, workers: Handle) -> anyhow::Result<ExitCode> {
    match command {
        Command::Sql(arguments) => sql::run(arguments, workers).await,
        Command::Serve(arguments) => serve::run(arguments, workers).await,
        Command::Status(arguments) => status::show(arguments).await,
        Command::Drain(arguments) => drain::run(arguments).await,
        Command::Load(arguments) => load::run(arguments, workers).await,
        Command::Demo(arguments) => demo::run(arguments, workers).await,
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Predict(arguments) => predict::run(&arguments).await,
        Command::Bench(arguments) => bench::run(&arguments),
    }
}
