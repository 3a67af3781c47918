//! The main loop of a connection.
//!
//! Received messages are handled one by one. Output is buffered and sent when all received messages
//! are handled, so a group of messages needs one write. Rows are sent as they fill the buffer.

use super::Stopping;
use super::backend::Output;
use super::connection::Connection;
use super::error::Ending;
use super::gone::Presence;
use super::wire::Stream;
use frontend::Message;
use query::{Error, SqlState, TransactionStatus};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// Maximum size of the output buffer that is kept while the client is idle.
const OUTPUT_BYTES_KEPT: usize = 16 << 10;

/// Bytes of a message's type and length.
const HEADER_BYTES: usize = 5;

impl<S: Stream> Connection<S> {
    /// Serves the client until either side closes the connection. Running statements of a client that has gone are stopped.
    pub(crate) async fn serve(mut self, client: Presence, stopping: Stopping) {
        let terminated = self.session.clone();
        let ending = tokio::select! {
            ending = self.converse(&client, &stopping.soon) => ending,
            () = stopping.now.cancelled() => shut_down(),
            () = terminated.terminated() => shut_down(),
        };
        if let Ending::Io(error) = &ending {
            tracing::debug!(%error, "a connection broke");
        }
        if let Ending::Fatal(error) = ending {
            self.listener.metrics.error(error.state());
            self.wire.out.error("FATAL", &error, 0);
            let _ = tokio::time::timeout(Duration::from_secs(1), self.wire.flush()).await;
        }
        let _ = self.wire.stream.shutdown().await;
    }

    async fn converse(&mut self, client: &Presence, stop: &CancellationToken) -> Ending {
        loop {
            let step = tokio::select! {
                biased;
                step = self.step() => step,
                () = client.gone() => return Ending::Closed,
            };
            let waited = match step {
                Err(ending) => return ending,
                Ok(()) => tokio::select! {
                    waited = self.wait() => waited,
                    () = stop.cancelled() => return shut_down(),
                },
            };
            if let Err(ending) = waited {
                return ending;
            }
        }
    }

    /// Handles all received messages and sends the output.
    async fn step(&mut self) -> Result<(), Ending> {
        while let Some((kind, body)) = self.wire.frames.next()? {
            self.listener.metrics.received(body.len() + HEADER_BYTES);
            let message = Message::decode(kind, body)?;
            self.handle(message).await?;
            self.wire.flush_if_full().await?;
        }
        if std::mem::take(&mut self.flush_due) {
            self.wire.flush().await?;
        }
        self.wire.account()?;
        self.listener.metrics.sent(std::mem::take(&mut self.wire.sent));
        Ok(())
    }

    /// Waits for the client, subject to the idle timeouts.
    async fn wait(&mut self) -> Result<(), Ending> {
        // Buffered output that is not due is kept for the rest of its group.
        if self.wire.out.0.is_empty() && self.wire.out.0.capacity() > OUTPUT_BYTES_KEPT {
            self.wire.out = Output::default();
        }
        let is_open = self.session.transaction_status() != TransactionStatus::Idle;
        let limit = if is_open {
            self.session.idle_in_transaction_timeout()
        } else {
            self.session.idle_timeout()
        };
        // A client in a transaction gets notifications when it has ended. One in the midst of a group waits for its end.
        let hears = !is_open && self.wire.out.0.is_empty();
        let session = self.session.clone();
        let received = async {
            tokio::select! {
                biased;
                received = self.wire.receive() => received.map(|()| false),
                () = session.notified(), if hears => Ok(true),
            }
        };
        let received = match limit {
            None => Ok(received.await),
            Some(limit) => tokio::time::timeout(limit, received).await,
        };
        match received {
            Ok(Ok(true)) => {
                self.deliver(TransactionStatus::Idle);
                self.wire.flush().await
            }
            Ok(received) => received.map(drop),
            Err(_) if is_open => Err(Ending::Fatal(Error::new(
                SqlState::IdleInTransactionSessionTimeout,
                "terminating connection due to idle-in-transaction timeout",
            ))),
            Err(_) => Err(Ending::Fatal(Error::new(
                SqlState::IdleSessionTimeout,
                "terminating connection due to idle-session timeout",
            ))),
        }
    }

    async fn handle(&mut self, message: Message) -> Result<(), Ending> {
        match message {
            Message::Terminate => {
                // Earlier requests are answered: the client may have closed only its sending side.
                self.wire.flush().await?;
                return Err(Ending::Closed);
            }
            Message::Sync => return self.sync().await,
            _ if self.skipping => return Ok(()),
            Message::Flush => self.flush_due = true,
            Message::Query(text) => {
                Box::pin(self.simple_query(&text)).await?;
                self.end_if_terminated()?;
                self.ready().await;
            }
            Message::FunctionCall => {
                let error = Error::unsupported("fastpath function calls are not supported");
                self.fail(&error.with_hint("Call the function in a SELECT."), 0).await;
                self.ready().await;
            }
            // Messages of a COPY that has failed are skipped.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) => {}
            other => {
                if let Err(error) = self.extended(other).await? {
                    self.fail(&error, 0).await;
                    self.skipping = true;
                }
            }
        }
        Ok(())
    }

    /// Ends a group of messages and commits its implicit transaction.
    async fn sync(&mut self) -> Result<(), Ending> {
        self.skipping = false;
        self.end_group().await;
        self.end_if_terminated()?;
        self.ready().await;
        Ok(())
    }

    /// A terminated session accepts no more statements.
    fn end_if_terminated(&self) -> Result<(), Ending> {
        if self.session.is_terminated() { Err(shut_down()) } else { Ok(()) }
    }
}

fn shut_down() -> Ending {
    let message = "terminating connection due to administrator command";
    Ending::Fatal(Error::new(SqlState::AdminShutdown, message))
}
