//! Moves of random ranges between servers. Splits and other moves follow from the growth of tables.

use crate::dice::Dice;
use crate::rows::key_of;
use crate::world::World;
use parking_lot::Mutex;
use sdds::{Bound, GroupId, KeyRange};
use std::sync::Arc;

/// Moves ranges until it is told to stop.
pub(super) fn start(world: &World, has_stopped: Arc<Mutex<bool>>) {
    let (world, mut dice) = (world.clone(), world.dice());
    world.clone().spawn(async move {
        while !*has_stopped.lock() {
            world.sleep_millis(dice.between(5, 400)).await;
            give(&world, &mut dice).await;
        }
    });
}

/// Moves a part of what a server owns to another one.
async fn give(world: &World, dice: &mut Dice) {
    let Some(server) = world.any(dice) else { return };
    let tables = world.tables();
    let place = dice.index(tables.len());
    let owned = server.store().owned(tables[place]);
    if owned.is_empty() {
        return;
    }
    let Some(range) = part(dice, &owned[dice.clone().index(owned.len())], place) else { return };
    let other = 1 + dice.index(world.servers() - 1);
    let to = GroupId(((server.site + other) % world.servers()) as u64);
    let (cluster, table) = (server.cluster.clone(), tables[place]);
    let text = format!("{range} of table {place} from {} to {to}", server.site);
    // A move whose outcome is not known takes until that is known.
    let moving = world.clone();
    world.spawn(async move {
        let given = async move { cluster.give(table, &range, to).await };
        match moving.on(&server, given).await {
            Some(Ok(())) => moving.event("move", || text),
            Some(Err(error)) => moving.event("move failed", || format!("{text}: {error}")),
            None => moving.event("move lost", || text),
        }
    });
}

/// A part of a range of a table.
fn part(dice: &mut Dice, owned: &KeyRange, place: usize) -> Option<KeyRange> {
    if dice.permille(300) {
        return Some(owned.clone());
    }
    let (first, keys) = match place {
        0 => (0, super::bank::ACCOUNTS),
        1 => (1_000_000, 100_000),
        2 => (0, super::registers::REGISTERS),
        3 => (0, super::lists::LISTS),
        _ => (0, super::loads::KEYS),
    };
    let mut key = || first + dice.below(keys as u64) as i64;
    let (one, other) = (key(), key());
    let bound = |key| Bound::At(key_of(key));
    KeyRange::new(bound(one.min(other)), bound(one.max(other) + 1))?.intersect(owned)
}
