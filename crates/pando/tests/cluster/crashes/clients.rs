//! Clients of a cluster: transfers between accounts, and appends to two tables at once.

use super::ledger::{Ledger, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_postgres::{Client as Connection, Error, SimpleQueryMessage};

pub(super) const ACCOUNTS: i64 = 200;

const BALANCE: i64 = 100;

pub(super) const TABLES: &str = "
    CREATE TABLE account (id int PRIMARY KEY, value bigint, filler text) WITH (bucket_size = '4KiB');
    CREATE TABLE moved (client int, number int, source int, target int, amount int, PRIMARY KEY (client, number))
        WITH (bucket_size = '4KiB');
    CREATE TABLE one (client int, number int, filler text, PRIMARY KEY (client, number)) WITH (bucket_size = '4KiB');
    CREATE TABLE other (number int, client int, filler text, PRIMARY KEY (number, client)) WITH (bucket_size = '4KiB');
    INSERT INTO account SELECT i, 100, repeat('f', 200) FROM generate_series(0, 199) i";

/// A client, which is of one of two kinds.
#[derive(Debug)]
pub(super) struct Client {
    number: usize,
    transfers: bool,
    dice: u64,
    ledger: Ledger,
}

impl Client {
    pub(super) fn new(number: usize, seed: u64) -> Self {
        let dice = seed.wrapping_mul(1_000) + number as u64;
        Self { number, transfers: number.is_multiple_of(2), dice, ledger: Ledger::default() }
    }

    /// A number below a limit (SplitMix64).
    fn below(&mut self, limit: i64) -> i64 {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.dice;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as i64
    }

    /// Works until it is told to stop, or the server is gone.
    pub(super) async fn work(mut self, connection: Connection, stop: Arc<AtomicBool>) -> Self {
        while !stop.load(Ordering::Relaxed) {
            let number = self.ledger.begin();
            let sql = self.change(number);
            let answer = connection.batch_execute(&sql).await;
            let outcome = self.outcome(&answer);
            self.ledger.note(number, outcome);
            if answer.is_err() && connection.batch_execute("ROLLBACK").await.is_err() {
                break;
            }
        }
        self
    }

    fn change(&mut self, number: i64) -> String {
        let client = self.number;
        if !self.transfers {
            let filler = self.below(300);
            return format!(
                "BEGIN; INSERT INTO one VALUES ({client}, {number}, repeat('f', {filler})); \
                 INSERT INTO other VALUES ({number}, {client}, 'f'); COMMIT"
            );
        }
        let from = self.below(ACCOUNTS);
        let to = (from + 1 + self.below(ACCOUNTS - 1)) % ACCOUNTS;
        let amount = self.below(10);
        format!(
            "BEGIN; UPDATE account SET value = value - {amount} WHERE id = {from}; \
             UPDATE account SET value = value + {amount} WHERE id = {to}; \
             INSERT INTO moved VALUES ({client}, {number}, {from}, {to}, {amount}); COMMIT"
        )
    }

    fn outcome(&self, answer: &Result<(), Error>) -> Outcome {
        let Err(error) = answer else { return Outcome::Done };
        match error.code().map(|code| code.code()) {
            None | Some("08007" | "58030") => Outcome::Unknown,
            // A conflict, or a server that was not reached in time.
            Some("40001" | "40P01" | "08006" | "72000" | "57P01") => Outcome::Failed,
            Some(_) => panic!("client {}: {error:?}", self.number),
        }
    }

    /// Compares with what is there, and returns how many changes were acknowledged in all.
    pub(super) fn audit(&mut self, found: &Found) -> Result<usize, String> {
        let nothing = BTreeSet::new();
        let rows =
            |table: &'static str| found.rows.get(&(table, self.number as i64)).unwrap_or(&nothing);
        let tables: &[&str] = if self.transfers { &["moved"] } else { &["one", "other"] };
        let (one, other) = match self.transfers {
            true => (rows("moved"), rows("moved")),
            false => (rows("one"), rows("other")),
        };
        if one != other {
            let torn: Vec<_> = one.symmetric_difference(other).collect();
            return Err(format!("client {}: {torn:?} are torn", self.number));
        }
        let audited = self.ledger.audit(one);
        audited.map_err(|wrong| format!("client {} in {tables:?}: {wrong}", self.number))?;
        Ok(self.ledger.done())
    }
}

/// What is there, in one snapshot.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The numbers of rows by table and client.
    rows: BTreeMap<(&'static str, i64), BTreeSet<i64>>,
    balances: BTreeMap<i64, i64>,
    /// What transfers say that the balances are.
    expected: BTreeMap<i64, i64>,
}

impl Found {
    /// Reads everything.
    pub(super) async fn read(connection: &Connection) -> Result<Self, Error> {
        let mut found = Self::default();
        connection.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
        for row in numbers(connection, "SELECT id, value FROM account").await? {
            found.balances.insert(row[0], row[1]);
            found.expected.insert(row[0], BALANCE);
        }
        let moved = "SELECT client, number, source, target, amount FROM moved";
        for row in numbers(connection, moved).await? {
            found.rows.entry(("moved", row[0])).or_default().insert(row[1]);
            *found.expected.entry(row[2]).or_default() -= row[4];
            *found.expected.entry(row[3]).or_default() += row[4];
        }
        for (table, sql) in [
            ("one", "SELECT client, number FROM one"),
            ("other", "SELECT client, number FROM other"),
        ] {
            for row in numbers(connection, sql).await? {
                found.rows.entry((table, row[0])).or_default().insert(row[1]);
            }
        }
        connection.batch_execute("COMMIT").await?;
        Ok(found)
    }

    /// Checks that the balances are what the transfers say.
    pub(super) fn check(&self) -> Result<(), String> {
        let sum: i64 = self.balances.values().sum();
        if sum != ACCOUNTS * BALANCE {
            return Err(format!("{} accounts have {sum} together", self.balances.len()));
        }
        if self.balances != self.expected {
            return Err(format!("{:?} instead of {:?}", self.balances, self.expected));
        }
        Ok(())
    }
}

/// The rows of a query, all of whose columns are numbers.
async fn numbers(connection: &Connection, sql: &str) -> Result<Vec<Vec<i64>>, Error> {
    let messages = connection.simple_query(sql).await?;
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(i64::MIN);
    Ok(rows.map(|row| (0..row.len()).map(|at| number(row.get(at))).collect()).collect())
}
