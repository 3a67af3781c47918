//! Ctrl-C: cancels the running statement.
//!
//! At the shell's prompt the line editor takes Ctrl-C as a key and no signal is sent. While a statement
//! runs, the signal cancels it. A script has no prompt to return to: there the signal also ends the
//! script, and a second one the program, in case a statement does not listen.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What shells answer for a program that was ended by Ctrl-C.
const EXIT_INTERRUPTED: i32 = 130;

/// What cancels the running statement.
pub(crate) type Canceller = Arc<dyn Fn() + Send + Sync>;

/// Listens for Ctrl-C for as long as the program runs.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts(Arc<State>);

#[derive(Debug)]
struct State {
    running: AtomicBool,
    interrupted: AtomicBool,
    conversation: AtomicBool,
}

/// A statement that runs until this value is dropped.
#[derive(Debug)]
pub(crate) struct Running<'a>(&'a State);

impl Interrupts {
    /// Begins to listen; `cancel` cancels the running statement.
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

    /// From now on there is a prompt to return to.
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
