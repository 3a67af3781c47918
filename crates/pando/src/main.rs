//! The `pando` program: what each subcommand does, wired together.

mod arguments;
mod demo;
mod interrupt;
mod machine;
mod open;
mod output;
mod quantity;
mod serve;
mod shell;
mod sql;
mod terminal;
mod waiting;

use arguments::{Arguments, Command};
use std::io;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Planning recurses as deeply as expressions nest.
const THREAD_STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    let arguments = Arguments::read();
    match run(arguments.command) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pando: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = command.threads() {
        runtime.worker_threads(threads);
    }
    let runtime = runtime.enable_all().thread_stack_size(THREAD_STACK_BYTES).build()?;
    let code = runtime.block_on(async {
        match command {
            Command::Sql(arguments) => sql::run(arguments).await,
            Command::Serve(arguments) => serve::run(arguments).await,
            Command::Demo(arguments) => demo::run(arguments).await,
            Command::Bench(arguments) => bench::run(arguments).await.map(|()| ExitCode::SUCCESS),
        }
    });
    runtime.shutdown_background();
    code
}

/// Whoever read our output has seen enough (`pando sql ... | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
