//! What clients do, and what must be true of the answers.
//!
//! A workload is set up before there are faults, its clients run until they are told to stop, and it is checked when
//! everything has healed. Each client is at a server for one operation; when that ends, its client does not know what
//! has happened.

mod bank;
mod definitions;
mod linearizability;
mod lists;
mod loads;
mod moves;
mod registers;

use crate::dice::Dice;
use crate::rows;
use crate::world::{Running, World};
pub(crate) use bank::{ACCOUNTS, Bank};
use definitions::Definitions;
use lists::Lists;
use loads::Loads;
use parking_lot::Mutex;
use registers::Registers;
use std::sync::Arc;
use store::catalog::{CatalogChange, Relation, SqlType, TableId};
use store::{DistributedTransaction, Error};

/// What a client knows of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was acknowledged.
    Done,
    /// It has failed: nothing has changed.
    Failed,
    /// It may have happened, or happen later.
    Unknown,
}

impl Outcome {
    /// The outcome of what a server has answered; `None` if it ended before.
    pub(crate) fn of<T>(answer: &Option<Result<T, Error>>) -> Self {
        let state = match answer {
            None => return Self::Unknown,
            Some(Ok(_)) => return Self::Done,
            Some(Err(Error::Remote { sql_state, .. })) => sql_state,
            Some(Err(Error::Failed(failure))) => &failure.sql_state,
            Some(Err(_)) => return Self::Failed,
        };
        // Unknown outcomes, and failures of the disk.
        if ["08007", "58030"].contains(&state.as_str()) { Self::Unknown } else { Self::Failed }
    }
}

/// How far a transaction has come, for a client whose server ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage(Arc<Mutex<bool>>);

impl Stage {
    /// The commit begins.
    pub(crate) fn commits(&self) {
        *self.0.lock() = true;
    }

    /// The outcome: nothing happens before the commit.
    pub(crate) fn outcome<T>(&self, answer: &Option<Result<T, Error>>) -> Outcome {
        if *self.0.lock() || matches!(answer, Some(Ok(_))) {
            Outcome::of(answer)
        } else {
            Outcome::Failed
        }
    }
}

/// All workloads of a run.
#[derive(Clone)]
pub(crate) struct Workloads {
    pub(crate) bank: Arc<Bank>,
    registers: Arc<Registers>,
    lists: Arc<Lists>,
    loads: Arc<Loads>,
    definitions: Arc<Definitions>,
    has_stopped: Arc<Mutex<bool>>,
    /// Clients that run.
    clients: Arc<Mutex<usize>>,
}

impl Workloads {
    /// Creates the tables.
    pub(crate) async fn set_up(world: &World) -> Self {
        Self {
            bank: Arc::new(Bank::set_up(world).await),
            registers: Arc::new(Registers::set_up(world).await),
            lists: Arc::new(Lists::set_up(world).await),
            loads: Arc::new(Loads::set_up(world).await),
            definitions: Arc::default(),
            has_stopped: Arc::default(),
            clients: Arc::default(),
        }
    }

    /// Starts the clients.
    pub(crate) fn start(&self, world: &World, clients: usize) {
        for _ in 0..clients {
            *self.clients.lock() += 1;
            let (workloads, world) = (self.clone(), world.clone());
            let dice = world.dice();
            world.clone().spawn(async move {
                workloads.run(&world, dice).await;
                *workloads.clients.lock() -= 1;
            });
        }
        moves::start(world, self.has_stopped.clone());
    }

    /// Lets every client end after its operation.
    pub(crate) fn stop(&self) {
        *self.has_stopped.lock() = true;
    }

    /// Clients that have not ended.
    pub(crate) fn running(&self) -> usize {
        *self.clients.lock()
    }

    async fn run(&self, world: &World, mut dice: Dice) {
        while !*self.has_stopped.lock() {
            world.sleep_millis(dice.between(1, 60)).await;
            let Some(server) = world.any(&mut dice) else { continue };
            match dice.below(100) {
                0..35 => self.bank.transfer(world, &server, &mut dice).await,
                35..42 => self.bank.audit(world, &server, &mut dice).await,
                42..70 => self.registers.operate(world, &server, &mut dice).await,
                70..85 => self.lists.append(world, &server, &mut dice).await,
                85..94 => self.lists.observe(world, &server, &mut dice).await,
                94..96 => self.definitions.create(world, &server).await,
                _ => self.loads.load(world, &server, &mut dice).await,
            }
        }
    }

    /// Checks what is there after everything has healed; an error if it cannot be read yet.
    pub(crate) async fn check(&self, world: &World, server: &Running) -> Result<(), Error> {
        self.bank.check(world, server).await?;
        self.registers.check(world, server).await?;
        self.lists.check(world, server).await?;
        self.loads.check(world, server).await?;
        self.definitions.check(world, server);
        Ok(())
    }

    /// Writes through a server after everything has healed.
    pub(crate) async fn write(&self, server: &Running) -> Result<(), Error> {
        self.bank.rewrite(server).await
    }
}

/// Creates a table through a server, and inserts its first rows.
async fn create(
    world: &World,
    through: usize,
    name: &str,
    value: SqlType,
    rows: arrow::array::RecordBatch,
) -> TableId {
    let Some(server) = world.running().into_iter().find(|server| server.site == through) else {
        panic!("servers run before there are faults")
    };
    let store = Arc::clone(server.store());
    let id = TableId(store.next_relation_id().0);
    let table = rows::definition(id, name, value, store.group());
    loop {
        let create = CatalogChange::Create(Relation::Table(Arc::new(table.clone())));
        let (store, rows) = (Arc::clone(&store), rows.clone());
        let created = world.on(&server, async move {
            let mut transaction = store.begin_distributed().await?;
            transaction.change_catalog(create)?;
            if rows.num_rows() > 0 {
                transaction.insert(id, &rows).await?;
            }
            transaction.commit().await
        });
        match created.await {
            Some(Ok(_)) => break,
            Some(Err(error)) => world.event("retry of a definition", || error.to_string()),
            None => panic!("servers run before there are faults"),
        }
        world.sleep_millis(100).await;
    }
    world.add_table(id);
    id
}

/// Lets a transaction of a client take long, sometimes.
async fn think(world: &World, dice: &mut Dice) {
    let millis = match dice.below(10) {
        0..6 => return,
        6..9 => dice.between(1, 80),
        _ => dice.between(100, 5_000),
    };
    world.sleep_millis(millis).await;
}

/// Rolls back to a savepoint, sometimes.
async fn undo(
    transaction: &mut DistributedTransaction,
    dice: &mut Dice,
    table: TableId,
    rows: &[(i64, i64)],
) -> Result<(), Error> {
    if dice.permille(150) {
        let savepoint = transaction.savepoint();
        transaction.upsert(table, &rows::numbers(rows)).await?;
        transaction.rollback_to(&savepoint).await?;
    }
    Ok(())
}
