//! Servers with a data directory: what they find after a kill, and which directories they refuse.

use super::harness::{command, connect, serve};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio_postgres::{Client, SimpleQueryMessage};

async fn values(client: &Client, sql: &str) -> Vec<String> {
    let messages = client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut values = Vec::new();
    for message in messages {
        if let SimpleQueryMessage::Row(row) = message {
            let all = (0..row.len()).map(|at| row.get(at).unwrap_or("NULL").to_owned());
            values.extend(all);
        }
    }
    values
}

const MADE: &str = "
    CREATE SCHEMA shop;
    CREATE TABLE shop.item (id int PRIMARY KEY, name varchar(20) NOT NULL DEFAULT 'none', price numeric(10,2) CHECK (price > 0),
                            tags text[], extra jsonb, sold timestamptz);
    CREATE TABLE visit (id bigserial, note text);
    CREATE VIEW cheap AS SELECT id, name FROM shop.item WHERE price < 10;
    COMMENT ON TABLE shop.item IS 'what is sold';
    CREATE USER ada SUPERUSER PASSWORD 'right';
    CREATE ROLE clerk LOGIN PASSWORD 'secret';
    GRANT SELECT ON shop.item TO clerk;
    CREATE TEMP TABLE scratch (a int);
    INSERT INTO scratch VALUES (1);
    INSERT INTO shop.item SELECT i, 'item ' || i, i / 2.0 + 1, ARRAY['a', NULL], '{\"k\": [1]}', '2020-02-29 12:00+02'
        FROM generate_series(1, 3000) i;
    DELETE FROM shop.item WHERE id % 7 = 0;
    UPDATE shop.item SET name = 'new' WHERE id = 2;
    INSERT INTO visit (note) VALUES ('first'), ('second')";

const READ: &str = "
    SELECT count(*), sum(price), min(name), max(name) FROM shop.item;
    SELECT * FROM shop.item WHERE id = 2;
    SELECT count(*) FROM cheap;
    SELECT note FROM visit ORDER BY id;
    SELECT obj_description('shop.item'::regclass);
    SELECT has_table_privilege('clerk', 'shop.item', 'SELECT'), has_table_privilege('clerk', 'shop.item', 'DELETE');
    SELECT count(*) FROM pg_class WHERE relname = 'scratch'";

#[tokio::test]
async fn a_killed_server_finds_everything_again() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let settings = ["--data", data.to_str().expect("text")];
    let mut expected = Vec::new();
    for round in 0..3 {
        let mut served = serve(&settings);
        let password = (round > 0).then_some("right");
        let client = connect(&served, "ada", password).await.expect("connected");
        if round == 0 {
            client.batch_execute(MADE).await.expect("made");
        } else {
            let wrong = connect(&served, "ada", Some("wrong")).await;
            assert!(wrong.is_err(), "the password is kept");
            let found = values(&client, READ).await;
            assert_eq!(found, expected, "round {round}");
        }
        // What is open when the plug is pulled is gone.
        let open = connect(&served, "ada", Some("right")).await.expect("connected");
        open.batch_execute("BEGIN; DELETE FROM shop.item").await.expect("not committed");
        let note = format!("INSERT INTO visit (note) VALUES ('round {round}')");
        client.batch_execute(&note).await.expect("written");
        expected = values(&client, READ).await;
        // The temporary table ends with its session.
        *expected.last_mut().expect("a count") = "0".to_owned();
        served.process.kill().expect("killed");
        served.process.wait().expect("ended");
    }
    let served = serve(&settings);
    let client = connect(&served, "ada", Some("right")).await.expect("connected");
    let ids = values(&client, "INSERT INTO visit (note) VALUES ('last') RETURNING id > 5").await;
    assert_eq!(ids, ["t"]);
    let wrong = client.batch_execute("INSERT INTO shop.item VALUES (2, 'twice', 1)").await;
    assert_eq!(wrong.expect_err("a key twice").code().map(|code| code.code()), Some("23505"));
    let wrong = client.batch_execute("INSERT INTO shop.item VALUES (9999, 'free', 0)").await;
    assert_eq!(wrong.expect_err("a broken check").code().map(|code| code.code()), Some("23514"));
}

/// What a server says that does not start.
fn refused(settings: &[&str]) -> String {
    let mut command = command(settings);
    let output =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("pando starts");
    let output = output.wait_with_output().expect("ends");
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn a_directory_is_refused_with_the_reason() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let data = path("data");
    let served = serve(&["--data", &data]);
    let process = served.process.id();
    let message = refused(&["--data", &data]);
    assert!(message.contains(&format!("process {process}")), "{message}");
    let left = path("left");
    let mut emptied = serve(&["--data", &left]);
    let client = connect(&emptied, "u", None).await.expect("connected");
    client.batch_execute("CREATE TABLE kept (a int)").await.expect("made");
    emptied.process.kill().expect("killed");
    emptied.process.wait().expect("ended");
    let foreign = path("foreign");
    std::fs::create_dir(&foreign).expect("made");
    std::fs::write(path("foreign/notes.txt"), "mine").expect("written");
    let message = refused(&["--data", &foreign]);
    assert!(message.contains(&foreign), "{message}");
    let message = refused(&["--durability", "async"]);
    assert!(message.contains("durability async requires data"), "{message}");
    std::fs::remove_file(path("left/IDENTITY")).expect("removed");
    let message = refused(&["--data", &path("left")]);
    assert!(message.contains("keep what is there"), "{message}");
    let message = refused(&["--data", &path("other"), "--durability", "often"]);
    assert!(message.contains("must be sync, async or memory"), "{message}");
}

#[tokio::test]
async fn a_stopped_server_leaves_no_gap_in_its_sequences() {
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let settings = ["--data", data.to_str().expect("text"), "--durability", "async"];
    for round in 1..4 {
        let mut served = serve(&settings);
        let client = connect(&served, "u", None).await.expect("connected");
        let create = "CREATE SEQUENCE IF NOT EXISTS s";
        client.batch_execute(create).await.expect("made");
        assert_eq!(values(&client, "SELECT nextval('s')").await, [round.to_string()]);
        drop(client);
        super::harness::signal(&served, "-TERM");
        let ended = tokio::task::spawn_blocking(move || served.process.wait());
        let status = tokio::time::timeout(Duration::from_secs(60), ended).await;
        assert!(status.expect("in time").expect("joined").expect("ended").success());
    }
}
