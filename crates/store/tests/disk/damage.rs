//! Every flipped bit and every truncation of a checkpoint or chunk file is refused with the file, or
//! what is found is exact.

use super::*;
use journal::disk::Disk;
use std::path::{Path, PathBuf};

/// A closed store with two checkpoints and commands after them, and its digest.
fn written() -> (MemoryDisk, String) {
    let disk = MemoryDisk::new();
    let store = open(&disk);
    let id = create(&store, keyed("t")).expect("created");
    load(&store, id, &[(1, "one"), (2, "two"), (3, "three")]).expect("loaded");
    store.checkpoint().expect("written");
    upsert(&store, id, &[(2, "changed"), (4, "four")]).expect("written");
    store.checkpoint().expect("written");
    load(&store, id, &[(10, "ten")]).expect("loaded");
    delete(&store, id, &[3]).expect("deleted");
    let digest = digest(&store);
    drop(store);
    (disk, digest)
}

fn ending(disk: &MemoryDisk, ending: &str) -> Vec<PathBuf> {
    disk.files().into_iter().filter(|path| path.extension().is_some_and(|e| e == ending)).collect()
}

/// Opens a damaged directory; returns whether it was refused.
fn is_refused(disk: &MemoryDisk, expected: &str, path: &Path, what: &str) -> bool {
    match try_open(disk) {
        Ok((store, _)) => {
            assert_eq!(digest(&store), expected, "{what}");
            false
        }
        Err(Error::Failed(failure)) => {
            let text = &failure.message;
            let named = text.contains(&path.display().to_string()) && text.contains("at byte");
            assert!(named, "{what}: {text}");
            true
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

fn damage(path: &Path, disk: &MemoryDisk, expected: &str, step: usize) -> usize {
    let whole = disk.read(path).expect("a file");
    let mut refused = 0;
    for bit in (0..whole.len() * 8).step_by(step) {
        disk.tamper(path, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        let what = format!("bit {bit} of {}", path.display());
        refused += usize::from(is_refused(disk, expected, path, &what));
        disk.tamper(path, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
    }
    for length in (0..whole.len()).step_by(step) {
        disk.tamper(path, |bytes| bytes.truncate(length));
        let what = format!("{length} bytes of {}", path.display());
        refused += usize::from(is_refused(disk, expected, path, &what));
        disk.tamper(path, |bytes| bytes.clone_from(&whole));
    }
    refused
}

#[test]
fn every_damage_of_a_chunk_file_is_refused() {
    let (disk, expected) = written();
    let paths = ending(&disk, "chunks");
    assert!(paths.len() >= 2, "{paths:?}");
    for path in paths {
        let length = disk.read(&path).expect("a file").len();
        let refused = damage(&path, &disk, &expected, 1);
        assert!([0, length * 9].contains(&refused), "{refused} of {length} in {}", path.display());
    }
}

#[test]
fn a_damaged_checkpoint_is_replaced_by_the_one_before() {
    let (disk, expected) = written();
    let paths = ending(&disk, "checkpoint");
    assert_eq!(paths.len(), 2);
    for path in &paths {
        assert_eq!(damage(path, &disk, &expected, 3), 0, "{}", path.display());
    }
    disk.tamper(&paths[1], |bytes| bytes[100] ^= 1);
    let (store, recovery) = try_open(&disk).expect("the one before is used");
    assert_eq!(recovery.checkpoint.map(|(number, _)| number), Some(1));
    assert!(recovery.to_string().contains("the newest checkpoint was not used"), "{recovery}");
    drop(store);
    disk.tamper(&paths[0], |bytes| bytes[100] ^= 1);
    assert!(is_refused(&disk, &expected, &paths[1], "both are damaged"));
}

#[test]
fn a_missing_chunk_file_is_refused_by_name() {
    let (disk, _) = written();
    let last = ending(&disk, "chunks").pop().expect("a load has a file");
    disk.remove(&last).expect("removed");
    let error = try_open(&disk).expect_err("refused").to_string();
    assert!(error.contains(&last.display().to_string()), "{error}");
    assert!(error.contains("the file is missing; restore the data directory"), "{error}");
}
