//! The guarantees of a network, as one suite that runs over each implementation.

use super::place::{LONG, Pair, Place, next};
use super::talker::{Event, numbered};
use crate::{Delivery, MESSAGE_BYTES_MAX, NetError, WINDOW, ask};
use futures::future::join_all;
use futures::{StreamExt, poll};
use std::time::Duration;

/// A deadline that passes because nothing answers.
const SHORT: Duration = Duration::from_millis(30);

macro_rules! suite {
    ($module:ident $place:ident $($name:ident)*) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let pair = super::Pair::new(super::Place::$place).await;
                    let within = tokio::time::timeout(super::LONG, super::$name(pair));
                    within.await.expect("it hangs");
                }
            )*
        }
    };
}

macro_rules! everywhere {
    ($($name:ident)*) => {
        suite!(local Local $($name)*);
        suite!(plain Plain $($name)*);
        suite!(encrypted Encrypted $($name)*);
    };
}

everywhere! {
    one_answer
    no_answer_and_many
    many_answers_in_order
    a_slow_reader_stops_its_service_and_nobody_else
    pulled_answers_wait_for_their_reader
    dropping_the_answers_cancels_the_call
    the_deadline_of_the_first_answer
    the_deadline_of_the_next_answer
    a_service_that_fails
    a_server_that_dies
    nobody_is_there
    a_thousand_calls_at_once
    messages_have_a_longest_length
    nothing_is_sent_before_it_is_polled
}

async fn one_answer(pair: Pair) {
    assert_eq!(pair.ask("echo hello").await, Ok("hello".to_owned()));
    assert_eq!(pair.ask("echo ").await, Ok(String::new()));
    assert_eq!(pair.ask("who").await, Ok("a:1".to_owned()));
}

async fn no_answer_and_many(pair: Pair) {
    assert!(pair.call("nothing").next().await.is_none());
    assert!(matches!(pair.ask("nothing").await, Err(NetError::Failed { .. })));
    assert!(matches!(pair.ask("count 2 0").await, Err(NetError::Failed { .. })));
}

async fn many_answers_in_order(pair: Pair) {
    for (count, size) in [(1, 0), (WINDOW, 0), (5000, 0), (200, 5000), (40, 1 << 20)] {
        let mut answers = pair.call(&format!("count {count} {size}"));
        for number in 0..count {
            assert_eq!(next(&mut answers).await, Ok(numbered(number, size)));
        }
        assert!(answers.next().await.is_none());
    }
}

async fn a_slow_reader_stops_its_service_and_nobody_else(mut pair: Pair) {
    let mut slow = pair.call("count 1000 0");
    assert_eq!(next(&mut slow).await, Ok("0".to_owned()));
    pair.event(Event::Made(WINDOW - 1)).await;
    for number in 0..100 {
        assert_eq!(pair.ask(&format!("echo {number}")).await, Ok(number.to_string()));
    }
    let ahead = std::iter::from_fn(|| pair.events.try_recv().ok())
        .filter(|event| matches!(event, Event::Made(_)))
        .count();
    assert!(ahead <= 2, "{ahead} answers more than the window were made");
    for number in 1..1000 {
        assert_eq!(next(&mut slow).await, Ok(number.to_string()));
    }
    assert!(slow.next().await.is_none());
}

async fn pulled_answers_wait_for_their_reader(mut pair: Pair) {
    let mut pulled = pair.call_by("count 100 0", Delivery::Pulled);
    assert_eq!(next(&mut pulled).await, Ok("0".to_owned()));
    pair.event(Event::Made(0)).await;
    for number in 0..100 {
        assert_eq!(pair.ask(&format!("echo {number}")).await, Ok(number.to_string()));
    }
    let ahead = std::iter::from_fn(|| pair.events.try_recv().ok());
    let ahead = ahead.filter(|event| matches!(event, Event::Made(_))).count();
    assert!(ahead <= 1, "{ahead} answers were made that nobody has asked for");
    for number in 1..100 {
        assert_eq!(next(&mut pulled).await, Ok(number.to_string()));
    }
    assert!(pulled.next().await.is_none());
    let mut one = pair.call_by("echo one", Delivery::Pulled);
    assert_eq!(next(&mut one).await, Ok("one".to_owned()));
    assert!(one.next().await.is_none());
}

