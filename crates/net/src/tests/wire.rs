//! Tests of TCP alone: peers that break the protocol, and connections that end and return.

use super::place::{LIMITS, LONG, Pair, Place, listening, next, talker};
use super::talker::Event;
use crate::tcp::frame::{Frame, Kind, decode};
use crate::tcp::hello::{self, Hello, Purpose};
use crate::{
    Address, Delivery, MESSAGE_BYTES_MAX, NetError, Network, Security, Tcp, TimeLimits, WINDOW,
    ask, listen,
};
use bytes::{Bytes, BytesMut};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server that accepts a connection, reads some frames, answers with `frames`, and is then
/// silent.
async fn strange_server(reads: usize, frames: Vec<Frame>) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let address = listener.local_addr().expect("it is bound").into();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a caller");
        hello::hear(&mut stream).await.expect("a hello");
        hello::welcome(&mut stream).await.expect("it listens");
        read_frames(&mut stream, reads).await;
        write_frames(&mut stream, frames).await;
        std::future::pending::<()>().await;
    });
    address
}

async fn read_frames(stream: &mut TcpStream, mut reads: usize) {
    let mut buffer = BytesMut::new();
    while reads > 0 {
        match decode(&mut buffer).expect("a frame") {
            Some(_) => reads -= 1,
            None => assert_ne!(stream.read_buf(&mut buffer).await.expect("it is open"), 0),
        }
    }
}

async fn write_frames(stream: &mut TcpStream, frames: Vec<Frame>) {
    for frame in frames {
        stream.write_all(&frame.header()).await.expect("it reads");
        stream.write_all(&frame.payload).await.expect("it reads");
    }
}

/// A caller that performs the handshake; the test writes the rest.
async fn strange_caller(to: &Address) -> TcpStream {
    let mut stream = TcpStream::connect(to.as_str()).await.expect("it listens");
    let hello = Hello { purpose: Purpose::Calls, address: "strange:1".into() };
    hello::greet(&mut stream, &hello, to).await.expect("it is welcome");
    stream
}

