//! The HTTP listener with malformed requests.

use crate::harness::{get, serve, signal};
use crate::raw::{contains, open, rest};
use std::io::Write;

#[test]
fn garbage_and_giant_headers_are_refused() {
    let served = serve(&[]);
    let giant = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(2 << 20));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: x\r\n".repeat(10_000));
    let garbage = ["\0\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", &giant, &many];
    for text in garbage {
        let mut stream = open(&served.http);
        // The server may close the connection while more is sent.
        let _ = stream.write_all(text.as_bytes());
        let answer = rest(&mut stream);
        assert!(!contains(&answer, "200 OK"));
    }
    assert!(get(&served.http, "/nowhere").starts_with("HTTP/1.1 404"));
    assert!(get(&served.http, "/healthz").ends_with("ok\n"));
}

#[test]
fn endless_requests_block_neither_others_nor_the_server() {
    let mut served = serve(&["--shutdown-grace", "1s"]);
    let slow: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = open(&served.http);
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-").expect("sent");
            stream
        })
        .collect();
    assert!(get(&served.http, "/healthz").ends_with("ok\n"));
    signal(&served, "-TERM");
    assert!(served.process.wait().expect("ended").success());
    drop(slow);
}
