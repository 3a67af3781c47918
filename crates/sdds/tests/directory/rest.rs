//! Invariants of a file at rest.

use crate::key;
use crate::network::{Network, Operation};
use sdds::directory::{Standing, Territory};
use sdds::{Bound, Key, KeyRange};

/// Panics unless rows and pages each have exactly one owner and no group remembers former keys;
/// every key is at most two forwards from every server; and no client repeats an error.
pub(crate) fn assert_at_rest(network: &mut Network) {
    let servers: Vec<_> = (0..network.servers()).map(|at| network.server(at)).collect();
    assert_tiled(&servers.iter().map(|server| server.rows()).collect::<Vec<_>>());
    assert_tiled(&servers.iter().map(|server| server.pages()).collect::<Vec<_>>());
    for first in 0..network.servers() {
        let client = network.client(first);
        // The first key is below all keys that tests use.
        for key in [Key::default()].into_iter().chain((0..=255).rev().map(key)) {
            let point = KeyRange::point(&key);
            let once = network.ask(client, point.clone(), Operation::Read);
            assert!(once.forwards <= 2, "{key} is {} forwards from {first}", once.forwards);
            let again = network.ask(client, point, Operation::Read);
            assert_eq!(again.forwards, 0, "the same error about {key} twice");
        }
        let everything = network.ask(client, KeyRange::all(), Operation::Read);
        assert_eq!((everything.answer, everything.forwards), (network.model().clone(), 0));
        assert_eq!(network.client_at(client).counters().broadcasts, 0);
    }
}

fn assert_tiled<C: Clone>(territories: &[&Territory<C>]) {
    let mut owned = Vec::new();
    let all = KeyRange::all();
    for (tile, standing) in territories.iter().flat_map(|territory| territory.cover(&all)) {
        match standing {
            Standing::Owned { .. } => owned.push(tile),
            Standing::Elsewhere => {}
            Standing::Leaving { .. } | Standing::Given { .. } => panic!("{tile} is on its way"),
        }
    }
    owned.sort_by(|a, b| a.low.cmp(&b.low));
    let mut place = Bound::NegInf;
    for range in owned {
        assert_eq!(range.low, place, "keys that two own, or nobody");
        place = range.high;
    }
    assert_eq!(place, Bound::PosInf);
}
