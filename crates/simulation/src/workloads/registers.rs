//! Rows that are read and written alone and in transactions. Each row is linearizable.

use super::linearizability::{Operation, find_anomaly};
use super::{Outcome, Stage, create, think};
use crate::dice::Dice;
use crate::rows::{key_of, numbers, read_numbers};
use crate::server::write_newest;
use crate::world::{Running, World};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::catalog::{SqlType, TableId};
use store::{Error, Store};

pub(super) const REGISTERS: i64 = 16;

/// The workload. Every value is written once.
pub(super) struct Registers {
    table: TableId,
    history: Mutex<History>,
}

#[derive(Default)]
struct History {
    next: i64,
    by_key: BTreeMap<i64, Vec<Operation>>,
    failed: BTreeMap<i64, i64>,
}

impl Registers {
    pub(super) async fn set_up(world: &World) -> Self {
        let rows: Vec<(i64, i64)> = (0..REGISTERS).map(|key| (key, 0)).collect();
        let table = create(world, 1, "registers", SqlType::BigInt, numbers(&rows)).await;
        Self { table, history: Mutex::new(History { next: 1, ..History::default() }) }
    }

    pub(super) async fn operate(&self, world: &World, server: &Running, dice: &mut Dice) {
        let key = dice.below(REGISTERS as u64) as i64;
        match dice.below(10) {
            0..3 => self.read(world, server, key).await,
            3..6 => self.write(world, server, key).await,
            6..8 => self.read_many(world, server, dice).await,
            _ => self.transact(world, server, dice, key).await,
        }
    }

    fn value(&self) -> i64 {
        let mut history = self.history.lock();
        history.next += 1;
        history.next - 1
    }

    fn note_read(&self, world: &World, key: i64, value: i64, from: Duration, until: Duration) {
        world.event("read", || format!("register {key} is {value}"));
        let read = Operation { value, is_write: false, from, until };
        self.history.lock().by_key.entry(key).or_default().push(read);
    }

    fn note_write(&self, world: &World, key: i64, value: i64, from: Duration, outcome: Outcome) {
        let now = world.executor().now();
        world.event("write", || format!("register {key} to {value}: {outcome:?}"));
        let mut history = self.history.lock();
        let until = match outcome {
            Outcome::Done => now,
            Outcome::Unknown => Duration::MAX,
            Outcome::Failed => {
                history.failed.insert(value, key);
                return;
            }
        };
        let write = Operation { value, is_write: true, from, until };
        history.by_key.entry(key).or_default().push(write);
    }

    /// Reads the newest version of a row.
    async fn read(&self, world: &World, server: &Running, key: i64) {
        let from = world.executor().now();
        let (store, table) = (Arc::clone(server.store()), self.table);
        let read = async move { newest(&store, table, key).await };
        match world.on(server, read).await {
            Some(Ok(Some(value))) => {
                self.note_read(world, key, value, from, world.executor().now());
            }
            Some(Ok(None)) => world.violation(format!("register {key} is not there")),
            _ => {}
        }
    }

    /// Replaces a row at its owner.
    async fn write(&self, world: &World, server: &Running, key: i64) {
        let (from, value) = (world.executor().now(), self.value());
        let (store, table) = (Arc::clone(server.store()), self.table);
        let write = async move { write_newest(&store, table, (key, value)).await };
        let answer = world.on(server, write).await;
        self.note_write(world, key, value, from, Outcome::of(&answer));
    }

    /// Reads some rows at a snapshot.
    async fn read_many(&self, world: &World, server: &Running, dice: &mut Dice) {
        let keys: Vec<i64> = (0..REGISTERS).filter(|_| dice.permille(400)).collect();
        let from = world.executor().now();
        let (store, table, there) = (Arc::clone(server.store()), self.table, world.clone());
        let read = async move {
            let reading = store.reading().await?;
            let taken = there.executor().now();
            Ok::<_, Error>((taken, keys.clone(), read_numbers(&reading, table, &keys).await?))
        };
        let Some(Ok((taken, keys, found))) = world.on(server, read).await else { return };
        for key in keys {
            match found.get(&key) {
                Some(value) => self.note_read(world, key, *value, from, taken),
                None => world.violation(format!("register {key} is not there")),
            }
        }
    }

    /// Reads a row in a transaction, and writes it and another one.
    async fn transact(&self, world: &World, server: &Running, dice: &mut Dice, key: i64) {
        let other = (key + 1 + dice.below(REGISTERS as u64 - 1) as i64) % REGISTERS;
        let from = world.executor().now();
        let rows = [(key, self.value()), (other, self.value())];
        let (there, mut dice, stage) = (world.clone(), dice.fork(), Stage::default());
        let (store, table, committing) = (Arc::clone(server.store()), self.table, stage.clone());
        let work = async move {
            let mut transaction = store.begin_distributed().await?;
            transaction.upsert(table, &numbers(&rows[..1])).await?;
            think(&there, &mut dice).await;
            let found = read_numbers(&transaction.reading(), table, &[key]).await?;
            transaction.upsert(table, &numbers(&rows[1..])).await?;
            committing.commits();
            let committed = transaction.commit().await.map(drop);
            // One that has lost writes with a server cannot commit, and need not find them before.
            if committed.is_ok() && found.get(&key) != Some(&rows[0].1) {
                there.violation(format!("a transaction does not read its own {:?}", rows[0]));
            }
            committed
        };
        let answer = world.on(server, work).await;
        for (key, value) in rows {
            self.note_write(world, key, value, from, stage.outcome(&answer));
        }
    }

    pub(super) async fn check(&self, world: &World, server: &Running) -> Result<(), Error> {
        let keys: Vec<i64> = (0..REGISTERS).collect();
        let from = world.executor().now();
        let found = read_numbers(&server.store().reading().await?, self.table, &keys).await?;
        let until = world.executor().now();
        let mut history = self.history.lock();
        for key in keys {
            let Some(value) = found.get(&key) else {
                world.violation(format!("register {key} is not there"));
                continue;
            };
            let last = Operation { value: *value, is_write: false, from, until };
            let first =
                Operation { value: 0, is_write: true, from: Duration::ZERO, until: Duration::ZERO };
            let History { by_key, failed, .. } = &mut *history;
            let operations = by_key.entry(key).or_default();
            operations.push(last);
            let mut all = operations.clone();
            all.push(first);
            if let Some(read) = all.iter().find(|o| !o.is_write && failed.contains_key(&o.value)) {
                world.violation(format!("register {key} was {}, which failed", read.value));
            } else if let Some(anomaly) = find_anomaly(&all) {
                world.violation(format!("register {key} is not linearizable: {anomaly}"));
            }
        }
        Ok(())
    }
}

async fn newest(store: &Arc<Store>, table: TableId, key: i64) -> Result<Option<i64>, Error> {
    let Some(peers) = store.peers() else { return Ok(None) };
    let catalog = store.catalog();
    let Some(definition) = catalog.table_by_id(table) else { return Ok(None) };
    let row = store.find_newest(&**peers, definition, &key_of(key), &[1]).await?;
    Ok(row.map(|columns| columns[0].as_primitive::<Int64Type>().value(0)))
}
