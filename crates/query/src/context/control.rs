//! The early end of a statement: a cancel request or a time-out.
//!
//! The time of a cursor's statement does not run between two fetches. A cancel request concerns the running fetch.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use values::error::{Error, SqlState};

/// The early end of a statement. The default never comes.
#[derive(Debug, Clone, Default)]
pub struct Control(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    token: CancellationToken,
    /// When the statement times out.
    deadline: watch::Sender<Option<Instant>>,
}

impl Control {
    pub(crate) fn new(token: CancellationToken, timeout: Option<Duration>) -> Self {
        let deadline = watch::Sender::new(deadline(timeout));
        Self(Some(Arc::new(State { token, deadline })))
    }

    /// Completes with the reason when the statement has to end.
    pub async fn ended(&self) -> Error {
        let Some(state) = &self.0 else { return std::future::pending().await };
        let mut deadlines = state.deadline.subscribe();
        loop {
            let deadline = *deadlines.borrow_and_update();
            tokio::select! {
                biased;
                () = state.token.cancelled() => return cancelled("user request"),
                () = passed(deadline) => return cancelled("statement timeout"),
                Ok(()) = deadlines.changed() => {}
            }
        }
    }

    /// Restarts the statement's time with `timeout`. The token that cancels it comes back.
    pub(crate) fn resume(&self, timeout: Option<Duration>) -> Option<CancellationToken> {
        let state = self.0.as_ref()?;
        state.deadline.send_replace(deadline(timeout));
        Some(state.token.clone())
    }

    /// Stops the statement's time.
    pub(crate) fn pause(&self) {
        if let Some(state) = &self.0 {
            state.deadline.send_replace(None);
        }
    }
}

fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn cancelled(reason: &str) -> Error {
    Error::new(SqlState::QueryCanceled, format!("canceling statement due to {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pause_stops_the_clock() {
        let (short, longer) = (Duration::from_millis(1), Duration::from_millis(20));
        let control = Control::new(CancellationToken::new(), Some(short));
        control.pause();
        assert!(tokio::time::timeout(longer, control.ended()).await.is_err());
        control.resume(Some(short));
        assert_eq!(control.ended().await.message(), "canceling statement due to statement timeout");
    }

    #[tokio::test]
    async fn whoever_is_cancelled_ends_at_once() {
        let token = CancellationToken::new();
        let control = Control::new(token.clone(), None);
        token.cancel();
        assert_eq!(control.ended().await.message(), "canceling statement due to user request");
    }
}
