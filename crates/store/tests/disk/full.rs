//! A full disk: writes fail with 53100 and change nothing, reads go on.

use super::*;
use store::Failure;

fn refused(result: Result<(), Error>) -> Failure {
    match result.expect_err("the disk is full") {
        Error::Failed(failure) => *failure,
        other => panic!("{other}"),
    }
}

#[test]
fn writes_fail_and_change_nothing_and_reads_go_on() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    disk.limit(100 << 10);
    let text = "x".repeat(300);
    let mut key = 0;
    let failure = loop {
        match upsert(&store, id, &[(key, &text)]) {
            Ok(()) => key += 1,
            error => break refused(error),
        }
        assert!(key < 10_000, "the disk is full some time");
    };
    assert_eq!(failure.sql_state, "53100");
    assert!(failure.message.contains("delete other files or grow the disk"), "{failure}");
    assert!(key > 50, "{key} rows were written");
    assert_eq!(found(&store, id).len() as i64, key);
    let many: Vec<(i64, &str)> = (1000..1400).map(|key| (key, text.as_str())).collect();
    assert_eq!(refused(load(&store, id, &many)).sql_state, "53100");
    assert_eq!(found(&store, id).len() as i64, key, "reads go on");
    store.check().expect("every invariant holds");
    let before = digest(&store);
    disk.limit(10 << 20);
    load(&store, id, &many).expect("there is room again");
    let after = digest(&store);
    assert!(after != before);
    drop(store);
    assert_eq!(digest(&open(&disk)), after);
}

#[test]
fn a_checkpoint_without_room_leaves_the_ones_before() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    let text = "x".repeat(300);
    let many: Vec<(i64, &str)> = (0..200).map(|key| (key, text.as_str())).collect();
    store.checkpoint().expect("written");
    upsert(&store, id, &many).expect("written");
    let files = disk.files();
    disk.limit(1 << 10);
    let failure = refused(store.checkpoint().map(drop));
    assert_eq!(failure.sql_state, "53100");
    assert_eq!(disk.files(), files, "nothing unfinished is left");
    disk.limit(10 << 20);
    store.checkpoint().expect("there is room again");
    let before = digest(&store);
    drop(store);
    assert_eq!(digest(&open(&disk)), before);
}

#[test]
fn checkpoints_bound_what_is_on_the_disk() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    let text = "x".repeat(300);
    let mut sizes = Vec::new();
    for round in 0..12 {
        let many: Vec<(i64, &str)> = (0..100).map(|key| (key, text.as_str())).collect();
        for _ in 0..5 {
            upsert(&store, id, &many).expect("written");
        }
        let load_key = 10_000 + round;
        load(&store, id, &[(load_key, "loaded")]).expect("loaded");
        delete(&store, id, &[load_key]).expect("deleted");
        store.compact_all();
        store.checkpoint().expect("written");
        sizes.push(disk.files().len());
    }
    assert!(sizes[11] <= sizes[4] + 3, "files after each round: {sizes:?}");
}
