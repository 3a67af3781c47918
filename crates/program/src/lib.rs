//! What the programs `pando` and `pando-bench` share: the allocator, the runtime, and exit codes.

mod allocator;

pub use allocator::{give_back_memory, keep_freed_memory};

use std::io;
use std::process::ExitCode;
use std::thread;
use tokio::runtime::Builder;

/// Stack of a thread, in bytes, of which only what is used is memory. Planning recurses as deeply as expressions nest, and
/// uses a new stack where little is left: that makes short queries a tenth slower.
const THREAD_STACK_BYTES: usize = 64 << 20;

/// Runs a program on a runtime with a thread for each processor, and reports its error on standard error. An output that
/// is closed early, as in `pando sql ... | head`, is no error.
pub fn run(name: &str, work: impl AsyncFnOnce() -> anyhow::Result<ExitCode> + Send) -> ExitCode {
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
    work: impl AsyncFnOnce() -> anyhow::Result<ExitCode> + Send,
) -> anyhow::Result<ExitCode> {
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.thread_name(name).enable_all().thread_stack_size(THREAD_STACK_BYTES);
    let runtime = runtime.build()?;
    // The stack of the first thread is as large as the system makes it.
    let code = thread::scope(|scope| {
        let main = thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_BYTES);
        let main = main.spawn_scoped(scope, || runtime.block_on(work()))?;
        main.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
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
