//! Sequences of messages that drivers do not send.

use crate::harness::serve;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A message with its type and length.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    [&[kind][..], &length, body].concat()
}

/// The types of the received messages, up to and including `last`.
fn types_until(stream: &mut TcpStream, last: u8) -> String {
    let mut types = String::new();
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head).expect("a message");
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length - 4];
        stream.read_exact(&mut body).expect("its body");
        types.push(char::from(head[0]));
        if head[0] == last {
            return types;
        }
    }
}

/// A connection that is ready for statements.
fn ready(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a listener");
    let body = [&196_608_u32.to_be_bytes()[..], b"user\0u\0database\0pando\0\0"].concat();
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    stream.write_all(&[&length[..], &body].concat()).expect("sent");
    types_until(&mut stream, b'Z');
    stream
}

#[test]
fn all_answers_of_a_group_that_arrives_in_parts_are_sent() {
    let served = serve(&[]);
    let mut stream = ready(&served.pg);
    let parse = message(b'P', b"\0SELECT repeat('x', 5000)\0\0\0");
    let bind = message(b'B', b"\0\0\0\0\0\0\0\0");
    let execute = message(b'E', b"\0\0\0\0\0");
    let one = [parse, bind, execute].concat();
    // More than an idle connection buffers, and before Sync.
    for _ in 0..8 {
        stream.write_all(&one).expect("sent");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    stream.write_all(&message(b'S', b"")).expect("sent");
    assert_eq!(types_until(&mut stream, b'Z'), "12DC".repeat(8) + "Z");
}
