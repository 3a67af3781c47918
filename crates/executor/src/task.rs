//! A task of a statement.

use crate::control::Control;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::{JoinError, JoinHandle};

/// A task of a statement. If it is dropped before its end, the statement is stopped.
#[derive(Debug)]
#[must_use = "dropping a task stops it"]
pub struct Task<T> {
    handle: JoinHandle<T>,
    control: Control,
}

impl<T> Task<T> {
    /// A task whose end `control` asks for.
    pub fn new(handle: JoinHandle<T>, control: Control) -> Self {
        Self { handle, control }
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.handle).poll(context)
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if !self.handle.is_finished() {
            self.control.leave();
            self.handle.abort();
        }
    }
}
