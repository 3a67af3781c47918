//! What the programs `pando` and `pando-bench` share: the allocator, the two runtimes, and exit codes.

mod allocator;

pub use allocator::keep_freed_memory;

use std::io;
use std::process::ExitCode;
use tokio::runtime::{Builder, Handle, Runtime};

/// Stack of a worker thread, in bytes. Planning recurses as deeply as expressions nest.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// Runs a program on two runtimes, and reports its error on standard error.
///
/// `work` runs on the first runtime and gets the handle of the second, which has `threads` worker threads (one a
/// processor by default) and executes statements. Clients and signals are answered even if the second is busy. An
/// output that is closed early, as in `pando sql ... | head`, is no error.
pub fn run(
    name: &str,
    threads: Option<usize>,
    work: impl AsyncFnOnce(Handle) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    match run_on_runtimes(name, threads, work) {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Warns that durations are meaningless, if the program was built with debug assertions.
pub fn warn_if_unoptimised(name: &str) {
    if cfg!(debug_assertions) {
        eprintln!(
            "{name}: this is a test build, not optimised and with extra checks: its times say nothing \
             (cargo build --release --bin {name} makes an optimised one)"
        );
    }
}

fn run_on_runtimes(
    name: &str,
    threads: Option<usize>,
    work: impl AsyncFnOnce(Handle) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let workers = runtime(&format!("{name}-worker"), threads)?;
    let runtime = runtime(name, None)?;
    let code = runtime.block_on(work(workers.handle().clone()));
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

/// Whether the reader of our output has gone.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
