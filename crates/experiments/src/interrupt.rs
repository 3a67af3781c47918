//! Signals that end an experiment.

use anyhow::{Result, bail};
use tokio::signal::unix::{SignalKind, signal};

/// Runs `work` until it completes or until SIGINT or SIGTERM. A signal drops it, and so ends the servers that it started.
///
/// # Errors
/// As `work`, and if a signal came.
pub(crate) async fn until_interrupted<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        done = work => done,
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
    }
}
