//! The seeds of the SQL fuzzer: scripts that once broke a server, `fuzz/sql/seeds`.

use crate::harness::serve;
use crate::raw::{contains, log_in, message, query};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

/// The statements of a script. Each ends with `;` at the end of a line; comments are lines.
fn statements(script: &str) -> Vec<String> {
    let lines: Vec<&str> = script.lines().filter(|line| !line.starts_with("--")).collect();
    let statements = lines.join("\n");
    let statements = statements.split(";\n").map(|text| text.trim_end_matches(';').to_owned());
    statements.filter(|statement| !statement.trim().is_empty()).collect()
}

/// Runs a statement to its end. Any answer will do, except an internal error.
fn run(stream: &mut TcpStream, statement: &str) {
    stream.write_all(&query(statement)).expect("the connection is there");
    loop {
        match message(stream) {
            (b'Z', _) => return,
            (b'G', _) => stream.write_all(b"c\0\0\0\x04").expect("sent"),
            (b'E', body) => assert!(
                !contains(&body, "CXX000"),
                "{}",
                String::from_utf8_lossy(&body).replace('\0', " ")
            ),
            _ => {}
        }
    }
}

#[test]
fn scripts_that_broke_a_server_do_so_no_more() {
    let folder = Path::new("../../fuzz/sql/seeds");
    let entries = std::fs::read_dir(folder).expect("the seeds");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let script = std::fs::read_to_string(&file).expect("readable");
        let served = serve(&["--memory", "1GB"]);
        let (mut stream, _) = log_in(&served.pg);
        println!("{}", file.display());
        run(&mut stream, "SET statement_timeout = '10s'");
        for statement in statements(&script) {
            println!("{}", statement.chars().take(500).collect::<String>());
            run(&mut stream, &statement);
        }
        let (mut other, _) = log_in(&served.pg);
        run(&mut other, "SELECT 1");
    }
}
