//! Limits of clients: a client can harm only its own connection.

use crate::harness::{Served, serve};
use crate::raw::{
    SSL_REQUEST, cancel, contains, log_in, message, open, query, rest, startup, until,
};
use std::io::{Read, Write};
use std::net::TcpStream;

/// The server's memory in bytes.
fn resident(served: &Served) -> usize {
    let path = format!("/proc/{}/status", served.process.id());
    let status = std::fs::read_to_string(path).expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("a line");
    let kib = line.split_whitespace().nth(1).expect("a number");
    kib.parse::<usize>().expect("a number") << 10
}

fn works(address: &str) {
    let (mut stream, _) = log_in(address);
    stream.write_all(&query("SELECT 'works'")).expect("sent");
    assert!(contains(&until(&mut stream, b'D'), "works"));
}

fn password_file(folder: &tempfile::TempDir) -> String {
    let file = folder.path().join("password");
    std::fs::write(&file, "sesame").expect("written");
    file.to_str().expect("text").to_owned()
}

#[test]
fn silent_clients_are_dropped_and_block_nobody() {
    let served = serve(&["--startup-timeout", "2s", "--tls-self-signed", "true"]);
    let hello = startup("u");
    let mut silent: Vec<TcpStream> = (0..200)
        .map(|number: usize| {
            let mut stream = open(&served.pg);
            let bytes: &[u8] = match number % 4 {
                0 => b"",
                1 => &hello[..7],
                2 => SSL_REQUEST,
                // The start of a TLS handshake.
                _ => b"\x16\x03\x01",
            };
            stream.write_all(bytes).expect("sent");
            stream
        })
        .collect();
    works(&served.pg);
    for stream in &mut silent {
        assert!(matches!(&rest(stream)[..], b"" | b"S"));
    }
}

#[test]
fn clients_without_a_password_are_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = password_file(&folder);
    let arguments =
        ["--startup-timeout", "2s", "--superuser", "ada", "--superuser-password-file", &file];
    let served = serve(&arguments);
    let challenge = |user: &str| {
        let mut stream = open(&served.pg);
        stream.write_all(&startup(user)).expect("sent");
        let (kind, mechanisms) = message(&mut stream);
        assert_eq!((kind, &mechanisms[..]), (b'R', &b"\0\0\0\x0aSCRAM-SHA-256\0\0"[..]));
        let first = b"SCRAM-SHA-256\0\0\0\0\x20n,,n=,r=rOprNGfwEbeRWgbNEkqOaaaa";
        let length = u32::try_from(first.len() + 4).expect("short").to_be_bytes();
        stream.write_all(&[b"p", &length[..], first].concat()).expect("sent");
        let (kind, body) = message(&mut stream);
        let body = String::from_utf8(body[4..].to_vec()).expect("text");
        let (salt, iterations) =
            body.split_once(",s=").expect("a salt").1.split_once(",").expect("more");
        assert_eq!(rest(&mut stream), b"");
        (kind, salt.len(), iterations.to_owned())
    };
    assert_eq!(challenge("ada"), challenge("eve"), "nobody learns who exists");
}

#[test]
fn bytes_before_encryption_are_refused() {
    let served = serve(&["--tls-self-signed", "true"]);
    let mut stream = open(&served.pg);
    stream.write_all(&[SSL_REQUEST, &startup("u"), &query("SELECT 1")].concat()).expect("sent");
    let answer = rest(&mut stream);
    assert!(contains(&answer, "received unencrypted data after SSL request"));
    assert!(!answer.starts_with(b"S"));
    let mut stream = open(&served.pg);
    stream.write_all(SSL_REQUEST).expect("sent");
    let mut answer = [0];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"S");
    stream.write_all(&startup("u")).expect("sent");
    let answer = rest(&mut stream);
    assert!(!contains(&answer, "server_version"), "plain text is not taken any more");
}

