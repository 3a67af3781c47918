//! Transfers between accounts on all servers. The sum is kept, and every transfer leaves a row that says what it did:
//! rows of acknowledged ones are there, those of failed ones are not, and the balances are what the rows say.

use super::{Outcome, Stage, create, think, undo};
use crate::dice::Dice;
use crate::rows::{self, numbers, read_numbers};
use crate::world::{Running, World};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{SqlType, TableId};
use store::{Error, Reading};

/// Accounts have the keys from 0 on.
pub(crate) const ACCOUNTS: i64 = 60;

const BALANCE: i64 = 100;

/// The first key of the rows about transfers.
const ROWS: i64 = 1_000_000;

#[derive(Debug, Clone, Copy)]
struct Transfer {
    from: i64,
    to: i64,
    amount: i64,
    outcome: Outcome,
}

/// The workload.
pub(crate) struct Bank {
    accounts: TableId,
    transfers: TableId,
    history: Arc<Mutex<BTreeMap<i64, Transfer>>>,
}

impl Bank {
    pub(super) async fn set_up(world: &World) -> Self {
        let rows: Vec<(i64, i64)> = (0..ACCOUNTS).map(|key| (key, BALANCE)).collect();
        let accounts = create(world, 0, "accounts", SqlType::BigInt, numbers(&rows)).await;
        let transfers = create(world, 1, "transfers", SqlType::BigInt, numbers(&[])).await;
        Self { accounts, transfers, history: Arc::default() }
    }

    /// Transfers an amount, and notes what its client knows.
    pub(super) async fn transfer(&self, world: &World, server: &Running, dice: &mut Dice) {
        let from = dice.below(ACCOUNTS as u64) as i64;
        let to = (from + 1 + dice.below(ACCOUNTS as u64 - 1) as i64) % ACCOUNTS;
        let amount = dice.between(1, 9) as i64;
        self.transfer_between(world, server, (from, to, amount), Some(dice.fork())).await;
    }

    /// Transfers an amount from one account to another. With dice it takes long, sometimes.
    pub(crate) async fn transfer_between(
        &self,
        world: &World,
        server: &Running,
        (from, to, amount): (i64, i64, i64),
        dice: Option<Dice>,
    ) {
        let row = {
            let mut history = self.history.lock();
            // Later rows are not behind earlier ones.
            let row = ROWS + (history.len() as i64 * 7_919) % 100_000;
            history.insert(row, Transfer { from, to, amount, outcome: Outcome::Unknown });
            row
        };
        let (there, mut dice, stage) = (world.clone(), dice, Stage::default());
        let (store, committing) = (Arc::clone(server.store()), stage.clone());
        let (accounts, transfers) = (self.accounts, self.transfers);
        let work = async move {
            let (world, mut dice) = (&there, dice.as_mut());
            let mut transaction = store.begin_distributed().await?;
            let reading = transaction.reading();
            let found = read_numbers(&reading, accounts, &[from, to]).await?;
            let (Some(of), Some(at)) = (found.get(&from), found.get(&to)) else {
                world.violation(format!("of accounts {from} and {to} there are only {found:?}"));
                return Ok(());
            };
            maybe_think(world, &mut dice).await;
            transaction.upsert(accounts, &numbers(&[(from, of - amount)])).await?;
            maybe_think(world, &mut dice).await;
            if let Some(dice) = &mut dice {
                undo(&mut transaction, dice, accounts, &[(from, 0), (to, 0)]).await?;
            }
            transaction.insert(transfers, &numbers(&[(row, amount)])).await?;
            transaction.upsert(accounts, &numbers(&[(to, at + amount)])).await?;
            maybe_think(world, &mut dice).await;
            committing.commits();
            transaction.commit().await.map(drop)
        };
        let answer = world.on(server, work).await;
        let outcome = stage.outcome(&answer);
        world.event(name_of(outcome), || format!("transfer {row} of {amount} from {from} to {to}"));
        if let Some(transfer) = self.history.lock().get_mut(&row) {
            transfer.outcome = outcome;
        }
    }

