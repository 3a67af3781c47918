//! Ctrl-C cancels the running statement.
//!
//! At the prompt, the line editor handles Ctrl-C as a key. While a statement runs, SIGINT cancels it. In a script, it also
//! ends the script, and a second SIGINT ends the program if the statement does not react.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a program that Ctrl-C ended, by convention.
const EXIT_INTERRUPTED: i32 = 130;

/// Cancels the running statement.
pub(crate) type Canceller = Arc<dyn Fn() + Send + Sync>;

/// The handler of Ctrl-C. It listens until the program ends.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts(Arc<State>);

#[derive(Debug)]
struct State {
    running: AtomicBool,
    interrupted: AtomicBool,
    conversation: AtomicBool,
}

/// A running statement, until this is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a>(&'a State);

impl Interrupts {
    /// Starts to listen. `cancel` cancels the running statement.
    pub(crate) fn listen(cancel: Canceller) -> Self {
        let state = Arc::new(State {
            running: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            conversation: AtomicBool::new(false),
        });
        let listening = Arc::clone(&state);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                listening.interrupt(&cancel);
            }
        });
        Self(state)
    }

    /// Switches to an interactive session, where Ctrl-C never ends the program.
    pub(crate) fn converse(&self) {
        self.0.conversation.store(true, Ordering::SeqCst);
    }

    /// Marks a statement as running.
    pub(crate) fn running(&self) -> Running<'_> {
        self.0.interrupted.store(false, Ordering::SeqCst);
        self.0.running.store(true, Ordering::SeqCst);
        Running(&self.0)
    }

    /// Whether the last statement was interrupted, even if it ended before it noticed.
    pub(crate) fn interrupted(&self) -> bool {
        self.0.interrupted.load(Ordering::SeqCst)
    }
}

impl State {
    fn interrupt(&self, cancel: &Canceller) {
        let again = self.interrupted.swap(true, Ordering::SeqCst);
        let running = self.running.load(Ordering::SeqCst);
        if !self.conversation.load(Ordering::SeqCst) && (again || !running) {
            process::exit(EXIT_INTERRUPTED);
        }
        if running {
            cancel();
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.store(false, Ordering::SeqCst);
    }
}
