//! What is there after a restart, and what is not.

use super::*;
use catalog::{Column, ColumnId, Schema, Sequence, SqlType, temporary_schema};
use sdds::Timestamp;

#[test]
fn a_restart_finds_rows_loads_definitions_and_buckets_again() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    let other = create(&store, keyed("other")).expect("created");
    let text = "a text of some length, so that buckets split".repeat(2);
    let many: Vec<(i64, &str)> = (0..300).map(|key| (key, text.as_str())).collect();
    load(&store, id, &many).expect("loaded");
    upsert(&store, id, &[(5, "changed"), (1000, "new")]).expect("written");
    delete(&store, id, &[7, 8]).expect("deleted");
    load(&store, id, &[(7, "again"), (2000, "loaded")]).expect("loaded over a tombstone");
    upsert(&store, other, &[(1, "one")]).expect("written");
    let mut transaction = store.begin();
    transaction.change_catalog(CatalogChange::Truncate(other)).expect("truncated");
    transaction.upsert(other, &rows(&[(2, "two")])).expect("written");
    transaction.commit().expect("committed");
    assert!(store.counters().splits > 3);
    let before = digest(&store);
    drop(store);

    let (store, recovery) = try_open(&disk).expect("opened");
    assert_eq!(digest(&store), before);
    assert_eq!((recovery.tables, recovery.rows), (2, 302));
    assert!(recovery.commands > 8 && recovery.checkpoint.is_none() && recovery.cut.is_none());
    let text = recovery.to_string();
    assert!(text.starts_with("recovered 302 rows of 2 tables: "), "{text}");

    store.checkpoint().expect("written");
    upsert(&store, id, &[(6, "after")]).expect("written");
    let before = digest(&store);
    drop(store);
    let (store, recovery) = try_open(&disk).expect("opened");
    assert_eq!(digest(&store), before);
    assert_eq!(recovery.checkpoint.map(|(number, _)| number), Some(1));
    assert!(recovery.commands < 3, "{recovery}");
    let third = create(&store, keyed("third")).expect("created");
    assert!(third > other && third > id, "ids are not used again");
}

#[test]
fn a_second_store_is_refused() {
    let disk = MemoryDisk::new();
    let _store = open(&disk);
    let error = try_open(&disk).expect_err("in use");
    let Error::Failed(failure) = error else { panic!("{error}") };
    assert_eq!(failure.sql_state, "55006");
    assert!(failure.message.contains("in use by a test"), "{}", failure.message);
}

#[test]
fn temporary_relations_end_with_the_server() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    let schema = temporary_schema(1);
    let mut transaction = store.begin();
    let create_schema = Schema { name: schema.clone(), comment: None };
    transaction.change_catalog(CatalogChange::CreateSchema(create_schema)).expect("created");
    transaction.commit().expect("committed");
    let records = store.counters().log_position;
    let temporary = create(&store, Table { schema, ..keyed("temporary") }).expect("created");
    let text = "x".repeat(500);
    for key in 0..60 {
        upsert(&store, temporary, &[(key, &text)]).expect("written");
    }
    let mut both = store.begin();
    both.upsert(id, &rows(&[(1, "stays")])).expect("written");
    both.upsert(temporary, &rows(&[(1, "goes")])).expect("written");
    both.commit().expect("committed");
    assert!(store.counters().log_position > records + 60);
    assert!(store.bucket_infos(temporary).len() > 1, "it has split");
    upsert(&store, id, &[(2, "stays too")]).expect("written");
    let before = digest(&store);
    drop(store);
    let (store, recovery) = try_open(&disk).expect("opened");
    assert_eq!(
        digest(&store).lines().skip(1).collect::<Vec<_>>(),
        before.lines().skip(1).collect::<Vec<_>>()
    );
    assert_eq!(recovery.commands, 3, "a table and two rows");
    assert!(store.catalog().schema("pg_temp_1").is_none());
}

