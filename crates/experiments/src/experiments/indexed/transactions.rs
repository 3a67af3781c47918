//! A client that repeats a transaction.

use super::works::{BRANCHES, TELLERS, Value, Work};
use crate::experiments::keyed::random_key;
use crate::statistics::Times;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};

/// A client with its prepared statements.
pub(super) struct Running {
    client: Client,
    steps: Vec<(Statement, &'static [Value])>,
    takes_jobs: bool,
    /// Its number, and the number of all clients.
    place: (u16, u16),
    rows: u32,
}

/// What a client has done.
pub(super) struct Done {
    pub(super) times: Times,
    /// The numbers of the jobs that it has taken.
    pub(super) taken: Vec<i32>,
}

/// The values of one transaction.
struct Drawn {
    row: i32,
    teller: i32,
    delta: i32,
    next: i32,
}

impl Running {
    pub(super) async fn new(
        client: Client,
        work: &Work,
        place: (u16, u16),
        rows: u32,
    ) -> Result<Self> {
        let mut steps = Vec::with_capacity(work.steps.len());
        for step in work.steps {
            steps.push((client.prepare(step.sql).await.context(step.sql)?, step.values));
        }
        Ok(Self { client, steps, takes_jobs: work.takes_jobs, place, rows })
    }

    /// Repeats the transaction for a time.
    pub(super) async fn until_over(self, length: Duration) -> Result<Done> {
        let mut done = Done { times: Times::default(), taken: Vec::new() };
        let end = Instant::now() + length;
        for number in 0_u32.. {
            let start = Instant::now();
            if start >= end {
                break;
            }
            done.taken.extend(self.transaction(&self.drawn(number)).await?);
            done.times.push(start.elapsed());
        }
        Ok(done)
    }

    /// Runs the transaction once; returns the job that it takes, if that is what it does.
    async fn transaction(&self, drawn: &Drawn) -> Result<Option<i32>> {
        let is_block = self.steps.len() > 1;
        if is_block {
            self.client.batch_execute("BEGIN").await?;
        }
        let mut last = Vec::new();
        for (statement, values) in &self.steps {
            let values: Vec<i32> = values.iter().map(|value| drawn.value(*value)).collect();
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            last = self.client.query(statement, &values).await?;
        }
        if is_block {
            self.client.batch_execute("COMMIT").await?;
        }
        Ok(last.first().filter(|_| self.takes_jobs).map(|row| row.get(0)))
    }

    fn drawn(&self, number: u32) -> Drawn {
        let (client, clients) = self.place;
        let random = |kind: u64, below: u32| {
            random_key(u64::from(client) << 40 | kind << 36 | u64::from(number), below)
        };
        let next = self.rows + 1 + number * u32::from(clients) + u32::from(client);
        Drawn {
            row: random(0, self.rows),
            teller: random(1, TELLERS),
            delta: random(2, 10_001) - 5_001,
            // Above the jobs that are there at first.
            next: next as i32 + 1_000,
        }
    }
}

impl Drawn {
    fn value(&self, value: Value) -> i32 {
        match value {
            Value::Row => self.row,
            Value::Code => self.row * 7,
            Value::Teller => self.teller,
            Value::Branch => (self.teller - 1) % BRANCHES as i32 + 1,
            Value::Delta => self.delta,
            Value::Next => self.next,
        }
    }
}
