//! What clients do: writes of rows by their keys, transactions, loads and definitions.

use super::history::State;
use bytes::Bytes;
use futures::SinkExt;
use std::pin::pin;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

/// A sequence of choices.
#[derive(Debug)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// A number below a limit (SplitMix64).
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// The kind of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Rows by their keys, one or two in a transaction.
    Write,
    /// Transactions that keep the sum of two accounts.
    Move,
    /// COPY of many rows at once, and their deletion.
    Load,
    /// CREATE TABLE and DROP TABLE.
    Define,
}

/// A change and how it is made.
pub(super) struct Step {
    pub(super) rows: Vec<(String, Option<String>)>,
    sql: String,
    /// The rows of COPY.
    copied: Option<String>,
}

/// The rows of a load.
const BATCH: usize = 300;

/// The most loads and tables of a client.
const KEPT_MAX: usize = 4;

impl Work {
    /// The next change of a client whose rows are in a state.
    pub(super) fn next(self, client: usize, state: &State, dice: &mut Dice) -> Step {
        match self {
            Self::Write => write(client, state, dice),
            Self::Move => transfer(client, state, dice),
            Self::Load => load(state),
            Self::Define => define(state),
        }
    }

    /// The rows of a client.
    pub(super) async fn read(self, client: usize, connection: &Client) -> State {
        let sql = match self {
            Self::Write => format!("SELECT key, value FROM kept WHERE client = {client}"),
            Self::Move => format!("SELECT client, times FROM moved WHERE client = {client}"),
            Self::Load => "SELECT batch, count(*) FROM loaded GROUP BY batch".to_owned(),
            Self::Define => return tables(connection).await,
        };
        let texts = texts(connection, &sql).await;
        texts.chunks(2).map(|row| (row[0].clone(), row[1].clone())).collect()
    }
}

impl Step {
    /// Makes the change.
    pub(super) async fn run(&mut self, connection: &Client) -> Result<(), Error> {
        let Some(rows) = self.copied.take() else {
            return connection.batch_execute(&self.sql).await;
        };
        let sink = connection.copy_in(&self.sql).await?;
        let mut sink = pin!(sink);
        sink.send(Bytes::from(rows)).await?;
        sink.finish().await.map(|_| ())
    }
}

fn write(client: usize, state: &State, dice: &mut Dice) -> Step {
    let count = 1 + dice.below(2);
    let first = dice.below(200);
    let value = dice.below(1 << 40).to_string();
    let mut rows = Vec::new();
    let mut sql = String::from("BEGIN;");
    for key in first..first + count {
        if state.contains_key(&key.to_string()) && dice.below(4) == 0 {
            sql += &format!("DELETE FROM kept WHERE client = {client} AND key = {key};");
            rows.push((key.to_string(), None));
        } else {
            sql += &format!(
                "INSERT INTO kept VALUES ({client}, {key}, {value}, repeat('f', {})) \
                 ON CONFLICT (client, key) DO UPDATE SET value = excluded.value;",
                dice.below(200)
            );
            rows.push((key.to_string(), Some(value.clone())));
        }
    }
    sql += "COMMIT";
    if count == 1 {
        sql = sql.replace("BEGIN;", "").replace(";COMMIT", "");
    }
    Step { rows, sql, copied: None }
}

fn transfer(client: usize, state: &State, dice: &mut Dice) -> Step {
    let client = client.to_string();
    let times = state.get(&client).map_or(0, |times| times.parse().expect("a number")) + 1;
    let (from, to) = (1 + dice.below(25), 26 + dice.below(25));
    let amount = dice.below(10);
    let sql = format!(
        "BEGIN; UPDATE account SET value = value - {amount} WHERE id = {from}; \
         UPDATE account SET value = value + {amount} WHERE id = {to}; \
         INSERT INTO moved VALUES ({client}, {times}) ON CONFLICT (client) DO UPDATE SET times = excluded.times; COMMIT"
    );
    Step { rows: vec![(client, Some(times.to_string()))], sql, copied: None }
}

/// The oldest and the next number among names that are numbers.
fn numbers(state: &State) -> (u64, u64) {
    let numbers = state.keys().map(|name| name.parse::<u64>().expect("a number"));
    let numbers: Vec<u64> = numbers.collect();
    let next = numbers.iter().max().map_or(0, |newest| newest + 1);
    (numbers.into_iter().min().unwrap_or(0), next)
}

fn load(state: &State) -> Step {
    let (oldest, next) = numbers(state);
    if state.len() > KEPT_MAX {
        let sql = format!("DELETE FROM loaded WHERE batch = {oldest}");
        return Step { rows: vec![(oldest.to_string(), None)], sql, copied: None };
    }
    let copied = (0..BATCH).map(|place| format!("{next}\t{place}\tfiller of {place}\n")).collect();
    let rows = vec![(next.to_string(), Some(BATCH.to_string()))];
    Step { rows, sql: "COPY loaded FROM STDIN".to_owned(), copied: Some(copied) }
}

fn define(state: &State) -> Step {
    let (oldest, next) = numbers(state);
    let (rows, sql) = if state.len() > KEPT_MAX {
        (vec![(oldest.to_string(), None)], format!("DROP TABLE made_{oldest}"))
    } else {
        let rows = vec![(next.to_string(), Some("1".to_owned()))];
        (rows, format!("CREATE TABLE made_{next} AS SELECT {next} AS a"))
    };
    Step { rows, sql, copied: None }
}

/// The tables that a client made, with the numbers of their rows.
async fn tables(connection: &Client) -> State {
    let names = "SELECT relname FROM pg_class WHERE relname LIKE 'made\\_%' AND relkind = 'r'";
    let mut state = State::new();
    for name in texts(connection, names).await {
        let count = texts(connection, &format!("SELECT count(*) FROM {name}")).await;
        state.insert(name.trim_start_matches("made_").to_owned(), count.concat());
    }
    state
}

/// The values of all rows of an answer.
pub(super) async fn texts(connection: &Client, sql: &str) -> Vec<String> {
    let messages = connection.simple_query(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    rows.flat_map(|row| {
        (0..row.len()).map(|at| row.get(at).unwrap_or("NULL").to_owned()).collect::<Vec<_>>()
    })
    .collect()
}
