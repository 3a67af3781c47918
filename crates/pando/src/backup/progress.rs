//! The progress of a backup or a restore, on a terminal only.

use backup::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use shell::terminal::shows_progress;
use std::sync::Arc;
use std::time::Duration;

/// Redraws a second.
const REDRAWS: u8 = 10;
/// The time between two of them.
const PERIOD: Duration = Duration::from_millis(1000 / REDRAWS as u64);

/// A bar. Dropping it removes it.
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar for work of an unknown length.
    pub(super) fn new(title: &'static str) -> Self {
        let target = match shows_progress() {
            true => ProgressDrawTarget::stderr_with_hz(REDRAWS),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target).with_message(title);
        bar.set_style(style("{msg} {spinner} {elapsed}"));
        bar.enable_steady_tick(PERIOD);
        Self(bar)
    }

    /// Whether nobody sees it.
    pub(super) fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    /// Shows how many rows are done, of a total that is 0 while it is unknown.
    pub(super) fn show(&self, rows: u64, total: u64) {
        if self.0.length().is_none() && total > 0 {
            self.0.set_style(style("{msg} {bar:30} {percent:>3} %  {human_pos} rows  {eta} left"));
            self.0.set_length(total);
        }
        self.0.set_position(rows);
    }

    /// Shows how far the work of this process is until it is done.
    pub(super) async fn follow<T>(
        self,
        progress: &Arc<Progress>,
        work: impl Future<Output = T>,
    ) -> T {
        let follow = async {
            loop {
                self.show(progress.rows(), progress.total());
                tokio::time::sleep(PERIOD).await;
            }
        };
        tokio::select! {
            done = work => done,
            () = follow => unreachable!("it follows for ever"),
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    style.progress_chars("█▉▊▋▌▍▎▏ ")
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