#[test]
fn giant_messages_are_refused_by_their_length() {
    let served = serve(&["--max-message-bytes", "1MiB"]);
    let before = resident(&served);
    for head in [&b"Q\x7f\xff\xff\xff"[..], b"Q\xff\xff\xff\xff", b"d\x40\0\0\0", b"P\0\x10\0\x01"]
    {
        let (mut stream, _) = log_in(&served.pg);
        stream.write_all(head).expect("sent");
        assert!(contains(&rest(&mut stream), "is above the limit of 1048576"));
    }
    let mut stream = open(&served.pg);
    stream.write_all(b"\0\0\x27\x11\0\x03\0\0").expect("sent");
    assert!(contains(&rest(&mut stream), "is above the limit of 10000"));
    let mut parameters = startup("u");
    parameters.pop();
    for number in 0..70 {
        parameters.extend(format!("p{number}\0v\0").into_bytes());
    }
    parameters.push(0);
    let length = u32::try_from(parameters.len()).expect("short").to_be_bytes();
    parameters[..4].copy_from_slice(&length);
    let mut stream = open(&served.pg);
    stream.write_all(&parameters).expect("sent");
    assert!(contains(&rest(&mut stream), "more than 64 parameters"));
    assert!(resident(&served) < before + (64 << 20), "lengths are not believed");
    works(&served.pg);
}

#[test]
fn too_many_connections_are_refused_until_one_ends() {
    let served = serve(&["--max-connections", "2"]);
    let (first, _) = log_in(&served.pg);
    let (_second, _) = log_in(&served.pg);
    let mut third = open(&served.pg);
    let answer = rest(&mut third);
    assert!(contains(&answer, "C53300") && contains(&answer, "sorry, too many clients already"));
    drop(first);
    loop {
        let mut stream = open(&served.pg);
        // A connection may be refused before its first message.
        let _ = stream.write_all(&startup("u"));
        let mut kind = [0];
        if stream.read_exact(&mut kind).is_ok() && kind == *b"R" {
            break;
        }
    }
}

#[test]
fn a_slow_reader_takes_no_memory_and_its_statement_can_be_cancelled() {
    let served = serve(&[]);
    let (mut stream, key) = log_in(&served.pg);
    let before = resident(&served);
    let big = "SELECT v AS a, v AS b, v AS c FROM generate_series(1, 500000000) AS g (v)";
    stream.write_all(&query(big)).expect("sent");
    for _ in 0..100_000 {
        message(&mut stream);
    }
    works(&served.pg);
    assert!(resident(&served) < before + (256 << 20), "rows wait for their reader");
    cancel(&served.pg, &key);
    assert!(contains(&until(&mut stream, b'E'), "C57014"));
    until(&mut stream, b'Z');
    let timed = query(&format!("SET statement_timeout = '1s'; {big}"));
    stream.write_all(&timed).expect("sent");
    until(&mut stream, b'T');
    works(&served.pg);
    assert!(contains(&until(&mut stream, b'E'), "C57014"));
}

#[test]
fn a_copy_whose_client_disconnects_leaves_nothing() {
    let served = serve(&[]);
    let (mut stream, _) = log_in(&served.pg);
    stream.write_all(&query("CREATE TABLE t (k int PRIMARY KEY)")).expect("sent");
    until(&mut stream, b'Z');
    let (mut copying, _) = log_in(&served.pg);
    copying.write_all(&query("COPY t FROM STDIN")).expect("sent");
    until(&mut copying, b'G');
    for byte in b"d\0\0\0\x081\n2\nd\0\0" {
        copying.write_all(&[*byte]).expect("sent");
    }
    stream.write_all(&query("SELECT count(*) FROM t")).expect("sent");
    assert_eq!(until(&mut stream, b'D'), b"\0\x01\0\0\0\x010");
    until(&mut stream, b'Z');
    drop(copying);
    loop {
        stream.write_all(&query("SELECT count(*) FROM pg_stat_activity")).expect("sent");
        let count = until(&mut stream, b'D');
        until(&mut stream, b'Z');
        if count.ends_with(b"\x011") {
            break;
        }
    }
    stream.write_all(&query("SELECT count(*) FROM t")).expect("sent");
    assert_eq!(until(&mut stream, b'D'), b"\0\x01\0\0\0\x010");
}

/// As many connections as this process may open, up to 10,000.
#[test]
fn ten_thousand_idle_connections_take_little_memory() {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("Linux");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a line");
    let files = line.split_whitespace().nth(3).expect("a number").parse().unwrap_or(20_000usize);
    let served = serve(&["--max-connections", "11000"]);
    let idle: Vec<_> =
        (0..files.saturating_sub(500).min(10_000)).map(|_| log_in(&served.pg)).collect();
    works(&served.pg);
    let (mut last, _) = log_in(&served.pg);
    last.write_all(&query("SELECT count(*) FROM pg_stat_activity")).expect("sent");
    let count = until(&mut last, b'D');
    let count: usize = std::str::from_utf8(&count[6..]).expect("text").parse().expect("a number");
    assert!(count > idle.len());
}
