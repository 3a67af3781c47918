//! The progress bar of a file, on a terminal only.

use super::source::{Contents, File};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use shell::quantity::{bytes, count, rate};
use shell::terminal::shows_progress;
use std::time::Instant;

/// Maximum number of redraws a second.
const REDRAWS: u8 = 10;

/// The progress of a file. Dropping it removes the bar.
pub(super) struct FileProgress {
    bar: ProgressBar,
    /// Whether the bar's length counts rows, not bytes.
    by_rows: bool,
    started: Instant,
    rows: u64,
    bytes: u64,
}

impl FileProgress {
    /// Starts a bar for a file.
    pub(super) fn begin(file: &File) -> Self {
        let (length, by_rows) = match &file.contents {
            Contents::Csv { .. } => (Some(file.bytes), false),
            Contents::Rows { count, .. } => (*count, true),
        };
        let target = if shows_progress() {
            ProgressDrawTarget::stderr_with_hz(REDRAWS)
        } else {
            ProgressDrawTarget::hidden()
        };
        let template = match length {
            Some(_) => "{prefix} {bar:30} {percent:>3} %  {msg}  {eta} left",
            None => "{prefix} {spinner} {elapsed}  {msg}",
        };
        let style = ProgressStyle::with_template(template)
            .expect("the template is valid")
            .progress_chars("█▉▊▋▌▍▎▏ ");
        let bar = ProgressBar::with_draw_target(length, target).with_style(style);
        bar.set_prefix(file.path.clone());
        Self { bar, by_rows, started: Instant::now(), rows: 0, bytes: 0 }
    }

    /// Adds rows and bytes that were sent.
    pub(super) fn advance(&mut self, rows: u64, sent: u64) {
        self.rows += rows;
        self.bytes += sent;
        if self.bar.is_hidden() {
            return;
        }
        let time = self.started.elapsed();
        let second = (self.bytes as f64 / time.as_secs_f64().max(0.001)) as u64;
        let rows = rate(self.rows, time).unwrap_or_default();
        self.bar.set_message(format!("{} rows  {rows}  {}/s", count(self.rows), bytes(second)));
        self.bar.set_position(if self.by_rows { self.rows } else { self.bytes });
    }
}

impl Drop for FileProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
