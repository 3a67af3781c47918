//! The `pando` program: what each subcommand does, wired together.

mod allocator;
mod arguments;
mod demo;
mod drain;
mod interrupt;
mod load;
mod machine;
mod open;
mod output;
mod predict;
mod quantity;
mod remote;
mod serve;
mod shell;
mod simulate;
mod sql;
mod status;
mod terminal;
mod trouble;
mod waiting;

use arguments::{Arguments, Command};
use std::io;
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

/// Planning recurses as deeply as expressions nest.
const THREAD_STACK_BYTES: usize = 8 << 20;
/// What a build says that is slower than the one which people run, and by more for some work than for other.
const FOR_TESTS: &str = "this build is made for tests, not optimised and full of checks: its times say nothing \
     (cargo build --release --bin pando makes one whose times do)";

fn main() -> ExitCode {
    allocator::keep_freed_memory();
    let arguments = Arguments::read();
    if cfg!(debug_assertions) && arguments.command.measures() {
        eprintln!("pando: {FOR_TESTS}");
    }
    match run(arguments.command) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pando: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Two runtimes: one talks to people and clients, the other runs statements. However busy the second is,
/// the first hears that something is to be cancelled.
fn run(command: Command) -> anyhow::Result<ExitCode> {
    let workers = runtime("pando-worker", command.threads())?;
    let runtime = runtime("pando", None)?;
    let handle = workers.handle().clone();
    let code = runtime.block_on(async {
        match command {
            Command::Sql(arguments) => sql::run(arguments, handle).await,
            Command::Serve(arguments) => serve::run(arguments, handle).await,
            Command::Status(arguments) => status::show(arguments).await,
            Command::Drain(arguments) => drain::run(arguments).await,
            Command::Load(arguments) => load::run(arguments, handle).await,
            Command::Demo(arguments) => demo::run(arguments, handle).await,
            Command::Simulate(arguments) => simulate::run(arguments),
            Command::Predict(arguments) => predict::run(&arguments).await,
            Command::Bench(arguments) => {
                bench::run(arguments, handle).await.map(|()| ExitCode::SUCCESS)
            }
        }
    });
    runtime.shutdown_background();
    workers.shutdown_background();
    code
}

fn runtime(name: &str, threads: Option<usize>) -> io::Result<Runtime> {
    let mut runtime = Builder::new_multi_thread();
    if let Some(threads) = threads {
        runtime.worker_threads(threads);
    }
    runtime.thread_name(name).enable_all().thread_stack_size(THREAD_STACK_BYTES).build()
}

/// Whoever read our output has seen enough (`pando sql ... | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
