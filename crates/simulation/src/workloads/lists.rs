//! Appends to lists, two at a time, and reads of all lists. No element is lost or doubled, both lists have it or none,
//! snapshots follow each other, and what was acknowledged is in every later snapshot.

use super::bank::name_of;
use super::{Outcome, Stage, create, think};
use crate::dice::Dice;
use crate::rows::{read_texts, texts};
use crate::world::{Running, World};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{SqlType, TableId};
use store::{Error, Reading};

pub(super) const LISTS: i64 = 6;

/// The elements of each list.
type Contents = BTreeMap<i64, Vec<u64>>;

#[derive(Debug, Clone, Copy)]
struct Append {
    lists: [i64; 2],
    outcome: Outcome,
}

#[derive(Debug, Default)]
struct History {
    appends: BTreeMap<u64, Append>,
    observations: Vec<Contents>,
}

/// The workload.
pub(super) struct Lists {
    table: TableId,
    history: Mutex<History>,
}

impl Lists {
    pub(super) async fn set_up(world: &World) -> Self {
        let rows: Vec<(i64, String)> = (0..LISTS).map(|key| (key, String::new())).collect();
        let table = create(world, 1, "lists", SqlType::Text, texts(&rows)).await;
        Self { table, history: Mutex::default() }
    }

    /// Appends an element to two lists.
    pub(super) async fn append(&self, world: &World, server: &Running, dice: &mut Dice) {
        let one = dice.below(LISTS as u64) as i64;
        let lists = [one, (one + 1 + dice.below(LISTS as u64 - 1) as i64) % LISTS];
        let element = {
            let mut history = self.history.lock();
            let element = history.appends.len() as u64;
            history.appends.insert(element, Append { lists, outcome: Outcome::Unknown });
            element
        };
        let (there, mut dice, stage) = (world.clone(), dice.fork(), Stage::default());
        let (store, committing, table) = (Arc::clone(server.store()), stage.clone(), self.table);
        let work = async move {
            let mut transaction = store.begin_distributed().await?;
            let mut found = read_texts(&transaction.reading(), table, &lists).await?;
            for list in lists {
                let Some(text) = found.get_mut(&list) else {
                    there.violation(format!("list {list} is not there"));
                    return Ok(());
                };
                *text += &format!("{element} ");
                think(&there, &mut dice).await;
                transaction.upsert(table, &texts(&[(list, text.clone())])).await?;
            }
            committing.commits();
            transaction.commit().await.map(drop)
        };
        let answer = world.on(server, work).await;
        let outcome = stage.outcome(&answer);
        world.event(name_of(outcome), || format!("append of {element} to {lists:?}"));
        if let Some(append) = self.history.lock().appends.get_mut(&element) {
            append.outcome = outcome;
        }
    }

    /// Reads all lists.
    pub(super) async fn observe(&self, world: &World, server: &Running, dice: &mut Dice) {
        let acknowledged = self.acknowledged();
        let (store, table) = (Arc::clone(server.store()), self.table);
        let (there, mut dice) = (world.clone(), dice.fork());
        let read = async move {
            let reading = store.reading().await?;
            think(&there, &mut dice).await;
            read(&reading, table).await
        };
        let Some(Ok(contents)) = world.on(server, read).await else { return };
        world.event("observation", || format!("at server {}", server.site));
        for (element, append) in acknowledged {
            let lacks = |list: &i64| contents.get(list).is_none_or(|all| !all.contains(&element));
            if append.lists.iter().any(lacks) {
                world.violation(format!("a snapshot lacks the acknowledged element {element}"));
            }
        }
        self.history.lock().observations.push(contents);
    }

    fn acknowledged(&self) -> Vec<(u64, Append)> {
        let history = self.history.lock();
        let done = history.appends.iter().filter(|(_, append)| append.outcome == Outcome::Done);
        done.map(|(element, append)| (*element, *append)).collect()
    }

    pub(super) async fn check(&self, world: &World, server: &Running) -> Result<(), Error> {
        let last = read(&server.store().reading().await?, self.table).await?;
        let history = self.history.lock();
        for (list, elements) in &last {
            let mut sorted = elements.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != elements.len() {
                world.violation(format!("list {list} has an element twice: {elements:?}"));
            }
        }
        for (element, Append { lists, outcome }) in &history.appends {
            let has = lists.map(|list| last.get(&list).is_some_and(|all| all.contains(element)));
            let is_wrong = match outcome {
                Outcome::Done => has != [true, true],
                Outcome::Failed => has != [false, false],
                Outcome::Unknown => has[0] != has[1],
            };
            if is_wrong {
                let lists = format!("{lists:?}, which have it: {has:?}");
                world.violation(format!("element {element}, {outcome:?}, of the lists {lists}"));
            }
        }
        check_order(world, &history.observations, &last);
        Ok(())
    }
}

/// Checks that each snapshot has a beginning of each list, and that of two snapshots one has all of the other.
fn check_order(world: &World, observations: &[Contents], last: &Contents) {
    for (list, elements) in observations.iter().flatten() {
        if !last.get(list).is_some_and(|all| all.starts_with(elements)) {
            let all = last.get(list);
            world.violation(format!("a snapshot has {elements:?} in list {list}, now {all:?}"));
            return;
        }
    }
    let lengths = |contents: &Contents| contents.values().map(Vec::len).collect::<Vec<_>>();
    let mut all: Vec<Vec<usize>> = observations.iter().map(lengths).collect();
    all.sort_by_key(|lengths| lengths.iter().sum::<usize>());
    for pair in all.windows(2) {
        if pair[0].iter().zip(&pair[1]).any(|(before, after)| before > after) {
            world.violation(format!("snapshots do not follow each other: lengths {pair:?}"));
            return;
        }
    }
}

async fn read(reading: &Reading, table: TableId) -> Result<Contents, Error> {
    let keys: Vec<i64> = (0..LISTS).collect();
    let rows = read_texts(reading, table, &keys).await?;
    let elements = |text: &str| text.split_whitespace().filter_map(|e| e.parse().ok()).collect();
    Ok(rows.into_iter().map(|(list, text)| (list, elements(&text))).collect())
}
