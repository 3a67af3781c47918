//! A second backup writes what has changed, and leaves the first one as it is.

use super::harness::{connect, files, run, values, world};

#[tokio::test]
async fn unchanged_rows_are_not_written_again() {
    let world = world(&[]);
    let client = connect(&world).await;
    let made = "CREATE TABLE large (id bigint PRIMARY KEY, note text);
                INSERT INTO large SELECT i, 'note ' || i FROM generate_series(1, 1000000) i;
                CREATE TABLE small (id int PRIMARY KEY);
                INSERT INTO small VALUES (1)";
    client.batch_execute(made).await.expect("made");
    let place = world.place();
    let first = world.back_up(&place.url);
    assert!(first.contains(" 0 unchanged"), "{first}");
    let written = files(&place.folder.join("data"));
    assert!(written.len() > 3, "{written:?}");

    let again = world.back_up(&place.url);
    assert!(again.contains("0 files written"), "{again}");
    assert_eq!(files(&place.folder.join("data")), written);

    let changes = "UPDATE large SET note = 'changed' WHERE id = 5; INSERT INTO small VALUES (2)";
    client.batch_execute(changes).await.expect("changed");
    let third = world.back_up(&place.url);
    assert!(third.contains("2 files written"), "{third}");
    assert_eq!(files(&place.folder.join("data")).len(), written.len() + 2);

    let manifests = files(&place.folder.join("backups"));
    assert_eq!(manifests.len(), 3);
    let name = |at: usize| manifests[at].file_stem().expect("a name").to_str().expect("text");
    for (at, expected) in [(0, ["note 5", "1"]), (2, ["changed", "2"])] {
        let data = world.path(&format!("data {at}"));
        let output = run(&["restore", &place.url, "--data", &data, "--backup", name(at)]);
        assert!(output.status.success(), "{}", super::harness::err(&output));
        let restored = super::harness::world(&["--data", &data]);
        let read = "SELECT note FROM large WHERE id = 5; SELECT count(*) FROM small";
        assert_eq!(values(&connect(&restored).await, read).await, expected);
    }
}

/// An interrupted backup has written data files and no manifest.
#[tokio::test]
async fn an_interrupted_backup_leaves_the_earlier_ones() {
    let world = world(&[]);
    let client = connect(&world).await;
    client.batch_execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await.expect("made");
    let place = world.place();
    world.back_up(&place.url);
    client.batch_execute("INSERT INTO t VALUES (2)").await.expect("changed");
    world.back_up(&place.url);
    let manifests = files(&place.folder.join("backups"));
    std::fs::remove_file(&manifests[1]).expect("removed");
    let restored = world.restored(&place.url, "data");
    assert_eq!(values(&connect(&restored).await, "SELECT a FROM t").await, ["1"]);
    let said = world.back_up(&place.url);
    assert!(said.starts_with("Backup 000002-"), "{said}");
}

/// A damaged backup is no reason to make none.
#[tokio::test]
async fn a_backup_after_a_damaged_one_is_complete() {
    let world = world(&[]);
    let client = connect(&world).await;
    client.batch_execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await.expect("made");
    let place = world.place();
    world.back_up(&place.url);
    std::fs::write(&files(&place.folder.join("backups"))[0], "{}").expect("damaged");
    std::fs::remove_dir_all(place.folder.join("data")).expect("removed");
    let said = world.back_up(&place.url);
    assert!(said.contains("1 file written"), "{said}");
    let restored = world.restored(&place.url, "data");
    assert_eq!(values(&connect(&restored).await, "SELECT a FROM t").await, ["1"]);
}
