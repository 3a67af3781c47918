//! The progress of reading a data directory: a bar, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use shell::terminal::shows_progress;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Progress, RecoveryStage};

/// Maximum number of redraws a second.
const REDRAWS: u8 = 10;
/// Nothing is shown of what takes less time.
const SHORTEST: Duration = Duration::from_millis(300);
/// Steps of the bar.
const STEPS: u64 = 1000;

/// The progress of reading. Dropping it removes the bar.
pub(crate) struct Reading {
    bar: ProgressBar,
    begun: Instant,
}

impl Reading {
    /// Begins a bar, which appears with the first progress after a moment.
    pub(crate) fn begin() -> Self {
        let target = if shows_progress() {
            ProgressDrawTarget::stderr_with_hz(REDRAWS)
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{msg} {bar:30} {percent:>3} %  {eta} left")
            .expect("the template is valid")
            .progress_chars("█▉▊▋▌▍▎▏ ");
        let bar = ProgressBar::with_draw_target(Some(STEPS), target).with_style(style);
        Self { bar, begun: Instant::now() }
    }

    /// Shows that a part of something has been read, 0 to 1.
    pub(crate) fn show(&self, what: &'static str, part: f64) {
        let step = (part.clamp(0.0, 1.0) * STEPS as f64) as u64;
        // Called for each command: most calls change nothing.
        if self.bar.is_hidden() || self.bar.position() == step || self.begun.elapsed() < SHORTEST {
            return;
        }
        if self.bar.message() != what {
            self.bar.set_message(what);
        }
        self.bar.set_position(step);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The progress of a recovery; `None` if it is not shown.
pub(crate) fn of_recovery() -> Option<Progress> {
    if !shows_progress() {
        return None;
    }
    let reading = Reading::begin();
    Some(Progress(Arc::new(move |stage, part| {
        let what = match stage {
            RecoveryStage::Checkpoint => "Reading the checkpoint",
            RecoveryStage::Journal => "Replaying the log",
        };
        reading.show(what, part);
    })))
}
