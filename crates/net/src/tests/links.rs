//! Links between servers of one process, in the states that tests of other crates use.

use super::place::{LONG, next, talker};
use super::talker::Event;
use crate::local::{Hub, Link};
use crate::{Address, Delivery, NetError, Network, ask};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(30);

#[tokio::test]
async fn a_link_that_is_cut_and_healed() {
    let (service, _events, _) = talker();
    let (hub, a, b) = (Hub::new(), Address::new("a"), Address::new("b"));
    hub.serve(b.clone(), service);
    let (network, other) = (hub.network(a.clone()), hub.network("c".into()));
    let mut answers = network.call(&b, "one-then-never".into(), LONG, Delivery::Pushed);
    assert_eq!(next(&mut answers).await, Ok("one".to_owned()));
    hub.link(&b, &a, Link::Cut);
    assert!(matches!(next(&mut answers).await, Err(NetError::Lost { .. })));
    let cut = ask(&network, &b, "echo x".into(), LONG).await;
    assert!(matches!(cut, Err(NetError::Unreachable { .. })));
    assert_eq!(ask(&other, &b, "echo x".into(), LONG).await, Ok("x".into()));
    hub.link(&a, &b, Link::Open);
    assert_eq!(ask(&network, &b, "echo x".into(), LONG).await, Ok("x".into()));
}

#[tokio::test]
async fn requests_and_answers_that_vanish() {
    let (service, mut events, _) = talker();
    let (hub, a, b) = (Hub::new(), Address::new("a"), Address::new("b"));
    hub.serve(b.clone(), service);
    let network = hub.network(a.clone());
    hub.link(&a, &b, Link::RequestsVanish);
    let vanished = ask(&network, &b, "echo x".into(), SHORT).await;
    assert!(matches!(vanished, Err(NetError::Lost { .. })));
    assert!(events.try_recv().is_err(), "it did not arrive");
    hub.link(&a, &b, Link::AnswersVanish);
    let vanished = ask(&network, &b, "count 1 0".into(), SHORT).await;
    assert!(matches!(vanished, Err(NetError::Lost { .. })));
    assert_eq!(events.recv().await, Some(Event::Began("count".to_owned())));
    assert_eq!(events.recv().await, Some(Event::Made(0)), "it was done");
}

#[tokio::test]
async fn a_slow_link() {
    let (service, mut events, _) = talker();
    let (hub, a, b) = (Hub::new(), Address::new("a"), Address::new("b"));
    hub.serve(b.clone(), service);
    let network = hub.network(a.clone());
    hub.link(&a, &b, Link::Slow(LONG));
    let late = ask(&network, &b, "echo x".into(), SHORT).await;
    assert!(matches!(late, Err(NetError::Lost { .. })));
    assert!(events.try_recv().is_err(), "it is still on the way");
    hub.link(&a, &b, Link::Slow(Duration::from_millis(1)));
    assert_eq!(ask(&network, &b, "echo x".into(), LONG).await, Ok("x".into()));
}