async fn is_closed(mut stream: TcpStream) {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

fn lost(answer: Result<Bytes, NetError>) -> String {
    match answer {
        Err(NetError::Lost { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

async fn asked(frames: Vec<Frame>) -> Result<Bytes, NetError> {
    let to = strange_server(1, frames).await;
    let limits = TimeLimits { keep_alive: Duration::from_millis(30), ..LIMITS };
    let network = Tcp::new("a:1".into(), Security::Plain, limits);
    ask(&network, &to, "echo x".into(), LONG).await
}

#[tokio::test]
async fn a_server_that_is_silent_is_evicted() {
    assert!(lost(asked(vec![]).await).contains("no data for 60ms"));
}

#[tokio::test]
async fn a_server_that_breaks_the_protocol_loses_its_connection() {
    let answer = |call| Frame::text(call, Kind::Answer, "x");
    let flood = (0..WINDOW + 3).map(|_| answer(1)).collect();
    let to = strange_server(2, flood).await;
    let network = Tcp::new("a:1".into(), Security::Plain, LIMITS);
    // The first answer is taken, the others exceed the window.
    let mut flooded = network.call(&to, "echo x".into(), LONG, Delivery::Pushed);
    let other = ask(&network, &to, "echo x".into(), LONG);
    let (first, other) = futures::join!(next(&mut flooded), other);
    assert_eq!(first, Ok("x".to_owned()));
    assert_eq!(lost(other), "the server sent more answers than requested");
    let request = lost(asked(vec![Frame::text(1, Kind::Request, "x")]).await);
    assert!(request.contains("a frame of a caller"), "{request}");
    // Answers to unknown calls are treated as those of cancelled calls.
    let stray = asked(vec![answer(77), Frame::text(1, Kind::LastAnswer, "right")]).await;
    assert_eq!(stray, Ok("right".into()));
}

#[tokio::test]
async fn a_caller_that_breaks_the_protocol_loses_its_connection() {
    let pair = Pair::new(Place::Plain).await;
    let request = |call| Frame::text(call, Kind::Request, "never");
    let credit = |count: u32| Frame {
        call: 1,
        kind: Kind::Credit,
        payload: Bytes::copy_from_slice(&count.to_le_bytes()),
    };
    let wrong = [
        vec![Frame::text(1, Kind::Answer, "x")],
        vec![request(1), request(1)],
        vec![request(1), credit(1)],
        vec![request(1), credit(u32::MAX)],
        vec![request(1), Frame::text(1, Kind::Credit, "x")],
    ];
    for frames in wrong {
        let mut stream = strange_caller(&pair.to).await;
        write_frames(&mut stream, frames).await;
        is_closed(stream).await;
    }
    let mut stream = strange_caller(&pair.to).await;
    stream.write_all(&[0xff; 100]).await.expect("it reads");
    is_closed(stream).await;
    let mut stream = TcpStream::connect(pair.to.as_str()).await.expect("it listens");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("it reads");
    is_closed(stream).await;
    assert_eq!(pair.ask("echo alive").await, Ok("alive".to_owned()));
}

/// The first request fills the buffers of a server that does not read, so that the second is never
/// sent.
#[tokio::test]
async fn what_was_never_written_was_not_delivered() {
    let to = strange_server(0, vec![]).await;
    let limits = TimeLimits { keep_alive: Duration::from_millis(100), ..LIMITS };
    let network = Tcp::new("a:1".into(), Security::Plain, limits);
    let request = || Bytes::from(vec![0; MESSAGE_BYTES_MAX]);
    let first = ask(&network, &to, request(), LONG);
    let second = ask(&network, &to, request(), LONG);
    let (first, second) = futures::join!(first, second);
    assert!(lost(first).contains("no data"));
    assert!(matches!(second, Err(NetError::Unreachable { .. })), "{second:?}");
}

#[tokio::test]
async fn another_version_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let to: Address = listener.local_addr().expect("it is bound").into();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a caller");
        stream.write_all(b"pando\r\n\0\x63\0\x01\0\0").await.expect("it reads");
        is_closed(stream).await;
    });
    let network = Tcp::new("a:1".into(), Security::Plain, LIMITS);
    let refused = ask(&network, &to, "echo x".into(), LONG).await.expect_err("a version");
    assert!(matches!(&refused, NetError::Refused { reason, .. } if reason.contains("version 99")));
}

#[tokio::test]
async fn plain_traffic_stays_on_the_machine() {
    let (service, ..) = talker();
    let error =
        listen(&"0.0.0.0:0".into(), Security::Plain, service, LIMITS).await.expect_err("open");
    assert!(error.to_string().contains("join with a token"), "{error}");
    let network = Tcp::new("a:1".into(), Security::Plain, LIMITS);
    let refused = ask(&network, &"192.0.2.1:1".into(), "echo x".into(), LONG).await;
    assert!(matches!(refused, Err(NetError::Refused { .. })));
}

#[tokio::test]
async fn a_server_that_shuts_down_ends_its_calls_first() {
    let mut pair = Pair::new(Place::Plain).await;
    let gate = std::sync::Arc::clone(&pair.gate);
    let mut waiting = pair.call("gate");
    let waiting = tokio::spawn(async move { next(&mut waiting).await });
    pair.event(Event::Began("gate".to_owned())).await;
    let mut both = pair.call("one-then-never");
    assert_eq!(next(&mut both).await, Ok("one".to_owned()));
    let listening = pair.listening();
    let shutdown = tokio::spawn(listening.shutdown(LONG));
    // Calls that cross the goodbye are declined, later ones are undeliverable. No call is lost.
    while let Ok(answer) = pair.ask("echo x").await {
        assert_eq!(answer, "x");
    }
    assert!(matches!(pair.ask("echo x").await, Err(NetError::Unreachable { .. })));
    gate.add_permits(1);
    assert_eq!(waiting.await.expect("it ends"), Ok("opened".to_owned()));
    drop(both);
    pair.event(Event::Dropped).await;
    shutdown.await.expect("it ends");
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let mut pair = Pair::new(Place::Plain).await;
    assert_eq!(pair.ask("echo x").await, Ok("x".to_owned()));
    pair.kill();
    while pair.ask("echo x").await.is_ok() {}
    let (service, ..) = talker();
    let again = loop {
        match listen(&pair.to, Security::Plain, std::sync::Arc::clone(&service), LIMITS).await {
            Ok(listening) => break listening,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    while pair.ask("echo x").await.is_err() {
        tokio::task::yield_now().await;
    }
    drop(again);
}

#[tokio::test]
async fn calls_share_one_connection() {
    let (service, ..) = talker();
    let inner = listening(Security::Plain, service).await;
    let front = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
    let to: Address = front.local_addr().expect("it is bound").into();
    let target = inner.address().clone();
    let accepted = tokio::spawn(async move {
        let (mut near, _) = front.accept().await.expect("a caller");
        let mut far = TcpStream::connect(target.as_str()).await.expect("it listens");
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
        // A second connection would be pending by now.
        tokio::time::timeout(Duration::ZERO, front.accept()).await.is_err()
    });
    let network = Tcp::new("a:1".into(), Security::Plain, LIMITS);
    let calls = (0..100).map(|_| ask(&network, &to, "echo x".into(), LONG));
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer, Ok("x".into()));
    }
    drop(network);
    assert!(accepted.await.expect("it ends"), "there was one connection");
}
