//! A client that changes rows until the server is gone.

use super::history::{History, Promise};
use super::work::{Dice, Work};
use tokio_postgres::Client as Connection;

/// A client with its rows.
pub(super) struct Client {
    number: usize,
    work: Work,
    dice: Dice,
    history: History,
    /// The newest number of the sequence that it got.
    number_seen: i64,
}

impl Client {
    pub(super) fn new(number: usize, work: Work, dice: Dice) -> Self {
        Self { number, work, dice, history: History::default(), number_seen: 0 }
    }

    /// Works until the server does not answer.
    pub(super) async fn work(mut self, connection: Connection) -> Self {
        loop {
            let mut step = self.work.next(self.number, &self.history.newest(), &mut self.dice);
            self.history.begin(std::mem::take(&mut step.rows));
            match step.run(&connection).await {
                Ok(()) => self.history.acknowledge(),
                Err(error) => match error.code() {
                    // Another client's transaction came first, or waits for this one.
                    Some(code) if ["40001", "40P01"].contains(&code.code()) => {
                        self.history.refuse();
                        let _ = connection.batch_execute("ROLLBACK").await;
                    }
                    Some(_) => panic!("client {}: {error}", self.number),
                    None => return self,
                },
            }
            if self.work == Work::Write
                && let Ok(row) = connection.query_one("SELECT nextval('numbers')", &[]).await
            {
                self.number_seen = row.get(0);
            }
        }
    }

    /// Compares the rows with those that a server has, and returns the number of changes since that it kept.
    pub(super) async fn audit(
        &mut self,
        connection: &Connection,
        promise: Promise,
    ) -> Result<u64, String> {
        let found = self.work.read(self.number, connection).await;
        let kept = self.history.audit(found, promise);
        let kept = kept.map_err(|wrong| format!("client {}: {wrong}", self.number))?;
        if promise == Promise::Acknowledged {
            let row = connection.query_one("SELECT nextval('numbers')", &[]).await;
            let next: i64 = row.expect("a number").get(0);
            if next <= self.number_seen {
                return Err(format!("number {next} after {}", self.number_seen));
            }
        }
        Ok(kept)
    }
}
