//! Connections that have a thread to themselves may wait for the disk: nobody else waits with them.

use query::store::journal::waiting_if;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// Work of one of several connections on a thread.
pub(super) struct Alone<F> {
    work: Pin<Box<F>>,
    /// The connections on the thread.
    connections: Arc<AtomicUsize>,
}

impl<F: Future> Alone<F> {
    pub(super) fn new(work: F, connections: Arc<AtomicUsize>) -> Self {
        Self { work: Box::pin(work), connections }
    }
}

impl<F: Future> Future for Alone<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let is_alone = self.connections.load(Ordering::Relaxed) == 1;
        waiting_if(is_alone, || self.work.as_mut().poll(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::store::journal::may_wait;
    use std::task::Waker;

    #[test]
    fn only_a_single_connection_may_wait() {
        let connections = Arc::new(AtomicUsize::new(1));
        let work = std::future::poll_fn(|_| match may_wait() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        });
        let mut alone = Alone::new(work, Arc::clone(&connections));
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut alone).poll(&mut context).is_pending());
        assert!(!may_wait());
        connections.store(2, Ordering::Relaxed);
        assert!(Pin::new(&mut alone).poll(&mut context).is_ready());
    }
}
