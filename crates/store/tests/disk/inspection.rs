//! What an inspection says of the directory of a store: sound, and with every kind of damage.

use super::*;
use std::path::{Path, PathBuf};
use store::inspection::{Inspection, inspect};
use store::journal::Error;
use store::journal::disk::Disk;

/// A directory with two checkpoints, chunks of both, and commands after them, some with chunks.
fn written() -> MemoryDisk {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = TableId(store.next_relation_id().0);
    let table = Table { id, ..keyed("t") };
    let mut transaction = store.begin();
    let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
    transaction.change_catalog(create).expect("a new name");
    transaction.commit().expect("nobody else is there");
    for round in 0..3i64 {
        let values: Vec<String> = (0..100).map(|n| format!("{n:03}").repeat(n % 7)).collect();
        let some = |from: i64| -> Vec<(i64, &str)> {
            (from..from + 50).map(|key| (round * 100 + key, &*values[key as usize])).collect()
        };
        load(&store, id, &some(0)).expect("new keys");
        upsert(&store, id, &some(50)).expect("written");
        delete(&store, id, &[round * 100 + 7]).expect("deleted");
        if round < 2 {
            store.checkpoint().expect("written");
        }
    }
    drop(store);
    disk
}

fn look(disk: &MemoryDisk) -> Inspection {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    inspect(&disk, Path::new(HOME), |_| ()).expect("it is a data directory")
}

fn path(name: &str) -> PathBuf {
    Path::new(HOME).join(name)
}

/// The files and offsets of the damages.
fn places(found: &Inspection) -> Vec<(PathBuf, u64)> {
    let place = |error: &Error| match error {
        Error::Damaged { path, offset, .. } => (path.clone(), *offset),
        other => panic!("{other}"),
    };
    found.damages.iter().map(place).collect()
}

/// The same files on another disk.
fn copy(disk: &MemoryDisk) -> MemoryDisk {
    let copy = MemoryDisk::new();
    for directory in ["", "journal", "chunks", "checkpoints"] {
        copy.create_directory(&path(directory)).expect("made");
    }
    for file in disk.files() {
        copy.tamper(&file, |bytes| *bytes = disk.read(&file).expect("a file"));
    }
    copy
}

#[test]
fn a_sound_directory_is_described() {
    let disk = written();
    let found = look(&disk);
    assert!(found.damages.is_empty() && found.others.is_empty(), "{found:?}");
    assert_eq!(found.checkpoints.len(), 2);
    let contents = |at: usize| found.checkpoints[at].contents.as_ref().expect("valid");
    let position = |at: usize| found.checkpoints[at].summary.as_ref().expect("valid").position;
    assert_eq!((contents(0).tables, contents(0).rows, contents(1).rows), (1, 99, 198));
    assert!(position(0) < position(1) && position(1) < found.log.last);
    assert!(found.commands["commit"] >= 3, "{:?}", found.commands);
    assert!(found.chunks.len() >= 3, "{:?}", found.chunks);
    assert!(found.chunks.iter().all(|file| file.is_referenced && file.rows > 0));
}

#[test]
fn a_missing_chunk_file_is_found_through_what_refers_to_it() {
    let disk = written();
    let found = look(&disk);
    let in_checkpoint = &found.checkpoints[1].summary.as_ref().expect("valid").files;
    let of_log = found.chunks.iter().find(|file| !in_checkpoint.contains(&file.number));
    let of_log = &of_log.expect("the last load").file;
    let of_checkpoint = &found.chunks[0].file;
    for file in [of_log, of_checkpoint] {
        let left = copy(&disk);
        left.remove(file).expect("removed");
        let found = look(&left);
        assert_eq!(places(&found), [(file.clone(), 0)], "{:?}", found.damages);
        let missing: Vec<&PathBuf> =
            found.chunks.iter().filter(|one| one.is_missing).map(|one| &one.file).collect();
        assert_eq!(missing, [file]);
    }
}

#[test]
fn files_that_nothing_refers_to_are_named_and_are_no_damage() {
    let disk = written();
    disk.tamper(&path("checkpoints/0000000009.checkpoint.new"), |bytes| bytes.push(1));
    disk.tamper(&path("notes.txt"), |bytes| bytes.push(1));
    let found = look(&disk);
    assert!(found.damages.is_empty(), "{:?}", found.damages);
    let others = [path("notes.txt"), path("checkpoints/0000000009.checkpoint.new")];
    assert_eq!(found.others, others);
}

/// A flip in the header of the first block or segment and one in what follows, of every file.
#[test]
fn every_damaged_file_is_named_at_once() {
    let disk = written();
    let files: Vec<PathBuf> = disk
        .files()
        .into_iter()
        .filter(|file| file.parent() != Some(Path::new(HOME)))
        .filter(|file| disk.read(file).expect("a file").iter().any(|byte| *byte != 0))
        .collect();
    files.iter().for_each(|file| disk.tamper(file, |bytes| bytes[70] ^= 1));
    let found = look(&disk);
    for file in &files {
        assert!(places(&found).iter().any(|(of, _)| of == file), "{file:?}: {:?}", found.damages);
    }
    assert!(found.checkpoints.iter().all(|checkpoint| checkpoint.contents.is_none()));
}

/// A start reads less than an inspection: what it refuses is a damage.
#[test]
fn whatever_a_start_refuses_is_a_damage() {
    let disk = written();
    let mut refused = 0;
    for file in disk.files() {
        let length = disk.read(&file).expect("a file").len().min(4000);
        for byte in (0..length).step_by(97) {
            let left = copy(&disk);
            left.tamper(&file, |bytes| bytes[byte] ^= 1 << (byte % 8));
            let shared: Arc<dyn Disk> = Arc::new(left.clone());
            let inspected = inspect(&shared, Path::new(HOME), |_| ());
            let is_sound = inspected.is_ok_and(|found| found.damages.is_empty());
            if let Err(error) = try_open(&left) {
                assert!(!is_sound, "byte {byte} of {}: {error}", file.display());
                refused += 1;
            }
        }
    }
    assert!(refused > 20, "{refused} were refused");
}
