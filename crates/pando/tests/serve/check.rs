//! `pando check`: what it says of the directory of a server, sound and damaged, and its exit codes.

use super::harness::{connect, serve};
use super::stored::{made, made_by};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Runs `pando check`; returns the exit code, standard output and standard error.
pub(crate) fn check(directory: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pando"));
    command.arg("check").arg(directory).args(options);
    let Output { status, stdout, stderr } = command.output().expect("pando starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (status.code(), text(stdout), text(stderr))
}

/// Runs `pando check --json`; returns the exit code and the document.
fn document(directory: &Path) -> (Option<i32>, serde_json::Value) {
    let (code, stdout, stderr) = check(directory, &["--json"]);
    let document = serde_json::from_str(&stdout);
    (code, document.unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

/// Damages of a document: file and offset.
fn damages(document: &serde_json::Value) -> Vec<(String, u64)> {
    let all = document["damages"].as_array().expect("a list");
    let place = |damage: &serde_json::Value| {
        let file = damage["file"].as_str().expect("a file").to_owned();
        (file, damage["offset"].as_u64().expect("an offset"))
    };
    all.iter().map(place).collect()
}

/// The names, contents and times of all files below a directory.
fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        let time = fs::metadata(&directory).and_then(|data| data.modified()).expect("there");
        all.push((directory.clone(), Vec::new(), time));
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let time = fs::metadata(&path).and_then(|data| data.modified()).expect("there");
            all.push((path.clone(), fs::read(&path).expect("readable"), time));
        }
    }
    all.sort();
    all
}

/// The files of a part of a data directory, sorted.
fn files(data: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(data.join(part)).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("readable");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("written");
}

fn name(data: &Path, path: &Path) -> String {
    path.strip_prefix(data).expect("inside").display().to_string()
}

#[tokio::test]
async fn a_directory_is_described_and_not_changed() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    made(&data).await;
    let before = contents(&data);
    let (code, text, stderr) = check(&data, &[]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{text}");
    assert!(text.ends_with(&format!("{} is sound.\n", data.display())), "{text}");
    assert!(text.contains("Checkpoints   2\n") && text.contains(" commit"), "{text}");
    let (code, found) = document(&data);
    assert_eq!((code, &found["sound"], &found["format"]), (Some(0), &true.into(), &1.into()));
    assert_eq!(contents(&data), before);
    assert_eq!(found["checkpoints"][1]["rows"], 19_998);
    assert_eq!(found["checkpoints"][1]["tables"], 1);
    assert!(found["checkpoints"][0]["made"].as_str().expect("a time").ends_with('Z'));
    assert!(found["log"]["commands"]["commit"].as_u64() >= Some(7), "{found:#}");
    assert_eq!(found["log"]["segments"][0]["first_position"], 1);
    assert!(found["log"]["torn"].is_null());
    let chunks = found["chunk_files"].as_array().expect("a list");
    assert!(chunks.len() >= 2 && chunks.iter().all(|file| file["missing"] == false), "{found:#}");
}

/// The entries of indexes were counted as rows, and their files as tables.
#[tokio::test]
async fn all_kinds_of_definitions_are_sound_and_only_tables_are_counted() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let statements = [
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "ALTER TYPE mood ADD VALUE 'calm' BEFORE 'happy'",
        "CREATE DOMAIN positive AS integer CHECK (VALUE > 0)",
        "CREATE TYPE pair AS (m mood, p positive)",
        "CREATE TABLE person (id int PRIMARY KEY, email text UNIQUE, m mood, past mood[], p positive, c pair)",
        "CREATE TABLE message (id int PRIMARY KEY, sender int REFERENCES person)",
        "CREATE INDEX person_lower ON person (lower(email)) WHERE id > 1",
        "CREATE FUNCTION doubled(a int) RETURNS int LANGUAGE sql AS 'SELECT a * 2'",
        "INSERT INTO person VALUES (1, 'a', 'calm', '{sad}', 1, ROW('sad', 2)), (2, 'b', 'sad', NULL, NULL, NULL)",
        "INSERT INTO message VALUES (1, 2)",
    ];
    made_by(&data, &statements).await;
    let (code, found) = document(&data);
    assert_eq!((code, &found["sound"]), (Some(0), &true.into()), "{found:#}");
    let checkpoint = found["checkpoints"].as_array().and_then(|all| all.last()).expect("one");
    assert_eq!((&checkpoint["tables"], &checkpoint["rows"]), (&2.into(), &3.into()));
}

#[tokio::test]
async fn each_damage_has_its_file_and_offset() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    made(&data).await;
    let log = files(&data, "journal")[0].clone();
    let (chunks, checkpoints) = (files(&data, "chunks"), files(&data, "checkpoints"));
    flip(&log, 70);
    flip(&checkpoints[0], 70);
    flip(&chunks[0], 70);
    let missing = chunks.last().expect("several").clone();
    fs::remove_file(&missing).expect("removed");
    let (code, found) = document(&data);
    assert_eq!((code, &found["sound"]), (Some(1), &false.into()));
    let damages = damages(&found);
    let expected = [(&log, 64), (&checkpoints[0], 0), (&chunks[0], 0), (&missing, 0)];
    for (path, offset) in expected {
        let place = (name(&data, path), offset);
        assert!(damages.contains(&place), "{place:?} is not in {damages:?}");
    }
    let (code, text, _) = check(&data, &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("is damaged in ") && text.contains("the file is missing"), "{text}");
}

#[tokio::test]
async fn a_damaged_identity_ends_the_check() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    made(&data).await;
    let identity = data.join("IDENTITY");
    flip(&identity, 30);
    let (code, found) = document(&data);
    assert_eq!((code, damages(&found)), (Some(1), vec![("IDENTITY".to_owned(), 0)]));
    assert!(found["log"].is_null() && found["set"].is_null());
    fs::remove_file(&identity).expect("removed");
    let (code, text, _) = check(&data, &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("the file IDENTITY is missing"), "{text}");
}

#[tokio::test]
async fn what_is_no_data_directory_or_in_use_is_not_checked() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let refused = |directory: &Path, reason: &str| {
        let (code, stdout, stderr) = check(directory, &["--json"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(stderr.contains(reason), "{stderr}");
    };
    refused(&data, "cannot list");
    let (empty, foreign) = (folder.path().join("empty"), folder.path().join("foreign"));
    fs::create_dir(&empty).expect("made");
    refused(&empty, "is empty");
    fs::create_dir(&foreign).expect("made");
    fs::write(foreign.join("notes.txt"), "mine").expect("written");
    refused(&foreign, "contains notes.txt and no IDENTITY");

    let mut served = serve(&["--data", data.to_str().expect("text")]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.batch_execute("CREATE TABLE t (id int PRIMARY KEY)").await.expect("made");
    client.batch_execute("INSERT INTO t VALUES (1), (2)").await.expect("written");
    refused(&data, &format!("is in use by process {}", served.process.id()));
    served.process.kill().expect("killed");
    served.process.wait().expect("ended");
    let (code, found) = document(&data);
    assert_eq!((code, damages(&found)), (Some(0), Vec::new()), "{found:#}");
    let (code, _, stderr) = check(&data, &["--no-such-option"]);
    assert_eq!(code, Some(2), "{stderr}");
}