async fn dropping_the_answers_cancels_the_call(mut pair: Pair) {
    let mut answers = pair.call("one-then-never");
    assert_eq!(next(&mut answers).await, Ok("one".to_owned()));
    drop(answers);
    pair.event(Event::Dropped).await;
    let mut answers = pair.call("never");
    let before = tokio::time::timeout(LONG, answers.next());
    tokio::select! {
        _ = before => panic!("it never answers"),
        () = pair.event(Event::Began("never".to_owned())) => (),
    }
    drop(answers);
    pair.event(Event::Dropped).await;
}

async fn the_deadline_of_the_first_answer(mut pair: Pair) {
    assert_eq!(pair.ask("echo connected").await, Ok("connected".to_owned()));
    assert!(matches!(pair.ask_within("never", SHORT).await, Err(NetError::Lost { .. })));
    pair.event(Event::Dropped).await;
}

async fn the_deadline_of_the_next_answer(mut pair: Pair) {
    assert_eq!(pair.ask("echo connected").await, Ok("connected".to_owned()));
    let mut answers = pair.call_within("one-then-never", 10 * SHORT);
    assert_eq!(next(&mut answers).await, Ok("one".to_owned()));
    assert!(matches!(next(&mut answers).await, Err(NetError::Lost { .. })));
    assert!(answers.next().await.is_none());
    pair.event(Event::Dropped).await;
}

async fn a_service_that_fails(pair: Pair) {
    let reason = |error: NetError| match error {
        NetError::Failed { address, reason } if address == pair.to => reason,
        other => panic!("{other:?}"),
    };
    let error = pair.ask("panic").await.expect_err("it panics");
    assert_eq!(reason(error), "the service panicked: at once");
    let mut answers = pair.call("panic-late");
    assert_eq!(next(&mut answers).await, Ok("one".to_owned()));
    let error = next(&mut answers).await.expect_err("it panics");
    assert_eq!(reason(error), "the service panicked: late");
    assert!(answers.next().await.is_none());
    // The error of the service says unreachable, but the call was delivered.
    let error = pair.ask("fail").await.expect_err("it fails");
    assert!(!error.is_undelivered());
    assert_eq!(reason(error), "server c cannot be reached: gone");
    let error = pair.ask("too-long").await.expect_err("nobody may send that");
    assert!(reason(error).contains("is longer than"));
    assert_eq!(pair.ask("echo alive").await, Ok("alive".to_owned()));
}

async fn a_server_that_dies(mut pair: Pair) {
    let mut answers = pair.call("one-then-never");
    assert_eq!(next(&mut answers).await, Ok("one".to_owned()));
    pair.kill();
    assert!(matches!(next(&mut answers).await, Err(NetError::Lost { .. })));
    assert!(matches!(pair.ask("echo x").await, Err(NetError::Unreachable { .. })));
}

async fn nobody_is_there(mut pair: Pair) {
    pair.kill();
    let error = pair.ask("echo x").await.expect_err("nobody is there");
    assert!(matches!(&error, NetError::Unreachable { address, .. } if *address == pair.to));
    assert!(error.is_undelivered());
}

async fn a_thousand_calls_at_once(pair: Pair) {
    let calls = (0..1000).map(|number| {
        let pair = &pair;
        async move { pair.ask(&format!("echo {number}")).await }
    });
    let expected: Vec<_> = (0..1000).map(|number: i32| Ok(number.to_string())).collect();
    assert_eq!(join_all(calls).await, expected);
}

async fn messages_have_a_longest_length(pair: Pair) {
    let longest = format!("echo {}", "x".repeat(MESSAGE_BYTES_MAX - 5));
    assert_eq!(pair.ask(&longest).await.map(|answer| answer.len()), Ok(MESSAGE_BYTES_MAX - 5));
    let too_long = vec![0; MESSAGE_BYTES_MAX + 1].into();
    let refused = ask(&*pair.network, &pair.to, too_long, LONG).await;
    assert!(matches!(refused, Err(NetError::Refused { .. })));
}

async fn nothing_is_sent_before_it_is_polled(mut pair: Pair) {
    drop(pair.call("never"));
    let mut polled = pair.call("one-then-never");
    let _ = poll!(polled.next());
    assert_eq!(next(&mut polled).await, Ok("one".to_owned()));
    assert_eq!(pair.events.recv().await, Some(Event::Began("one-then-never".to_owned())));
}
