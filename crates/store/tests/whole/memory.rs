//! The memory limit: a write beyond it fails and changes nothing; reads and deletes succeed.

use super::*;
use crate::test_tables::rows;
use store::Error;

#[test]
fn a_write_beyond_the_limit_is_refused_and_changes_nothing() {
    let limit = 256 << 10;
    let options = Options { memory_limit: Some(limit), background: false, ..Options::default() };
    let (store, id) = store_with(16 << 10, options);
    let text = "x".repeat(500);
    let mut key = 0;
    let refused = loop {
        let mut transaction = store.begin();
        let result = transaction
            .insert(id, &rows(&[(key, &text)]))
            .and_then(|()| transaction.commit().map(drop));
        match result {
            Ok(()) => key += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::OutOfMemory { .. }), "{refused}");
    assert!(key > 100, "{key} rows fit");
    store.check().expect("nothing is accounted for twice");
    assert_eq!(contents(&table_at(&store.snapshot(), id)).len(), key as usize);
    let mut part = store.begin().ingest(id).expect("a table");
    let long = "y".repeat(300);
    let many: Vec<(i64, &str)> = (1000..12_000).map(|key| (key, long.as_str())).collect();
    let refused = part.append(rows(&many)).expect_err("a load is refused too");
    assert!(matches!(refused, Error::OutOfMemory { .. }));
    drop(part);
    let mut transaction = store.begin();
    let gone: Vec<Key> = (0..key / 2).map(key_of).collect();
    transaction.delete(id, &gone).expect("deletes go on");
    transaction.commit().expect("deletes go on");
    (0..4).for_each(|_| store.compact_all());
    let mut transaction = store.begin();
    transaction.insert(id, &rows(&[(0, &text)])).expect("there is room again");
    transaction.commit().expect("there is room again");
    store.check().expect("every invariant holds");
}

/// The sum of what was in use and of more than a computer has began again at zero: later statements found no memory.
#[test]
fn amounts_beyond_all_memory_are_refused_and_leave_no_trace() {
    for limit in [Some(1 << 20), None] {
        let memory = store::Memory::new(limit);
        memory.try_grow_query(100).expect("there is room");
        for bytes in [u64::MAX, u64::MAX - 99, 1 << 63] {
            assert!(matches!(memory.try_grow_query(bytes), Err(Error::OutOfMemory { .. })));
            assert_eq!(memory.query_bytes(), 100);
        }
    }
}