#[test]
fn a_sequence_skips_values_and_never_repeats_one() {
    let disk = MemoryDisk::new();
    let sequence = Sequence {
        id: catalog::RelationId(9),
        schema: "public".to_owned(),
        name: "q".to_owned(),
        start: 1,
        increment: 1,
        min: 1,
        max: 500,
        cycle: false,
        owned_by: None,
        comment: None,
    };
    let store = open(&disk);
    let mut transaction = store.begin();
    let create = CatalogChange::Create(Relation::Sequence(Arc::new(sequence.clone())));
    transaction.change_catalog(create).expect("a new name");
    transaction.commit().expect("committed");
    assert_eq!(store.sequence_last(&sequence).expect("here"), None);
    let before = store.counters().log_position;
    let values: Vec<i64> =
        (0..60).map(|_| store.sequence_next(&sequence, 1).expect("a value")).collect();
    assert_eq!(values, (1..=60).collect::<Vec<_>>());
    assert_eq!(store.counters().log_position, before + 1, "one command for all");
    assert_eq!(store.sequence_next(&sequence, 10).expect("values"), 61);
    assert_eq!(store.sequence_last(&sequence).expect("here"), Some(70));
    let disk = disk.kill();
    drop(store);

    let store = open(&disk);
    let next = store.sequence_next(&sequence, 1).expect("a value");
    assert!((71..=71 + 64).contains(&next), "{next}");
    store.settle_sequences().expect("logged");
    drop(store);
    let store = open(&disk);
    assert_eq!(store.sequence_next(&sequence, 1).expect("a value"), next + 1, "nothing is skipped");
    store.sequence_set(&sequence, 400, true).expect("set");
    drop(store);
    let store = open(&disk);
    assert_eq!(store.sequence_next(&sequence, 100).expect("values"), 401);
    assert!(matches!(store.sequence_next(&sequence, 1), Err(Error::SequenceExhausted { .. })));
}

#[test]
fn row_ids_are_not_used_again() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    let first = store.allocate_row_ids(10);
    upsert(&store, id, &[(first, "a row id")]).expect("written");
    drop(store);
    let store = open(&disk);
    assert!(store.allocate_row_ids(1) >= first + 10);
}

#[test]
fn an_altered_table_reads_rows_of_all_its_layouts_after_a_restart() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    load(&store, id, &[(1, "in a chunk")]).expect("loaded");
    upsert(&store, id, &[(2, "in the delta")]).expect("written");
    let mut transaction = store.begin();
    let mut table = Table::clone(transaction.catalog().table_by_id(id).expect("the table"));
    let missing: ArrayRef = Arc::new(Int64Array::from(vec![7]));
    table.columns.push(Column {
        id: ColumnId(2),
        name: "extra".to_owned(),
        sql_type: SqlType::BigInt,
        missing: Some(missing),
        ..table.columns[1].clone()
    });
    table.columns[1].name = "renamed".to_owned();
    table.version += 1;
    transaction
        .change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(table))))
        .expect("valid");
    transaction.commit().expect("committed");
    drop(store);
    for makes_checkpoint in [false, true, true] {
        if makes_checkpoint {
            open(&disk).checkpoint().expect("written");
        }
        let store = open(&disk);
        let view = table_at(&store.snapshot(), id);
        for (key, text) in [(1, "in a chunk"), (2, "in the delta")] {
            let row = view.get(&key_of(key), &[1, 2]).expect("owned here").expect("a row");
            assert_eq!(row[0].as_string_view().value(0), text);
            assert_eq!(row[1].as_primitive::<Int64Type>().value(0), 7);
        }
    }
}

#[test]
fn nothing_is_visible_before_it_is_durable() {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    upsert(&store, id, &[(1, "durable")]).expect("written");
    let (_, syncs) = disk.operations();
    disk.plan(journal::disk::Fault::Sync(syncs));
    let error = upsert(&store, id, &[(2, "lost")]).expect_err("the sync failed");
    let Error::Failed(failure) = error else { panic!("{error}") };
    assert_eq!(failure.sql_state, "58030");
    assert_eq!(found(&store, id).len(), 1, "readers never saw it");
    let error = upsert(&store, id, &[(1, "conflict")]).expect_err("the log has stopped");
    assert!(error.to_string().contains("the log has stopped"), "{error}");
}

#[test]
fn asynchronous_commits_are_visible_at_once_and_durable_soon() {
    let disk = MemoryDisk::new();
    let mut asynchronous = data(&disk);
    asynchronous.journal.durability = Durability::Async;
    let (store, _) = Store::open_durable(&quiet(), asynchronous).expect("opened");
    let id = create(&store, keyed("t")).expect("created");
    upsert(&store, id, &[(1, "one")]).expect("written");
    assert_eq!(found(&store, id).len(), 1);
    let timestamp = store.snapshot().timestamp();
    drop(store);
    let store = open(&disk);
    assert_eq!((found(&store, id).len(), store.snapshot().timestamp()), (1, timestamp));
    assert!(timestamp > Timestamp(1));
}

