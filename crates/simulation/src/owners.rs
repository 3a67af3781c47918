//! Every key has at most one owner at all times, and one when everything has healed.

use crate::world::{Running, World};
use sdds::{Bound, KeyRange};
use store::Store;
use store::catalog::TableId;

/// The ranges of a table that a server reads and writes.
fn served(store: &Store, table: TableId) -> Vec<KeyRange> {
    let buckets = store.bucket_infos(table).into_iter().filter(|bucket| !bucket.is_leaving);
    let mut ranges: Vec<KeyRange> = Vec::new();
    for bucket in buckets {
        match ranges.last_mut() {
            Some(last) if last.high == bucket.range.low => last.high = bucket.range.high,
            _ => ranges.push(bucket.range),
        }
    }
    ranges
}

/// The ranges of a table with their servers, in key order.
fn all(servers: &[Running], table: TableId) -> Vec<(KeyRange, usize)> {
    let of = |server: &Running| {
        let site = server.site;
        served(server.store(), table).into_iter().map(move |range| (range, site))
    };
    let mut all: Vec<(KeyRange, usize)> = servers.iter().flat_map(of).collect();
    all.sort_by(|one, other| one.0.low.cmp(&other.0.low));
    all
}

/// Reports keys with two owners.
pub(crate) fn check_one(world: &World) {
    let servers = world.running();
    for table in world.tables() {
        let all = all(&servers, table);
        if let Some(pair) = all.windows(2).find(|pair| pair[0].0.high > pair[1].0.low) {
            let [(one, by), (other, and)] = pair else { return };
            world.violation(format!("{by} owns {one} of table {}, and {and} {other}", table.0));
        }
    }
}

/// What is wrong with the owners when everything has healed.
pub(crate) fn gap(world: &World) -> Option<String> {
    let servers = world.running();
    for table in world.tables() {
        let mut next = Bound::NegInf;
        for (range, _) in all(&servers, table) {
            if range.low != next {
                return Some(format!("nobody owns {next} to {} of table {}", range.low, table.0));
            }
            next = range.high;
        }
        if next != Bound::PosInf {
            return Some(format!("nobody owns what follows {next} of table {}", table.0));
        }
    }
    None
}
