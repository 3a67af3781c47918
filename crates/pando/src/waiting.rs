//! What a person sees while a statement runs: how long already, and for loads how far and how fast.
//!
//! Nothing for short statements, and nothing without a terminal. It goes to standard error and is wiped
//! away before the answer is printed.

use crate::interrupt::Interrupts;
use crate::terminal::shows_progress;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use pando::{Progress, Session};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A statement is long from here on.
const REVEAL_AFTER: Duration = Duration::from_millis(600);
const REDRAW_EVERY: Duration = Duration::from_millis(100);
/// Redraws a second, at most.
const REDRAWS: u8 = 10;

/// Shows that a statement runs, until dropped.
pub(crate) struct Waiting {
    session: Option<Session>,
    interrupts: Interrupts,
    bar: Arc<Mutex<Option<ProgressBar>>>,
    reveal: JoinHandle<()>,
}

impl Waiting {
    /// Begins to wait for a statement; a session of ours tells how far it is.
    pub(crate) fn begin(session: Option<&Session>, interrupts: &Interrupts) -> Option<Self> {
        if !shows_progress() {
            return None;
        }
        let bar = ProgressBar::hidden().with_style(running_style());
        if let Some(session) = session {
            let reports = bar.clone();
            session.on_progress(Some(Arc::new(move |progress| report(&reports, progress))));
        }
        let bar = Arc::new(Mutex::new(Some(bar)));
        let (shown, interrupted) = (Arc::clone(&bar), interrupts.clone());
        let reveal = tokio::spawn(async move {
            tokio::time::sleep(REVEAL_AFTER).await;
            let bar = shown.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(bar) = bar.as_ref().filter(|_| !interrupted.interrupted()) {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(REDRAWS));
                bar.enable_steady_tick(REDRAW_EVERY);
            }
        });
        let (session, interrupts) = (session.cloned(), interrupts.clone());
        Some(Self { session, interrupts, bar, reveal })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.reveal.abort();
        if let Some(session) = &self.session {
            session.on_progress(None);
        }
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let shown = !bar.is_hidden();
            bar.finish_and_clear();
            if shown && self.interrupts.interrupted() {
                // The terminal has written ^C behind the bar, and that was the line below. If it cannot be moved
                // back, a bar is left over.
                let _ = Term::stderr().clear_last_lines(1);
            }
        }
    }
}

fn report(bar: &ProgressBar, progress: Progress) {
    if bar.position() == 0 {
        bar.set_style(match progress.rows_expected {
            Some(_) => load_style(),
            None => open_load_style(),
        });
    }
    if let Some(expected) = progress.rows_expected {
        bar.set_length(expected.max(progress.rows));
    }
    bar.set_position(progress.rows);
}

fn running_style() -> ProgressStyle {
    style("{spinner} {elapsed}  Ctrl-C cancels")
}

fn load_style() -> ProgressStyle {
    style("{bar:30} {percent:>3} %  {human_pos} of {human_len} rows  {rate}  {eta} left")
}

fn open_load_style() -> ProgressStyle {
    style("{spinner} {elapsed}  {human_pos} rows  {rate}")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("our templates are well formed")
        .progress_chars("█▉▊▋▌▍▎▏ ")
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let rate = crate::quantity::rate(state.pos(), state.elapsed());
            // A bar that cannot be written is not worth an error.
            let _ = out.write_str(rate.as_deref().unwrap_or(""));
        })
}
