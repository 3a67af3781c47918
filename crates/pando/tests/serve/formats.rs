//! Data directories that earlier versions made are opened: `format_1/made.sql` made the first.

use super::check::check;
use super::harness::{connect, serve};
use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;
use tempfile::TempDir;
use tokio_postgres::{Client, SimpleQueryMessage};

/// The size of a segment of the log, in bytes.
const SEGMENT_BYTES: u64 = 64 << 20;

/// Copies a kept directory. Its log is kept without the zeros at the end of its files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a new folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let copied = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &copied);
            continue;
        }
        fs::copy(&path, &copied).expect("copied");
        if copied.extension().is_some_and(|of| of == "log") {
            let file = File::options().write(true).open(&copied).expect("opened");
            file.set_len(SEGMENT_BYTES).expect("zeros at the end");
        }
    }
}

/// A line for each row, or for the error, of each statement.
async fn answers(client: &Client, script: &str) -> String {
    let mut all = String::new();
    for statement in script.split_terminator(";\n") {
        let messages = match client.simple_query(statement).await {
            Ok(messages) => messages,
            Err(error) => {
                let error = error.as_db_error().expect("an answer of the server");
                writeln!(all, "{} {}", error.code().code(), error.message()).expect("memory");
                continue;
            }
        };
        for message in messages {
            let SimpleQueryMessage::Row(row) = message else { continue };
            let values = (0..row.len()).map(|at| row.get(at).unwrap_or("NULL"));
            writeln!(all, "{}", values.collect::<Vec<_>>().join("|")).expect("memory");
        }
    }
    all
}

#[tokio::test]
async fn format_1_is_opened() {
    let kept = Path::new("tests/serve/format_1");
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    copy(&kept.join("data"), &data);
    let (code, said, _) = check(&data, &[]);
    assert_eq!(code, Some(0), "{said}");

    let served = serve(&["--data", data.to_str().expect("text")]);
    let client = connect(&served, "boss", Some("secret")).await.expect("connected");
    let found = answers(&client, include_str!("format_1/read.sql")).await;
    assert_eq!(found, include_str!("format_1/read.txt"));
}
