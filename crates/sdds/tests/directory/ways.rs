//! The routes of requests, case by case.

use crate::network::{Network, Operation};
use crate::rest::assert_at_rest;
use crate::{TINY, key, range};
use sdds::KeyRange;
use sdds::directory::{Level, Termination};

/// A file that grew at its upper end: each server received the upper part of the previous one.
fn chain(servers: usize) -> Network {
    let mut network = Network::new(TINY);
    for server in 1..servers {
        network.join();
        let upper = range((server * 256 / servers) as u8, 0);
        assert!(network.release(server - 1, Level::Rows, &upper, server));
        network.drain();
    }
    network
}

#[test]
fn a_file_that_grew_at_one_end_has_no_long_ways_at_rest() {
    let mut network = chain(32);
    network.rest();
    assert_at_rest(&mut network);
}

#[test]
fn one_error_teaches_a_whole_page() {
    let mut network = chain(4);
    network.rest();
    let client = network.client(3);
    // From server 3 to the keeper of the page, server 0, and from there to the owner.
    assert_eq!(network.read(client, 0x90).forwards, 2);
    for number in 0..=255 {
        assert_eq!(network.read(client, number).forwards, 0, "{number}");
    }
    assert_eq!(network.client_at(client).counters().adjustments, 1);
    assert_eq!(network.client_at(client).image().len(), 4);
}

#[test]
fn requests_wait_while_keys_are_on_their_way() {
    let mut network = chain(2);
    network.rest();
    let client = network.client(0);
    assert!(network.release(0, Level::Rows, &range(0x20, 0x80), 1));
    let point = KeyRange::point(&key(0x30));
    network.begin(client, point, Operation::Put(7), Termination::Deterministic);
    // The request overtakes the keys, and waits for them.
    assert!(network.deliver(1));
    network.drain();
    let outcome = network.over.pop_first().expect("answered").1;
    assert_eq!((outcome.missing.len(), outcome.forwards), (0, 1));
    assert_eq!(network.model().get(&key(0x30)), Some(&7));
}

#[test]
fn keys_that_come_back_are_served_at_once() {
    let mut network = chain(2);
    let part = range(0x20, 0x30);
    assert!(network.release(0, Level::Rows, &part, 1));
    // The new owner adopts them and gives them back before the previous one has received the
    // confirmation.
    assert!(network.deliver(0));
    assert!(network.release(1, Level::Rows, &part, 0));
    assert!(network.deliver(1));
    assert_eq!(network.owner(&key(0x25)), Some(0));
    network.rest();
    assert_at_rest(&mut network);
}

#[test]
fn a_server_that_keeps_nothing_and_owns_nothing_remembers_nothing() {
    let mut network = chain(8);
    network.rest();
    for number in 0..=255 {
        let point = KeyRange::point(&key(number));
        if let Some((tile, _)) = network.server(3).rows().owner_of(&point) {
            assert!(network.release(3, Level::Rows, &tile, 5));
        }
        if let Some((page, _)) = network.server(3).pages().owner_of(&point) {
            assert!(network.release(3, Level::Pages, &page, 5));
        }
    }
    network.rest();
    assert!(network.server(3).rows().is_empty() && network.server(3).pages().is_empty());
    assert_at_rest(&mut network);
}

#[test]
fn what_is_not_owned_cannot_be_given() {
    let mut network = chain(2);
    network.rest();
    assert!(!network.release(0, Level::Rows, &KeyRange::all(), 1), "half of it is another's");
    assert!(!network.release(1, Level::Pages, &KeyRange::all(), 0), "another's page");
    assert!(!network.release(0, Level::Pages, &range(0, 0x80), 1), "half a page");
    assert!(!network.release(0, Level::Rows, &range(0, 0x80), 0), "to itself");
}
