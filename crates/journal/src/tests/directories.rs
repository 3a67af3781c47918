//! Which directories are opened, and which are refused with what to do.

use super::*;
use crate::directory::IDENTITY;

fn refused(disk: &MemoryDisk) -> String {
    open(disk).expect_err("it is refused").to_string()
}

#[test]
fn a_new_directory_is_created_and_found_again() {
    let disk = MemoryDisk::new();
    let set = open(&disk).expect("created").set();
    assert_eq!(open(&disk).expect("found").set(), set);
    let identity = disk.read(&home().join(IDENTITY)).expect("it is there");
    assert_eq!(
        String::from_utf8_lossy(&identity),
        "pando data directory\nformat 1\nset 0000000000000007\nchecksum cdd09dd9\n"
    );
}

#[test]
fn a_second_server_is_refused_and_told_who_is_there() {
    let disk = MemoryDisk::new();
    let _first = open(&disk).expect("created");
    let error = open(&disk).expect_err("in use");
    assert_eq!(error.sqlstate(), "55006");
    assert_eq!(error.to_string(), "the data directory /data is in use by a test; stop it first");
}

#[test]
fn a_directory_that_another_server_is_creating_is_in_use() {
    let disk = MemoryDisk::new();
    disk.create_directory(&home()).expect("created");
    let lock = disk.lock(&home().join("LOCK"), "another").expect("locked");
    assert!(refused(&disk).contains("in use by another"), "{}", refused(&disk));
    drop(lock);
    assert!(refused(&disk).contains("its creation was interrupted"), "{}", refused(&disk));
}

#[test]
fn data_without_an_identity_is_not_called_superfluous() {
    let disk = MemoryDisk::new();
    drop(open(&disk).expect("created"));
    disk.tamper(&home().join("journal/0000000001.log"), |file| file.extend(b"data"));
    disk.remove(&home().join("IDENTITY")).expect("removed");
    let text = refused(&disk);
    assert!(text.contains("the file IDENTITY is missing; keep what is there"), "{text}");
}

#[test]
fn an_empty_directory_may_be_a_missing_mount() {
    let disk = MemoryDisk::new();
    disk.create_directory(&home()).expect("created");
    let text = refused(&disk);
    assert!(text.contains("is empty; mount the disk") && text.contains("/data/pando"), "{text}");
    disk.tamper(&home().join("lost+found"), |_| ());
    assert!(refused(&disk).contains("is empty; mount the disk"));
}

#[test]
fn a_directory_of_something_else_is_refused_by_what_is_in_it() {
    let disk = MemoryDisk::new();
    disk.create_directory(&home()).expect("created");
    disk.tamper(&home().join("PG_VERSION"), |_| ());
    let text = refused(&disk);
    assert!(text.contains("contains PG_VERSION and no IDENTITY"), "{text}");
}

#[test]
fn an_interrupted_creation_is_named_at_every_step() {
    for fault in 0..8 {
        let disk = MemoryDisk::new();
        disk.plan(crate::disk::Fault::Sync(fault));
        if open(&disk).is_ok() {
            assert!(fault >= 3, "creation syncs several times");
            continue;
        }
        for seed in 0..20 {
            let left = disk.crash(seed);
            match open(&left) {
                Ok(directory) => {
                    let found = read_after(&directory, Position::ZERO).expect("a whole directory");
                    assert!(found.0.is_empty());
                }
                Err(error) => {
                    let expected = matches!(error, Error::Incomplete { .. } | Error::Empty { .. });
                    assert!(expected, "{error}");
                }
            }
        }
    }
}

#[test]
fn a_missing_part_and_a_newer_format_are_refused() {
    let disk = MemoryDisk::new();
    drop(open(&disk).expect("created"));
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let parts = Directory::open_or_create(
        &shared,
        &home(),
        "a test",
        NewDirectory::alone(7),
        &["checkpoints"],
    );
    let text = parts.expect_err("a part is missing").to_string();
    assert!(text.contains("the directory checkpoints is missing"), "{text}");

    let lines = "pando data directory\nformat 9\nset 0000000000000007\n";
    let newer = format!("{lines}checksum {:08x}\n", crc32c::crc32c(lines.as_bytes()));
    disk.tamper(&home().join(IDENTITY), |bytes| *bytes = newer.into_bytes());
    assert!(refused(&disk).contains("has format 9, and this program reads formats up to 2"));
}

#[test]
fn every_flipped_bit_of_the_identity_is_refused() {
    let disk = MemoryDisk::new();
    drop(open(&disk).expect("created"));
    let file = home().join(IDENTITY);
    let length = disk.read(&file).expect("it is there").len();
    for bit in 0..length * 8 {
        disk.tamper(&file, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
        assert!(refused(&disk).contains("IDENTITY is damaged"), "bit {bit}: {}", refused(&disk));
        disk.tamper(&file, |bytes| bytes[bit / 8] ^= 1 << (bit % 8));
    }
    for length in 0..length {
        let left = MemoryDisk::new();
        drop(open(&left).expect("created"));
        left.tamper(&file, |bytes| bytes.truncate(length));
        assert!(refused(&left).contains("IDENTITY is damaged"), "{length}: {}", refused(&left));
    }
}
