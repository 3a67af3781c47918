//! Bulk loads of rows for all servers: all rows of a load are there, or none.

use super::bank::name_of;
use super::{Outcome, Stage, create};
use crate::dice::Dice;
use crate::rows::{numbers, read_numbers};
use crate::world::{Running, World};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Error;
use store::catalog::{SqlType, TableId};

/// Keys are below this, times the number of loads.
pub(super) const KEYS: i64 = 200_000;

const ROWS: i64 = 40;

/// The workload.
pub(super) struct Loads {
    table: TableId,
    history: Mutex<BTreeMap<i64, Outcome>>,
}

impl Loads {
    pub(super) async fn set_up(world: &World) -> Self {
        let table = create(world, 0, "loads", SqlType::BigInt, numbers(&[])).await;
        Self { table, history: Mutex::default() }
    }

    /// Loads rows whose keys are spread over the table.
    pub(super) async fn load(&self, world: &World, server: &Running, dice: &mut Dice) {
        let number = {
            let mut history = self.history.lock();
            let number = history.len() as i64;
            history.insert(number, Outcome::Unknown);
            number
        };
        let (store, table, stage) = (Arc::clone(server.store()), self.table, Stage::default());
        let committing = stage.clone();
        let pieces = dice.between(1, 3) as usize;
        let work = async move {
            let mut transaction = store.begin_distributed().await?;
            let mut part = transaction.ingest(table)?;
            let rows = rows_of(number);
            for piece in rows.chunks(rows.len().div_ceil(pieces)) {
                part.append(numbers(piece))?;
            }
            transaction.finish_ingest(table, vec![part]).await?;
            committing.commits();
            transaction.commit().await.map(drop)
        };
        let answer = world.on(server, work).await;
        let outcome = stage.outcome(&answer);
        world.event(name_of(outcome), || format!("load {number}"));
        self.history.lock().insert(number, outcome);
    }

    pub(super) async fn check(&self, world: &World, server: &Running) -> Result<(), Error> {
        let history = self.history.lock().clone();
        let reading = server.store().reading().await?;
        for (number, outcome) in history {
            let keys: Vec<i64> = rows_of(number).iter().map(|(key, _)| *key).collect();
            let found = read_numbers(&reading, self.table, &keys).await?.len() as i64;
            let is_right = match outcome {
                Outcome::Done => found == ROWS,
                Outcome::Failed => found == 0,
                Outcome::Unknown => [0, ROWS].contains(&found),
            };
            if !is_right {
                world.violation(format!("of load {number}, {outcome:?}, {found} rows are there"));
            }
        }
        Ok(())
    }
}

/// The rows of a load, in the order of their keys.
fn rows_of(number: i64) -> Vec<(i64, i64)> {
    (0..ROWS).map(|row| (row * (KEYS / ROWS) + number, number)).collect()
}
