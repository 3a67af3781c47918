//! What is refused, with a SQLSTATE and what is wrong.

use super::harness::{
    World, connect, err, failure, files, guarded_world, pando, refusal, run, values, world,
    world_of,
};
use std::fs;
use std::time::{Duration, Instant};

async fn small_world() -> World {
    let world = world(&[]);
    let client = connect(&world).await;
    client.batch_execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await.expect("made");
    world
}

#[tokio::test]
async fn places_that_keep_nothing_are_refused() {
    let world = small_world().await;
    let client = connect(&world).await;
    for (url, code) in [
        ("memory:///", "22023"),
        ("ftp://example.com/x", "22023"),
        ("https://example.com/x", "22023"),
        ("/backups", "22023"),
        ("file:///proc/backups", "58030"),
    ] {
        let (found, message) = refusal(&client, &format!("SELECT pando.backup('{url}')")).await;
        assert_eq!(found, code, "{url}: {message}");
        assert!(message.contains(url.trim_end_matches('/')), "{url}: {message}");
        let said = failure(&["backup", url, "--server", &world.url]);
        assert!(said.contains(code), "{url}: {said}");
    }
    let unknown = failure(&["restore", "ftp://example.com/x", "--data", &world.path("data")]);
    assert!(unknown.contains("22023") && unknown.contains("HINT"), "{unknown}");
    assert_eq!(run(&["restore", "file:///x"]).status.code(), Some(2));
    assert_eq!(values(&client, "SELECT pando.backup(NULL) IS NULL").await, ["t"]);
}

#[tokio::test]
async fn a_cluster_is_refused() {
    let world = world(&["--cluster", "127.0.0.1:0"]);
    let client = connect(&world).await;
    client.batch_execute("CREATE TABLE t (a int)").await.expect("made");
    let url = world.place().url;
    let (code, message) = refusal(&client, &format!("SELECT pando.backup('{url}')")).await;
    assert!(code == "0A000" && message.contains("cluster"), "{message}");
    let sql = format!("SELECT pando.restore_table('{url}', 't')");
    assert_eq!(refusal(&client, &sql).await.0, "58P01");
}

#[tokio::test]
async fn only_superusers_make_backups() {
    let world = guarded_world();
    let said = |user: &str| {
        let url = world.url.replace("ada", user) + "?sslmode=require";
        let output = pando()
            .args(["backup", &world.place().url, "--server", &url])
            .env("PGPASSWORD", "right")
            .output();
        let output = output.expect("runs");
        (output.status.success(), err(&output))
    };
    let create = [
        "sql",
        &format!("{}?sslmode=require", world.url),
        "-c",
        "CREATE ROLE eve LOGIN PASSWORD 'right'",
    ];
    let created = pando().args(create).env("PGPASSWORD", "right").output();
    assert!(created.expect("runs").status.success());
    let (done, error) = said("eve");
    assert!(!done && error.contains("42501"), "{error}");
    let (done, error) = said("ada");
    assert!(done, "{error}");
}

#[tokio::test]
async fn damage_is_refused_by_the_name_of_the_file() {
    let world = small_world().await;
    let place = world.place();
    world.back_up(&place.url);
    let data = files(&place.folder.join("data")).remove(0);
    let manifest = files(&place.folder.join("backups")).remove(0);
    let path = world.path("restored");
    let restore = || failure(&["restore", &place.url, "--data", &path]);
    for file in [&data, &manifest] {
        let name = file.file_name().expect("a name").to_str().expect("text");
        let good = fs::read(file).expect("read");
        for position in [0, good.len() / 2, good.len() - 1] {
            let mut bad = good.clone();
            bad[position] ^= 1;
            fs::write(file, &bad).expect("written");
            let said = restore();
            assert!(said.contains(name) && said.contains("XX001"), "{said}");
        }
        fs::write(file, &good[..good.len() - 1]).expect("written");
        assert!(restore().contains("XX001"));
        fs::remove_file(file).expect("removed");
        let said = restore();
        assert!(said.contains("58P01"), "{said}");
        fs::write(file, &good).expect("written");
    }
    // Nothing is left of what failed.
    assert!(!fs::exists(&path).expect("asked"));
    assert!(run(&["restore", &place.url, "--data", &path]).status.success());
}

