//! COPY from and to the client.

use super::connection::Connection;
use super::error::{Answer, Ending, attempt};
use super::oid;
use super::wire::Stream;
use bytes::BufMut;
use frontend::{Format, Message};
use query::{Error, SqlState, Statement};
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// So often what a client has sent is loaded, however little it is.
const PULSE: Duration = Duration::from_millis(200);

impl<S: Stream> Connection<S> {
    /// Runs a COPY whose other end is the client.
    pub(crate) async fn copy(&mut self, statement: &Statement) -> Answer {
        if statement.is_copy_in() {
            self.copy_in(statement).await
        } else {
            self.copy_out(statement).await
        }
    }

    async fn copy_in(&mut self, statement: &Statement) -> Answer {
        let mut copy = attempt!(self.session.copy_in(statement).await);
        let format = if copy.is_binary() { Format::Binary } else { Format::Text };
        self.wire.out.copy_response(b'G', format, copy.columns());
        self.wire.flush().await?;
        let mut pulse = tokio::time::interval(PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let message = tokio::select! {
                message = self.wire.message() => message?,
                _ = pulse.tick() => {
                    attempt!(copy.load().await);
                    continue;
                }
            };
            match message {
                Message::CopyData(bytes) => {
                    if let Err(error) = copy.feed(&bytes).await {
                        drop(copy);
                        return Ok(Err(error));
                    }
                }
                Message::CopyDone => break,
                Message::CopyFail(reason) => {
                    drop(copy);
                    let message = format!("COPY from stdin failed: {reason}");
                    return Ok(Err(Error::new(SqlState::QueryCanceled, message)));
                }
                // They may come while the client does not know yet that COPY begins.
                Message::Flush | Message::Sync => {}
                Message::Terminate => return Err(Ending::Closed),
                _ => {
                    let message = "unexpected message during COPY from stdin";
                    return Ok(Err(Error::new(SqlState::ProtocolViolation, message)));
                }
            }
        }
        let tag = attempt!(copy.finish().await);
        self.notices();
        self.wire.out.command_complete(&tag.to_string());
        Ok(Ok(()))
    }

    async fn copy_out(&mut self, statement: &Statement) -> Answer {
        let mut copy = attempt!(self.session.copy_out(statement, oid::type_oid).await);
        let format = if copy.is_binary() { Format::Binary } else { Format::Text };
        self.wire.out.copy_response(b'H', format, copy.columns());
        let control = copy.control();
        loop {
            let out = &mut self.wire.out;
            let more = copy.next(&mut |row| out.message(b'd', |body| body.put_slice(row))).await;
            if !attempt!(more) {
                break;
            }
            attempt!(self.wire.flush_if_full_until(&control).await?);
        }
        self.wire.out.copy_done();
        self.wire.out.command_complete(&copy.tag().to_string());
        Ok(Ok(()))
    }
}
