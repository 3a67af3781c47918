//! Random interleavings of writes, lookups, range queries, splits, moves and deliveries.

use crate::network::{Network, Operation};
use crate::rest::assert_at_rest;
use crate::{key, range};
use proptest::prelude::*;
use sdds::directory::{Level, Settings, Termination};
use sdds::{Bound, KeyRange};

/// An action. Numbers select among the existing objects.
#[derive(Debug, Clone)]
enum Event {
    Write {
        client: usize,
        key: u8,
        operation: Operation,
    },
    Read {
        client: usize,
        low: u8,
        high: u8,
    },
    Lookup {
        client: usize,
        key: u8,
    },
    /// A server splits what it owns around a key and transfers the upper part, or all of it.
    Move {
        key: u8,
        to: usize,
        whole: bool,
    },
    /// A directory page is transferred to another server.
    MovePage {
        key: u8,
        to: usize,
    },
    Deliver {
        which: usize,
    },
    DeliverMany {
        seed: usize,
    },
    Heartbeat,
    Join,
    NewClient {
        first: usize,
    },
}

fn event() -> impl Strategy<Value = Event> {
    let client = 0..8usize;
    let write = prop_oneof![(0..1000u32).prop_map(Operation::Put), Just(Operation::Delete)];
    prop_oneof![
        6 => (client.clone(), any::<u8>(), write)
            .prop_map(|(client, key, operation)| Event::Write { client, key, operation }),
        2 => (client.clone(), any::<u8>(), any::<u8>())
            .prop_map(|(client, low, high)| Event::Read { client, low, high }),
        4 => (client, any::<u8>()).prop_map(|(client, key)| Event::Lookup { client, key }),
        5 => (any::<u8>(), 0..12usize, proptest::bool::weighted(0.2))
            .prop_map(|(key, to, whole)| Event::Move { key, to, whole }),
        1 => (any::<u8>(), 0..12usize).prop_map(|(key, to)| Event::MovePage { key, to }),
        12 => (0..1000usize).prop_map(|which| Event::Deliver { which }),
        3 => any::<u16>().prop_map(|seed| Event::DeliverMany { seed: seed.into() }),
        1 => Just(Event::Heartbeat),
        1 => Just(Event::Join),
        1 => (0..12usize).prop_map(|first| Event::NewClient { first }),
    ]
}

struct World {
    network: Network,
    clients: usize,
}

impl World {
    fn new(settings: Settings) -> Self {
        let mut network = Network::new(settings);
        network.join();
        network.join();
        network.client(0);
        Self { network, clients: 1 }
    }

    fn happen(&mut self, event: &Event) {
        let begin = |network: &mut Network, client: usize, range, operation| {
            network.begin(client, range, operation, Termination::Deterministic);
        };
        let Self { network, clients } = self;
        match event.clone() {
            Event::Write { client, key: at, operation } => {
                begin(network, client % *clients, KeyRange::point(&key(at)), operation);
            }
            Event::Lookup { client, key: at } => {
                begin(network, client % *clients, KeyRange::point(&key(at)), Operation::Read);
            }
            Event::Read { client, low, high } => {
                let range = range(low.min(high), if low == high { 0 } else { low.max(high) });
                begin(network, client % *clients, range, Operation::Read);
            }
            Event::Move { key: at, to, whole } => move_rows(network, at, to, whole),
            Event::MovePage { key: at, to } => move_page(network, at, to),
            Event::Deliver { which } => {
                network.deliver(which);
            }
            Event::DeliverMany { seed } => {
                for step in 0..40 {
                    network.deliver(seed.wrapping_mul(step + 7));
                }
            }
            Event::Heartbeat => network.heartbeat(0),
            Event::Join => {
                if network.servers() < 12 {
                    network.join();
                }
            }
            Event::NewClient { first } => {
                if *clients < 8 {
                    network.client(first % network.servers());
                    *clients += 1;
                }
            }
        }
    }
}

fn move_rows(network: &mut Network, at: u8, to: usize, whole: bool) {
    let Some(owner) = network.owner(&key(at)) else { return };
    let point = KeyRange::point(&key(at));
    let Some((tile, _)) = network.server(owner).rows().owner_of(&point) else { return };
    let upper = KeyRange { low: Bound::At(key(at)), high: tile.high.clone() };
    let to = to % network.servers();
    network.release(owner, Level::Rows, if whole { &tile } else { &upper }, to);
}

fn move_page(network: &mut Network, at: u8, to: usize) {
    let point = KeyRange::point(&key(at));
    for server in 0..network.servers() {
        if let Some((page, _)) = network.server(server).pages().owner_of(&point) {
            network.release(server, Level::Pages, &page, to % network.servers());
            return;
        }
    }
}

proptest! {
    #[test]
    fn no_answer_is_wrong_or_incomplete(
        events in proptest::collection::vec(event(), 1..400),
        page_entries in 1..9usize,
        forwards_max in prop_oneof![Just(2u32), Just(3), Just(16)],
    ) {
        let mut world = World::new(Settings { page_entries, forwards_max });
        events.iter().for_each(|event| world.happen(event));
        let network = &mut world.network;
        network.rest();
        for ((client, id), outcome) in std::mem::take(&mut network.over) {
            prop_assert!(outcome.missing.is_empty(), "client {} {:?} {:?}", client, id, outcome);
        }
        assert_at_rest(network);
    }
}
