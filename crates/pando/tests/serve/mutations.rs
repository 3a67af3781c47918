//! Valid conversations with random mutations.

use crate::harness::{get, serve};
use crate::raw::{log_in, open, query, startup, until};
use frontend::damage::Damage;
use std::io::{Read, Write};
use std::net::Shutdown;

const CONVERSATIONS: usize = 2000;

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    [&[kind][..], &length, body].concat()
}

/// Messages of clients after authentication.
fn valid() -> Vec<u8> {
    [
        query("SELECT 1; SELECT 'two'"),
        message(b'P', b"s\0SELECT $1::int, $2::text\0\0\x01\0\0\0\x17"),
        message(b'D', b"Ss\0"),
        message(b'B', b"p\0s\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x01x\0\x01\0\x01"),
        message(b'D', b"Pp\0"),
        message(b'E', b"p\0\0\0\0\x01"),
        message(b'H', b""),
        message(b'C', b"Pp\0"),
        message(b'S', b""),
        query("COPY t FROM STDIN"),
        message(b'd', b"1\tone\n2\t\\N\n"),
        message(b'c', b""),
        query("COPY t TO STDOUT (FORMAT binary)"),
        query("BEGIN; DECLARE c CURSOR FOR SELECT * FROM t; FETCH 1 FROM c"),
        message(b'F', b"\0\0\0\x01\0\0\0\0\0\0"),
        message(b'X', b""),
    ]
    .concat()
}

#[test]
fn mutated_conversations_end_only_their_own_connection() {
    let mut served = serve(&["--startup-timeout", "5s"]);
    let (mut witness, _) = log_in(&served.pg);
    witness.write_all(&query("CREATE TABLE t (id int, name text)")).expect("sent");
    until(&mut witness, b'Z');
    let mut numbers = Damage::new(0x9e37_79b9_7f4a_7c15);
    for _ in 0..CONVERSATIONS {
        let (mut hello, mut next) = (startup("u"), valid());
        match numbers.below(4) {
            0 => numbers.damage(&mut hello),
            1 => next = (0..numbers.below(300)).map(|_| numbers.below(256) as u8).collect(),
            _ => numbers.damage(&mut next),
        }
        let mut stream = open(&served.pg);
        // The server may have closed the connection. Its answers are ignored.
        let _ = stream.write_all(&[hello, next].concat());
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    loop {
        witness.write_all(&query("SELECT count(*) FROM pg_stat_activity")).expect("sent");
        let count = until(&mut witness, b'D');
        until(&mut witness, b'Z');
        if count.ends_with(b"\x011") {
            break;
        }
    }
    let metrics = get(&served.http, "/metrics");
    assert!(metrics.contains("pando_connections_open 1\n"), "{metrics}");
    served.process.kill().expect("killed");
    let mut log = String::new();
    served.stderr.read_to_string(&mut log).expect("text");
    assert!(!log.contains("panicked"), "{log}");
}
