//! Connections without a client library.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Time limit for any step, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) const SSL_REQUEST: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";

pub(crate) fn open(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a listener");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// The first message of a session.
pub(crate) fn startup(user: &str) -> Vec<u8> {
    let body = [b"\0\x03\0\0user\0", user.as_bytes(), b"\0database\0pando\0\0"].concat();
    [&u32::try_from(body.len() + 4).expect("short").to_be_bytes()[..], &body].concat()
}

pub(crate) fn query(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len() + 5).expect("short").to_be_bytes();
    [b"Q", &length[..], text.as_bytes(), b"\0"].concat()
}

/// Reads a message: its type and body.
pub(crate) fn message(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; 5];
    stream.read_exact(&mut head).expect("a message");
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let mut body = vec![0; length as usize - 4];
    stream.read_exact(&mut body).expect("a whole message");
    (head[0], body)
}

/// Reads up to a message of a type.
pub(crate) fn until(stream: &mut TcpStream, kind: u8) -> Vec<u8> {
    loop {
        let (found, body) = message(stream);
        if found == kind {
            return body;
        }
    }
}

/// A session, with the key that cancels its statements.
pub(crate) fn log_in(address: &str) -> (TcpStream, Vec<u8>) {
    let mut stream = open(address);
    stream.write_all(&startup("u")).expect("sent");
    let key = until(&mut stream, b'K');
    until(&mut stream, b'Z');
    (stream, key)
}

pub(crate) fn cancel(address: &str, key: &[u8]) {
    let length = u32::try_from(key.len() + 8).expect("short").to_be_bytes();
    let mut stream = open(address);
    stream.write_all(&[&length[..], b"\x04\xd2\x16\x2e", key].concat()).expect("sent");
    assert_eq!(rest(&mut stream), b"", "cancelling is not answered");
}

/// All bytes until the server closes the connection.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => bytes,
        Err(error) => panic!("the server keeps the connection: {error}"),
    }
}

pub(crate) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
