//! What the programs `pando` and `pando-bench` share: the allocator, the runtime, and exit codes.

mod allocator;

pub use allocator::{give_back_memory, keep_freed_memory};

use std::io;
use std::process::ExitCode;
use tokio::runtime::Builder;

/// Stack of a thread of the runtime, in bytes.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// Runs a program on a runtime with a thread for each processor, and reports its error on standard error. An output that
/// is closed early, as in `pando sql ... | head`, is no error.
pub fn run(name: &str, work: impl AsyncFnOnce() -> anyhow::Result<ExitCode>) -> ExitCode {
    match run_on_runtime(name, work) {
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

fn run_on_runtime(
    name: &str,
    work: impl AsyncFnOnce() -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.thread_name(name).enable_all().thread_stack_size(THREAD_STACK_BYTES);
    let runtime = runtime.build()?;
    let code = runtime.block_on(work());
    runtime.shutdown_background();
    code
}

/// Whether the reader of our output has gone.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