#[tokio::test]
async fn a_newer_format_and_a_used_directory_are_refused() {
    let world = small_world().await;
    let place = world.place();
    let path = world.path("data");
    let none = failure(&["restore", &place.url, "--data", &path]);
    assert!(none.contains("there is no backup at") && none.contains("58P01"), "{none}");
    world.back_up(&place.url);
    let unknown = failure(&["restore", &place.url, "--data", &path, "--backup", "000007-x"]);
    assert!(unknown.contains("only: 000001-"), "{unknown}");

    let foreign = world.file("notes.txt", "mine");
    let said =
        failure(&["restore", &place.url, "--data", world.folder.path().to_str().expect("text")]);
    assert!(said.contains("is not empty") && fs::exists(foreign).expect("asked"), "{said}");
    let left = world.path("left");
    fs::create_dir_all(world.path("left/restoring")).expect("made");
    let said = failure(&["restore", &place.url, "--data", &left]);
    assert!(said.contains("a restore that was interrupted has left"), "{said}");
    let folder = world.path("used");
    fs::create_dir(&folder).expect("made");
    assert!(
        run(&["restore", &place.url, "--data", &folder]).status.success(),
        "an empty directory"
    );
    let used = failure(&["restore", &place.url, "--data", &folder]);
    assert!(used.contains("is not empty") && used.contains("55006"), "{used}");
    let lost = failure(&["restore", &place.url, "--data", &world.path("no/such")]);
    assert!(lost.contains("58030"), "{lost}");

    let manifest = files(&place.folder.join("backups")).remove(0);
    let text = fs::read_to_string(&manifest).expect("read");
    let newer = text.replace("\"format\": 1", "\"format\": 2");
    assert_ne!(newer, text);
    let (digest, bytes) = (sha256(newer.as_bytes()), newer.as_bytes());
    let renamed =
        manifest.with_file_name(format!("000002-20990101T000000Z-{}.json", &digest[..32]));
    fs::write(renamed, bytes).expect("written");
    let said = failure(&["restore", &place.url, "--data", &path]);
    assert!(said.contains("format 2") && said.contains("0A000"), "{said}");
}

/// The SHA-256 of bytes, as the server computes it.
fn sha256(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let sql = format!("SELECT encode(sha256('\\x{hex}'::bytea), 'hex') AS digest");
    let output = pando().args(["sql", "--csv", "-c", &sql]).output();
    let text = String::from_utf8(output.expect("runs").stdout).expect("text");
    text.lines().nth(1).expect("a row").to_owned()
}

#[tokio::test]
async fn a_backup_ends_with_its_statement() {
    let mut command = pando();
    // Nobody listens there: the object store is asked again and again.
    for (name, value) in [
        ("AWS_ENDPOINT", "http://127.0.0.1:1"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
    ] {
        command.env(name, value);
    }
    let world = world_of(command, &[]);
    let client = connect(&world).await;
    let process = values(&client, "SELECT pg_backend_pid()").await.remove(0);
    client.batch_execute("SET statement_timeout = 1000").await.expect("set");
    let begun = Instant::now();
    let refused = refusal(&client, "SELECT pando.backup('s3://bucket/x')");
    let seen = async {
        let other = connect(&world).await;
        let sql = format!("SELECT pando.backup_progress({process})");
        loop {
            let found = values(&other, &sql).await.remove(0);
            if found != "NULL" {
                break found;
            }
        }
    };
    let ((code, _), seen) = tokio::join!(refused, seen);
    assert_eq!((code.as_str(), seen.as_str()), ("57014", "{\"rows\": 0, \"total\": 0}"));
    assert!(begun.elapsed() < Duration::from_secs(10));
    let sql = format!("SELECT pando.backup_progress({process})");
    assert_eq!(values(&client, &sql).await, ["NULL"]);
}
