//! Every truncation and every flipped bit of a small journal is refused, or changes nothing.

use super::*;

/// A journal of two segments that was closed, and its commands.
fn written() -> (MemoryDisk, Commands) {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    for (seed, length) in [(1, 5), (2, 300), (3, 1200), (4, 1), (5, 900), (6, 400), (7, 30)] {
        let position = append(&journal, seed, length).expect("appended");
        journal.wait_committed(position).expect("durable");
    }
    for (seed, length) in [(8, 700), (9, 10)] {
        append(&journal, seed, length).expect("appended");
    }
    drop(journal);
    let expected = commands(&disk).expect("valid");
    assert_eq!(expected.len(), 9);
    (disk, expected)
}

fn segments(disk: &MemoryDisk) -> Vec<PathBuf> {
    disk.files().into_iter().filter(|path| path.extension().is_some_and(|e| e == "log")).collect()
}

/// Checks that a damaged journal is refused with the file, or gives exactly what it contained.
fn check(disk: &MemoryDisk, expected: &Commands, what: &str, path: &Path) -> bool {
    match commands(disk) {
        Ok(found) => {
            assert_eq!(found, *expected, "{what}");
            false
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(&path.display().to_string()), "{what}: {text}");
            assert!(matches!(error, Error::Damaged { .. } | Error::Newer { .. }), "{what}: {text}");
            true
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_or_changes_nothing() {
    let (disk, expected) = written();
    let mut refused = 0;
    for path in segments(&disk) {
        let length = disk.read(&path).expect("a file").len();
        for byte in 0..length {
            // All bits of headers and records; of long stretches of equal meaning a few.
            for bit in (0..8).filter(|bit| byte < 700 || (byte + bit) % 5 == 0) {
                disk.tamper(&path, |bytes| bytes[byte] ^= 1 << bit);
                let what = format!("bit {bit} of byte {byte} of {}", path.display());
                refused += u32::from(check(&disk, &expected, &what, &path));
                disk.tamper(&path, |bytes| bytes[byte] ^= 1 << bit);
            }
        }
    }
    assert!(refused > 5000, "{refused} flips were refused");
    assert_eq!(commands(&disk).expect("valid"), expected);
}

#[test]
fn every_truncation_is_refused_or_changes_nothing() {
    let (disk, expected) = written();
    for path in segments(&disk) {
        let whole = disk.read(&path).expect("a file");
        for length in 0..whole.len() {
            disk.tamper(&path, |bytes| bytes.truncate(length));
            check(&disk, &expected, &format!("{length} bytes of {}", path.display()), &path);
            disk.tamper(&path, |bytes| bytes.clone_from(&whole));
        }
    }
}

#[test]
fn a_sector_of_zeros_within_what_was_durable_is_refused() {
    let (disk, expected) = written();
    for path in segments(&disk).into_iter().take(1) {
        let whole = disk.read(&path).expect("a file");
        for sector in 0..whole.len() / 512 {
            disk.tamper(&path, |bytes| bytes[sector * 512..sector * 512 + 512].fill(0));
            check(&disk, &expected, &format!("sector {sector}"), &path);
            disk.tamper(&path, |bytes| bytes.clone_from(&whole));
        }
    }
}

#[test]
fn a_missing_a_renamed_and_a_foreign_segment_are_refused() {
    let (disk, _) = written();
    let paths = segments(&disk);
    let (first, second) = (paths[0].clone(), paths[1].clone());
    let (one, two) = (disk.read(&first).expect("a file"), disk.read(&second).expect("a file"));
    let refused = |disk: &MemoryDisk| commands(disk).expect_err("refused").to_string();

    disk.tamper(&first, |bytes| bytes.clone_from(&two));
    assert!(refused(&disk).contains("was segment 2 and was renamed"), "{}", refused(&disk));
    disk.tamper(&first, |bytes| bytes.clone_from(&one));

    let other = MemoryDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(other.clone());
    drop(
        Directory::open_or_create(&shared, Path::new(HOME), "a test", NewDirectory::alone(8), &[])
            .expect("created"),
    );
    let (journal, ..) = start(&other, small()).expect("it starts");
    append(&journal, 1, 5).expect("appended");
    drop(journal);
    let foreign = other.read(&first).expect("a file");
    disk.tamper(&first, |bytes| bytes.clone_from(&foreign));
    assert!(refused(&disk).contains("belongs to another data directory"), "{}", refused(&disk));
    disk.tamper(&first, |bytes| bytes.clone_from(&one));

    disk.remove(&first).expect("removed");
    assert!(refused(&disk).contains("records after position 0 are missing"), "{}", refused(&disk));
}
