//! The progress of a running statement: elapsed time, and for loads rows and rate.
//!
//! It is shown on standard error, if that is a terminal and the statement takes long. It is removed before the answer is
//! printed.

use crate::interrupt::Interrupts;
use crate::terminal::shows_progress;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use query::{Progress, Session};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// The progress appears after so long.
const REVEAL_AFTER: Duration = Duration::from_millis(600);
const REDRAW_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of redraws a second.
const REDRAWS: u8 = 10;

/// The progress of a statement. Dropping this removes it.
pub(crate) struct Waiting {
    session: Option<Session>,
    interrupts: Interrupts,
    bar: Arc<Mutex<Option<ProgressBar>>>,
    reveal: JoinHandle<()>,
}

impl Waiting {
    /// Starts to wait for a statement. A session in this process reports the progress of loads.
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
                // The terminal has printed ^C after the bar, which moved the cursor to the next line. On an error the bar
                // remains.
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
        .expect("the template is valid")
        .progress_chars("█▉▊▋▌▍▎▏ ")
        .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
            let rate = crate::quantity::rate(state.pos(), state.elapsed());
            // An error of the progress bar is ignored.
            let _ = out.write_str(rate.as_deref().unwrap_or(""));
        })
}
