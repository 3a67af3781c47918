//! Unreachable servers: requests that need them fail and name the keys, all others succeed.

use crate::network::{Network, Operation};
use crate::{TINY, key, range};
use sdds::KeyRange;
use sdds::directory::{Level, Settings, Termination};

/// Keys from 0x40 are at server 1, from 0x80 at 2, from 0xc0 at 3; server 0 keeps the directory and
/// is the root group.
fn four_servers() -> Network {
    let mut network = Network::new(TINY);
    let client = network.client(0);
    for (server, from) in [(1, 0x40), (2, 0x80), (3, 0xc0)] {
        assert_eq!(network.join(), server);
        let upper = range(from, 0);
        assert!(network.release(server - 1, Level::Rows, &upper, server));
        network.rest();
    }
    for number in 0..=255 {
        network.ask(client, KeyRange::point(&key(number)), Operation::Put(number.into()));
    }
    network
}

#[test]
fn without_the_directory_every_group_is_asked() {
    let mut network = four_servers();
    network.stop(0);
    let client = network.client(1);
    let outcome = network.read(client, 0xd0);
    assert_eq!(outcome.answer.get(&key(0xd0)), Some(&0xd0));
    assert_eq!(network.client_at(client).counters().broadcasts, 1);
    // The result of the lookup was learned.
    assert_eq!(network.read(client, 0xd1).forwards, 0);
    assert_eq!(network.client_at(client).counters().broadcasts, 1);
}

#[test]
fn a_group_that_most_have_not_heard_of_is_asked_too() {
    let mut network = Network::new(Settings { forwards_max: 0, ..TINY });
    assert_eq!((network.join(), network.join()), (1, 2));
    network.heartbeat(0);
    network.drain();
    assert_eq!(network.join(), 3);
    // The new server has keys and the page that lists them. The root group knows it, but no
    // heartbeat has informed the others.
    assert!(network.release(0, Level::Rows, &range(0x80, 0), 3));
    network.drain();
    assert!(network.release(0, Level::Pages, &KeyRange::all(), 3));
    network.drain();
    assert_eq!(network.server(1).root().groups().count(), 3);
    let client = network.client(1);
    let written = network.ask(client, KeyRange::point(&key(0x90)), Operation::Put(7));
    assert_eq!((written.missing, written.forwards), (Vec::new(), 0));
    assert_eq!(network.read(client, 0x90).answer.get(&key(0x90)), Some(&7));
    assert_eq!(network.client_at(client).counters().broadcasts, 1);
}

#[test]
fn the_keys_of_a_lost_server_are_named() {
    let mut network = four_servers();
    network.stop(2);
    let client = network.client(1);
    let outcome = network.ask(client, KeyRange::all(), Operation::Read);
    assert_eq!(outcome.missing, [range(0x80, 0xc0)]);
    assert_eq!(outcome.answer.len(), 3 * 64);
    assert_eq!(network.read(client, 0x3f).answer.len(), 1);
}

#[test]
fn a_client_that_cannot_reach_anybody_is_told() {
    let mut network = four_servers();
    network.stop(1);
    let client = network.client(1);
    assert_eq!(network.read(client, 5).missing, [KeyRange::point(&key(5))]);
}

#[test]
fn keys_that_were_to_go_to_a_lost_server_stay() {
    let mut network = four_servers();
    let client = network.client(3);
    network.stop(2);
    assert!(network.release(1, Level::Rows, &range(0x50, 0x60), 2));
    network.rest();
    assert_eq!(network.owner(&key(0x55)), Some(1));
    let outcome = network.read(client, 0x55);
    assert_eq!(outcome.answer.get(&key(0x55)), Some(&0x55));
}

#[test]
fn probabilistic_termination_can_miss_rows_and_deterministic_cannot() {
    let mut network = four_servers();
    let client = network.client(0);
    let id = network.begin(client, KeyRange::all(), Operation::Read, Termination::Probabilistic);
    // The request, one of its parts, and the answer to that part.
    for _ in 0..3 {
        network.deliver(0);
    }
    network.silence(client, id);
    let outcome = network.over.remove(&(client, id)).expect("over");
    assert!(!outcome.missing.is_empty() && outcome.answer.len() < 256);
    network.drain();

    let id = network.begin(client, KeyRange::all(), Operation::Read, Termination::Deterministic);
    network.silence(client, id);
    assert!(network.over.is_empty(), "silence ends nothing");
    network.drain();
    assert_eq!(network.over[&(client, id)].answer.len(), 256);
}
