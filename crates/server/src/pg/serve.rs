//! The loop of a connection: messages in, answers out.
//!
//! What is received is handled message by message; what is answered is gathered and sent when the client
//! waits for it: once for everything that came together. Rows are sent as they fill a buffer.

use super::Stopping;
use super::backend::Output;
use super::connection::Connection;
use super::error::Ending;
use super::wire::Stream;
use frontend::Message;
use query::{Error, SqlState, TransactionStatus};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// A buffer that has grown beyond this is given back when the client is waited for.
const OUTPUT_BYTES_KEPT: usize = 16 << 10;

/// Bytes of a message's type and length.
const HEADER_BYTES: usize = 5;

impl<S: Stream> Connection<S> {
    /// Serves the client until one side has enough.
    pub(crate) async fn serve(mut self, stopping: Stopping) {
        let terminated = self.session.clone();
        let ending = tokio::select! {
            ending = self.converse(&stopping.soon) => ending,
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

    async fn converse(&mut self, stop: &CancellationToken) -> Ending {
        loop {
            let step = self.step().await;
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

    /// Handles everything that is there, and answers.
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

    /// Waits for the client, but not for ever inside a transaction.
    async fn wait(&mut self) -> Result<(), Ending> {
        // What is not due yet waits for the rest of its group.
        if self.wire.out.0.is_empty() && self.wire.out.0.capacity() > OUTPUT_BYTES_KEPT {
            self.wire.out = Output::default();
        }
        let is_open = self.session.transaction_status().await != TransactionStatus::Idle;
        let limit = if is_open {
            self.session.idle_in_transaction_timeout()
        } else {
            self.session.idle_timeout()
        };
        let Some(limit) = limit else { return self.wire.receive().await };
        match tokio::time::timeout(limit, self.wire.receive()).await {
            Ok(received) => received,
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
                // What was asked before is answered: the client may have stopped writing only.
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
            // What a client sends after COPY has failed under it is passed over.
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

    /// The end of a group of messages: its transaction is committed if it was none of the client's own.
    async fn sync(&mut self) -> Result<(), Ending> {
        self.skipping = false;
        self.end_group().await;
        self.end_if_terminated()?;
        self.ready().await;
        Ok(())
    }

    /// A session that has ended itself is not ready for more.
    fn end_if_terminated(&self) -> Result<(), Ending> {
        if self.session.is_terminated() { Err(shut_down()) } else { Ok(()) }
    }
}

fn shut_down() -> Ending {
    let message = "terminating connection due to administrator command";
    Ending::Fatal(Error::new(SqlState::AdminShutdown, message))
}
