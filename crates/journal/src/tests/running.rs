//! A journal that works: order, groups of commits, retention, waiting.

use super::*;
use crate::disk::RealDisk;
use parking_lot::Mutex;
use std::time::Duration;

#[test]
fn what_was_appended_is_read_back_in_order_and_continued() {
    let disk = MemoryDisk::new();
    let mut expected = Vec::new();
    for round in 0..4u64 {
        let (journal, found, recovered) = start(&disk, small()).expect("it starts");
        let bodies: Vec<(u16, Vec<u8>)> =
            found.iter().map(|(_, kind, body)| (*kind, body.clone())).collect();
        assert_eq!(bodies, expected);
        assert_eq!(recovered.cut, None);
        for seed in round * 40..round * 40 + 40 {
            let length = (seed as usize * 37) % 1300;
            let position = append(&journal, seed, length).expect("appended");
            expected.push(appended(seed, length));
            if seed % 5 == 0 {
                journal.wait_committed(position).expect("durable");
                assert!(journal.durable_position() >= position);
            }
        }
    }
    assert!(disk.files().len() > 10, "several segments: {:?}", disk.files());
}

#[test]
fn a_long_command_takes_several_records() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    let first = append(&journal, 1, 10_000).expect("appended");
    let second = append(&journal, 2, 3).expect("appended");
    assert!(first > Position(20) && second == first.next(), "{first} {second}");
    drop(journal);
    let found = commands(&disk).expect("valid");
    let (one, two) = (appended(1, 10_000), appended(2, 3));
    assert_eq!(found, [(first.0, one.0, one.1), (second.0, two.0, two.1)]);
    let after = read_after(&open(&disk).expect("opened"), first).expect("valid").0;
    assert_eq!(after.len(), 1);
}

#[test]
fn the_listener_is_told_before_anybody_who_waits() {
    let disk = MemoryDisk::new();
    let directory = Arc::new(open(&disk).expect("created"));
    let (_, recovered) = read_after(&directory, Position::ZERO).expect("empty");
    let told = Arc::new(Mutex::new(Position::ZERO));
    let listener = {
        let told = Arc::clone(&told);
        move |position| *told.lock() = position
    };
    let journal = Journal::start(directory, &recovered, small(), Box::new(listener));
    let journal = journal.expect("started");
    for seed in 0..50 {
        let position = append(&journal, seed, 20).expect("appended");
        journal.wait_committed(position).expect("durable");
        assert!(*told.lock() >= position);
    }
    let figures = journal.figures();
    assert_eq!((figures.commands, figures.flushes), (50, 50));
    assert!(figures.syncs >= 50 && figures.bytes > 50 * 80, "{figures:?}");
}

#[test]
fn commits_of_many_threads_share_flushes() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, Options::default()).expect("it starts");
    let order = Mutex::new(());
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (journal, order) = (&journal, &order);
            scope.spawn(move || {
                for step in 0..100 {
                    let position = {
                        let _in_order = order.lock();
                        append(journal, thread * 1000 + step, 30).expect("appended")
                    };
                    journal.wait_committed(position).expect("durable");
                }
            });
        }
    });
    assert_eq!(journal.durable_position(), Position(800));
    drop(journal);
    assert_eq!(commands(&disk).expect("valid").len(), 800);
}

#[test]
fn threads_write_their_own_commits_and_those_of_others() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, Options::default()).expect("it starts");
    let order = Mutex::new(());
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (journal, order) = (&journal, &order);
            scope.spawn(move || {
                for step in 0..100 {
                    // Half of the threads leave it to the flusher.
                    let writes = thread % 2 == 0;
                    let room = room(journal, 30).expect("room");
                    let room = if writes { room.written_here() } else { room };
                    let position = {
                        let _in_order = order.lock();
                        append_in(journal, room, thread * 1000 + step, 30).expect("appended")
                    };
                    if writes {
                        journal.write_here(position);
                        assert!(journal.durable_position() >= position);
                    }
                    journal.wait_committed(position).expect("durable");
                }
            });
        }
    });
    assert_eq!(journal.durable_position(), Position(800));
    drop(journal);
    assert_eq!(commands(&disk).expect("valid").len(), 800);
}