    /// Writes all accounts through a server, which does not change them: after all has healed it succeeds.
    pub(super) async fn rewrite(&self, server: &Running) -> Result<(), Error> {
        let mut transaction = server.store().begin_distributed().await?;
        let keys: Vec<i64> = (0..ACCOUNTS).collect();
        let balances = read_numbers(&transaction.reading(), self.accounts, &keys).await?;
        let rows: Vec<(i64, i64)> = balances.into_iter().collect();
        transaction.upsert(self.accounts, &numbers(&rows)).await?;
        transaction.commit().await.map(drop)
    }

    /// The table of the accounts.
    pub(crate) fn accounts(&self) -> TableId {
        self.accounts
    }

    /// Reads all accounts, some of them much later than it takes its snapshot: their sum is kept.
    pub(super) async fn audit(&self, world: &World, server: &Running, dice: &mut Dice) {
        let before: Vec<i64> = {
            let history = self.history.lock();
            let done = history.iter().rev().filter(|(_, t)| t.outcome == Outcome::Done);
            done.map(|(row, _)| *row).take(20).collect()
        };
        let (store, accounts, transfers) =
            (Arc::clone(server.store()), self.accounts, self.transfers);
        let (there, mut dice) = (world.clone(), dice.fork());
        let read = async move {
            let reading = store.reading().await?;
            think(&there, &mut dice).await;
            read(&reading, accounts, transfers, &before).await
        };
        let Some(Ok((balances, missing))) = world.on(server, read).await else { return };
        world.event("audit", || format!("at server {}", server.site));
        self.check_sum(world, &balances);
        if !missing.is_empty() {
            world.violation(format!("a snapshot lacks acknowledged transfers {missing:?}"));
        }
    }

    fn check_sum(&self, world: &World, balances: &BTreeMap<i64, i64>) {
        let (count, sum) = (balances.len() as i64, balances.values().sum::<i64>());
        if (count, sum) != (ACCOUNTS, ACCOUNTS * BALANCE) {
            world.violation(format!("{count} accounts have {sum} together"));
        }
    }

    /// Compares the rows with what clients were told.
    pub(super) async fn check(&self, world: &World, server: &Running) -> Result<(), Error> {
        let history = self.history.lock().clone();
        let rows: Vec<i64> = history.keys().copied().collect();
        let reading = server.store().reading().await?;
        let there = read_numbers(&reading, self.transfers, &rows).await?;
        let keys: Vec<i64> = (0..ACCOUNTS).collect();
        let balances = rows::read_numbers(&reading, self.accounts, &keys).await?;
        self.check_sum(world, &balances);
        let mut expected: BTreeMap<i64, i64> = keys.iter().map(|key| (*key, BALANCE)).collect();
        for (row, Transfer { from, to, amount, outcome }) in &history {
            match (there.contains_key(row), outcome) {
                (false, Outcome::Done) => {
                    world.violation(format!("the acknowledged transfer {row} is lost"));
                }
                (true, Outcome::Failed) => {
                    world.violation(format!("the failed transfer {row} has happened"));
                }
                _ => {}
            }
            if there.contains_key(row) {
                *expected.entry(*from).or_default() -= amount;
                *expected.entry(*to).or_default() += amount;
            }
        }
        if balances != expected {
            let other = expected.iter().filter(|(key, value)| balances.get(key) != Some(value));
            let other: Vec<_> = other.map(|(key, value)| (key, value, balances.get(key))).collect();
            world.violation(format!("balances are not what the transfers say: {other:?}"));
        }
        Ok(())
    }
}

/// The name of an event with this outcome.
pub(super) fn name_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "acknowledged",
        Outcome::Failed => "failed",
        Outcome::Unknown => "unknown",
    }
}

async fn maybe_think(world: &World, dice: &mut Option<&mut Dice>) {
    if let Some(dice) = dice {
        think(world, dice).await;
    }
}

/// All balances, and those of some transfers that are not there.
async fn read(
    reading: &Reading,
    accounts: TableId,
    transfers: TableId,
    rows: &[i64],
) -> Result<(BTreeMap<i64, i64>, Vec<i64>), Error> {
    let keys: Vec<i64> = (0..ACCOUNTS).collect();
    let balances = read_numbers(reading, accounts, &keys).await?;
    let there = read_numbers(reading, transfers, rows).await?;
    let missing = rows.iter().filter(|row| !there.contains_key(row)).copied().collect();
    Ok((balances, missing))
}
