//! Messages that client libraries do not send.

use super::harness::{Served, connect, serve};
use std::io::{Read, Write};
use std::net::TcpStream;

/// The protocol version of a startup message.
const VERSION: u32 = 3 << 16;

/// A connection without a library.
struct Raw(TcpStream);

impl Raw {
    /// Connects and sends a startup message.
    fn start(served: &Served, version: u32, parameters: &[&str]) -> Self {
        let mut raw = Self(TcpStream::connect(&served.pg).expect("a listener"));
        let mut body = version.to_be_bytes().to_vec();
        for text in parameters.iter().chain(&[""]) {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        raw.write(&body);
        raw
    }

    /// Connects and waits for ReadyForQuery.
    fn ready(served: &Served) -> Self {
        let mut raw = Self::start(served, VERSION, &["user", "u", "database", "pando"]);
        raw.until_ready();
        raw
    }

    fn write(&mut self, body: &[u8]) {
        let length = u32::try_from(body.len() + 4).expect("short");
        self.0.write_all(&length.to_be_bytes()).expect("sent");
        self.0.write_all(body).expect("sent");
    }

    fn send(&mut self, kind: u8, body: &[u8]) {
        self.0.write_all(&[kind]).expect("sent");
        self.write(body);
    }

    /// The next message; `None` at the end.
    fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut header = [0; 5];
        self.0.read_exact(&mut header).ok()?;
        let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]);
        let mut body = vec![0; length as usize - 4];
        self.0.read_exact(&mut body).ok()?;
        Some((header[0], body))
    }

    /// The SQLSTATEs of the errors until ReadyForQuery or the end.
    fn until_ready(&mut self) -> Vec<String> {
        let mut errors = Vec::new();
        while let Some((kind, body)) = self.read() {
            match kind {
                b'Z' => break,
                b'E' => errors.push(state(&body)),
                _ => {}
            }
        }
        errors
    }
}

/// The code among an error's fields.
fn state(body: &[u8]) -> String {
    let code = body.split(|byte| *byte == 0).find_map(|field| field.strip_prefix(b"C"));
    String::from_utf8_lossy(code.expect("a code")).into_owned()
}

#[test]
fn a_function_call_is_refused_and_the_session_continues() {
    let served = serve(&[]);
    let mut raw = Raw::ready(&served);
    raw.send(b'F', &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(raw.until_ready(), ["0A000"]);
    raw.send(b'Q', b"SELECT 1\0");
    assert!(raw.until_ready().is_empty());
}

#[test]
fn a_newer_protocol_and_unknown_options_are_negotiated() {
    let served = serve(&[]);
    let parameters = ["user", "u", "database", "pando", "_pq_.later", "on"];
    let mut raw = Raw::start(&served, VERSION + 9, &parameters);
    let (kind, body) = raw.read().expect("an answer");
    assert_eq!(kind, b'v');
    assert_eq!(body, b"\0\0\0\x02\0\0\0\x01_pq_.later\0");
    assert!(raw.until_ready().is_empty());
}

#[test]
fn invalid_startup_parameters_are_refused_with_a_sqlstate() {
    let served = serve(&[]);
    let refused = |parameters: &[&str]| {
        Raw::start(&served, VERSION, &[&["user", "u"], parameters].concat()).until_ready()
    };
    assert_eq!(refused(&["database", "nowhere"]), ["3D000"]);
    assert_eq!(refused(&["replication", "database"]), ["0A000"]);
    assert_eq!(refused(&["client_encoding", "LATIN1"]), ["22023"]);
    assert_eq!(refused(&["options", "-c statement_timeout=soon"]), ["22023"]);
    assert!(refused(&["client_encoding", "SQL_ASCII"]).is_empty());
}

#[test]
fn a_giant_length_is_refused_at_once() {
    let served = serve(&["--max-message-bytes", "1MiB"]);
    let mut raw = Raw::ready(&served);
    raw.0.write_all(b"Q\x40\0\0\0").expect("sent");
    assert_eq!(raw.until_ready(), ["08P01"]);
    let mut raw = Raw(TcpStream::connect(&served.pg).expect("a listener"));
    raw.0.write_all(b"\0\0\x40\0").expect("sent");
    assert_eq!(raw.until_ready(), ["08P01"]);
}

#[tokio::test]
async fn a_large_message_draws_on_the_memory_limit() {
    let served = serve(&["--memory", "48MiB"]);
    let client = connect(&served, "u", None).await.expect("connected");
    let small = "x".repeat(4 << 20);
    let row = client.query_one("SELECT length($1::text)", &[&small]).await.expect("a row");
    assert_eq!(row.get::<_, i32>(0), 4 << 20);
    let large = "x".repeat(64 << 20);
    client.query_one("SELECT length($1::text)", &[&large]).await.map(drop).expect_err("too large");
    let client = connect(&served, "u", None).await.expect("connected");
    client.query_one("SELECT 1", &[]).await.expect("the server goes on");
}

/// A client that reads no rows blocks only itself: its statement times out.
#[tokio::test]
async fn a_statement_times_out_while_its_client_reads_nothing() {
    let served = serve(&[]);
    let mut raw = Raw::ready(&served);
    raw.send(b'Q', b"SET statement_timeout = '200ms'\0");
    assert!(raw.until_ready().is_empty());
    raw.send(b'Q', b"SELECT repeat('x', 1000) AS x FROM generate_series(1, 1000000)\0");
    let other = connect(&served, "u", None).await.expect("connected");
    let active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%repeat%' \
                  AND pid <> pg_backend_pid()";
    loop {
        let row = other.query_one(active, &[]).await.expect("a row");
        if row.get::<_, i64>(0) == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(raw.until_ready(), ["57014"]);
    raw.send(b'Q', b"SELECT 1\0");
    assert!(raw.until_ready().is_empty());
}