#[test]
fn the_flusher_writes_with_its_commands_what_others_have_left() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, Options::default()).expect("it starts");
    for round in 0..20 {
        let left = room(&journal, 30).expect("room").written_here();
        append_in(&journal, left, 2 * round, 30).expect("appended");
        let last = append(&journal, 2 * round + 1, 30).expect("appended");
        journal.wait_committed(last).expect("durable");
    }
    drop(journal);
    assert_eq!(commands(&disk).expect("valid").len(), 40);
}

#[test]
fn asynchronous_commits_wait_for_nothing_and_are_written_soon() {
    let disk = MemoryDisk::new();
    let interval = Duration::from_millis(200);
    let (journal, ..) = start(&disk, Options { interval, ..asynchronous() }).expect("it starts");
    let mut last = Position::ZERO;
    for seed in 0..20 {
        last = append(&journal, seed, 50).expect("appended");
        journal.wait_committed(last).expect("at once");
    }
    assert_eq!(journal.durable_position(), Position::ZERO);
    journal.wait_durable(last).expect("written when somebody waits for it");
    let figures = journal.figures();
    assert_eq!((figures.commands, figures.flushes), (20, 1));
}

#[test]
fn segments_are_removed_once_a_checkpoint_contains_them() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    let mut positions = Vec::new();
    for seed in 0..60 {
        positions.push(append(&journal, seed, 300).expect("appended"));
    }
    let (kept, last) = (positions[40], positions[59]);
    journal.wait_committed(last).expect("durable");
    let before = journal.segments();
    journal.retire(kept).expect("removed");
    assert!(journal.segments() < before);
    drop(journal);
    let directory = open(&disk).expect("opened");
    let (found, _) = read_after(&directory, kept).expect("what is needed is there");
    assert_eq!(found.len(), 19);
    let missing = read_after(&directory, Position(3)).expect_err("it was removed").to_string();
    assert!(missing.contains("after position 3 are missing"), "{missing}");
    let beyond = read_after(&directory, Position(100)).expect_err("it was never there").to_string();
    assert!(beyond.contains("ends at position 60, before the checkpoint at 100"), "{beyond}");
}

#[test]
fn a_full_disk_refuses_commands_until_there_is_room_again() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    disk.limit(5 * 4096);
    let mut accepted = 0;
    let refused = loop {
        match append(&journal, accepted, 200) {
            Ok(position) => journal.wait_committed(position).expect("room was promised"),
            Err(error) => break error,
        }
        accepted += 1;
        assert!(accepted < 1000, "the disk is full some time");
    };
    assert_eq!(refused.sqlstate(), "53100", "{refused}");
    assert!(accepted > 20, "{accepted}");
    assert!(journal.stopped().is_none(), "a full disk stops nothing");
    assert!(journal.figures().refused > 0);
    disk.limit(100 * 4096);
    let position = append(&journal, accepted, 200).expect("there is room again");
    journal.wait_committed(position).expect("durable");
    drop(journal);
    assert_eq!(commands(&disk).expect("valid").len() as u64, accepted + 1);
}

#[test]
fn room_that_is_not_used_is_given_back() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    for _ in 0..1000 {
        drop(journal.room_blocking(400).expect("room"));
    }
    assert_eq!(journal.figures().segments, 1);
    let long = journal.room_blocking(2 << 30).expect_err("too long");
    assert_eq!(long.sqlstate(), "54000");
}

#[test]
fn a_real_file_system_keeps_what_was_appended() {
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("data");
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mode = |path: &Path| {
        let metadata = std::fs::metadata(path).expect("it is there");
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
    };
    let open = || {
        Directory::open_or_create(&disk, &path, "process 1", NewDirectory::alone(99), &["parts"])
    };
    for round in 0..3u64 {
        let directory = Arc::new(open().expect("opened"));
        let held = open().expect_err("it is locked");
        assert!(held.to_string().contains("in use by process 1"), "{held}");
        let (found, recovered) = read_after(&directory, Position::ZERO).expect("valid");
        assert_eq!(found.len() as u64, round * 30);
        let options = Options { segment_bytes: 8192, ..Options::default() };
        let journal = Journal::start(directory, &recovered, options, Box::new(|_| ()));
        let journal = journal.expect("started");
        for seed in 0..30 {
            let position = append(&journal, seed, 500).expect("appended");
            journal.wait_committed(position).expect("durable");
        }
    }
    assert_eq!(mode(&path), 0o700, "others may not look into it");
    assert_eq!(mode(&path.join("journal/0000000001.log")), 0o600);
}