#[test]
fn many_threads_find_their_commits_and_a_restart_does_too() {
    let disk = MemoryDisk::new();
    let (store, _) = Store::open_durable(&Options::default(), data(&disk)).expect("opened");
    let id = create(&store, keyed("t")).expect("created");
    let text = "x".repeat(60);
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let (store, text) = (&store, &text);
            scope.spawn(move || {
                for step in 0..150 {
                    let key = thread * 1000 + step;
                    upsert(store, id, &[(key, text)]).expect("nobody else writes the key");
                    assert!(table_at(&store.snapshot(), id).contains(&key_of(key)).expect("here"));
                    loop {
                        // All threads write one row: conflicts with commits that are not published
                        // yet are seen by the next snapshot.
                        match upsert(store, id, &[(-1, text)]) {
                            Ok(()) => break,
                            Err(error) => assert!(error.is_retryable(), "{error}"),
                        }
                    }
                }
            });
        }
    });
    store.checkpoint().expect("written");
    store.check().expect("every invariant holds");
    let before = digest(&store);
    drop(store);
    // The background threads may still hold it for a moment.
    let mut again = try_open(&disk);
    while again.is_err() {
        std::thread::sleep(std::time::Duration::from_millis(5));
        again = try_open(&disk);
    }
    let (store, _) = again.expect("opened");
    assert_eq!(digest(&store), before);
}

/// Otherwise the journal of a server that is restarted often would grow without end.
#[test]
fn checkpoints_count_what_earlier_processes_wrote() {
    let mut disk = MemoryDisk::new();
    let checkpoint_bytes = 4_000;
    for life in 0..10i64 {
        let often = Data { checkpoint_bytes, ..data(&disk) };
        let (store, _) = Store::open_durable(&Options::default(), often).expect("opened");
        let known = store.catalog().relation("public", "t").map(|table| TableId(table.id().0));
        let id = known.unwrap_or_else(|| create(&store, keyed("t")).expect("created"));
        upsert(&store, id, &[(life, &"x".repeat(1_000))]).expect("written");
        let next = disk.crash(life as u64);
        drop(store);
        disk = next;
    }
    let often = Data { checkpoint_bytes, ..data(&disk) };
    let (store, _) = Store::open_durable(&Options::default(), often).expect("opened");
    let mut looks = 0;
    while store.kept_checkpoints().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
        looks += 1;
        assert!(looks < 1_000, "no checkpoint");
    }
    let (_, recovery) = try_open(&disk.crash(0)).expect("opened");
    assert!(recovery.checkpoint.is_some());
}

/// A checkpoint that is ahead of the journal would make the directory invalid.
#[test]
fn a_checkpoint_waits_until_the_journal_is_durable() {
    for seed in 0..10 {
        let disk = MemoryDisk::new();
        let mut slow = data(&disk);
        slow.journal.durability = Durability::Async;
        slow.journal.interval = std::time::Duration::from_secs(3600);
        let (store, _) = Store::open_durable(&quiet(), slow).expect("opened");
        let id = create(&store, keyed("t")).expect("created");
        upsert(&store, id, &[(1, "one")]).expect("written");
        store.checkpoint().expect("written");
        upsert(&store, id, &[(2, "lost with the interval")]).expect("written");
        let left = disk.crash(seed);
        assert_eq!(found(&open(&left), id), [(1, "one".to_owned())].into());
    }
}

/// Chunk files are written before their commits, and removed by checkpoints: one that was removed too
/// early would make a later start fail.
#[test]
fn checkpoints_during_loads_and_compactions_lose_nothing() {
    let mut disk = MemoryDisk::new();
    for round in 0..4i64 {
        let (store, _) = Store::open_durable(&Options::default(), data(&disk)).expect("opened");
        let known = store.catalog().relation("public", "t").map(|table| TableId(table.id().0));
        let id = known.unwrap_or_else(|| create(&store, keyed("t")).expect("created"));
        let before = found(&store, id).len();
        std::thread::scope(|scope| {
            for thread in 0..3i64 {
                let store = &store;
                scope.spawn(move || {
                    for step in 0..25 {
                        let first = ((round * 3 + thread) * 25 + step) * 10;
                        let pairs: Vec<(i64, &str)> =
                            (first..first + 10).map(|key| (key, "loaded")).collect();
                        load(store, id, &pairs).expect("nobody else has the keys");
                        delete(store, id, &[first]).expect("nobody else has the key");
                    }
                });
            }
            for _ in 0..2 {
                let store = &store;
                scope.spawn(move || {
                    for _ in 0..15 {
                        store.compact_all();
                        store.checkpoint().expect("written");
                    }
                });
            }
        });
        store.check().expect("every invariant holds");
        let rows = found(&store, id);
        assert_eq!(rows.len(), before + 3 * 25 * 9);
        disk = disk.crash(round.cast_unsigned());
        assert_eq!(found(&open(&disk), id), rows);
    }
}
