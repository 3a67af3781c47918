//! Signals that end an experiment: what it has started ends with it.

use anyhow::{Result, bail};
use tokio::signal::unix::{SignalKind, signal};

/// Does something until it is done, or until SIGINT or SIGTERM comes; then it is dropped where it waits.
///
/// # Errors
/// As the work, and where a signal came.
pub(crate) async fn until_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        done = work => done,
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
    }
}
