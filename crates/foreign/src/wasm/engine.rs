//! The engine of the process, and the clock by which programs are asked whether they may go on.

use crate::limits::Limits;
use parking_lot::{Condvar, Mutex};
use std::sync::OnceLock;
use std::time::Duration;
use values::error::{Error, Result, SqlState};
use wasmtime::{Config, Engine, OptLevel};

/// How often programs are asked.
const TICK: Duration = Duration::from_millis(5);

/// The engine of the process.
///
/// # Errors
/// XX000: the processor is not supported.
pub(super) fn engine() -> Result<&'static Engine> {
    static ENGINE: OnceLock<Option<Engine>> = OnceLock::new();
    let made = ENGINE.get_or_init(|| Engine::new(&config()).ok().filter(start_clock));
    let message = "WebAssembly cannot run on this machine";
    made.as_ref().ok_or_else(|| Error::new(SqlState::InternalError, message))
}

/// Everything that is deterministic, and nothing that shares memory.
fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(Limits::default().stack)
        .cranelift_opt_level(OptLevel::Speed)
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_backtrace_max_frames(None);
    config
}

/// The number of calls that run.
static RUNNING: Mutex<usize> = Mutex::new(0);
static STARTED: Condvar = Condvar::new();

/// A call that runs. While there is one, the clock goes on.
pub(super) struct Running(());

impl Running {
    pub(super) fn begin() -> Self {
        let mut running = RUNNING.lock();
        *running += 1;
        STARTED.notify_one();
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *RUNNING.lock() -= 1;
    }
}

/// Starts the thread that advances the engine's epoch while calls run.
fn start_clock(engine: &Engine) -> bool {
    let engine = engine.clone();
    let thread = std::thread::Builder::new().name("pando-wasm-clock".to_owned());
    let clock = move || {
        loop {
            let mut running = RUNNING.lock();
            STARTED.wait_while(&mut running, |running| *running == 0);
            drop(running);
            std::thread::sleep(TICK);
            engine.increment_epoch();
        }
    };
    thread.spawn(clock).is_ok()
}
