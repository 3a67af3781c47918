//! Servers that cannot start, and servers that stop while statements run.

use crate::harness::{command, serve, signal};
use crate::raw::{contains, log_in, query, rest, until};
use std::io::Write;

const LONG: &str =
    "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";

fn begin_long(address: &str) -> std::net::TcpStream {
    let (mut stream, _) = log_in(address);
    // The answer before the long statement shows that it has started.
    stream.write_all(&query("SELECT repeat('x', 100000)")).expect("sent");
    until(&mut stream, b'Z');
    stream.write_all(&query(LONG)).expect("sent");
    let (mut other, _) = log_in(address);
    loop {
        other.write_all(&query("SELECT state, query FROM pg_stat_activity")).expect("sent");
        let mut active = false;
        loop {
            let (kind, body) = crate::raw::message(&mut other);
            active |= contains(&body, "active") && contains(&body, LONG);
            if kind == b'Z' {
                break;
            }
        }
        if active {
            return stream;
        }
    }
}

#[test]
fn statements_are_cancelled_after_the_grace_period() {
    let mut served = serve(&["--shutdown-grace", "1s"]);
    let mut stream = begin_long(&served.pg);
    signal(&served, "-TERM");
    assert!(contains(&rest(&mut stream), "C57P01"), "the client is told");
    assert!(served.process.wait().expect("ended").success());
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let mut served = serve(&["--shutdown-grace", "1h"]);
    let mut stream = begin_long(&served.pg);
    let mut idle = log_in(&served.pg).0;
    signal(&served, "-TERM");
    assert!(contains(&rest(&mut idle), "C57P01"), "who is idle goes at once");
    signal(&served, "-TERM");
    assert!(served.process.wait().expect("ended").success());
    rest(&mut stream);
}

#[test]
fn an_address_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("text").to_owned()
    };
    let refused = |arguments: &[&str]| {
        let own = ["--pg", "127.0.0.1:0", "--http", "127.0.0.1:0"];
        let own = if arguments.contains(&"--pg") { &own[2..] } else { &own[..] };
        let output = command(&[own, arguments].concat()).output().expect("pando runs");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let served = serve(&[]);
    let taken = refused(&["--pg", &served.pg]);
    assert!(
        taken.contains(&served.pg) && taken.contains("use --pg to set another address"),
        "{taken}"
    );
    let empty = file("empty.pem", "");
    let missing = folder.path().join("missing.pem");
    let missing = missing.to_str().expect("text");
    for certificate in [missing, &empty] {
        let text = refused(&["--tls-certificate", certificate, "--tls-key", &empty]);
        assert!(text.contains(certificate), "{text}");
    }
    let text = refused(&["--config", &file("pando.toml", "thread = 3\n")]);
    assert!(text.contains("unknown setting \"thread\". Is it threads?"), "{text}");
    let text = refused(&["--superuser", "ada", "--superuser-password-file", missing]);
    assert!(text.contains(missing), "{text}");
}
