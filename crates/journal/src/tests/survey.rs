//! A survey refuses what a recovery refuses, goes on after it, and changes nothing.

use super::*;
use crate::{SegmentState, Survey, survey};

/// A journal of several segments that was closed.
fn written() -> MemoryDisk {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    let lengths = [5, 300, 1200, 1, 900, 400, 30, 900, 20, 1100, 400, 300, 800, 900];
    for (seed, length) in (1..).zip(lengths) {
        let position = append(&journal, seed, length).expect("appended");
        journal.wait_committed(position).expect("durable");
    }
    drop(journal);
    disk
}

fn open_to_read(disk: &MemoryDisk) -> Result<Directory, Error> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Directory::open_to_read(&disk, Path::new(HOME), &[])
}

/// Surveys a disk; returns also the positions of commands, and whether records before are missing.
fn look(disk: &MemoryDisk) -> (Survey, Vec<(u64, bool)>) {
    let mut commands = Vec::new();
    let directory = open_to_read(disk).expect("opened");
    let found = survey(&directory, &[], |command, lacks_records| {
        commands.push((command.position.0, lacks_records));
        Ok(())
    });
    (found.expect("listed"), commands)
}

fn segment(number: u64) -> PathBuf {
    home().join(format!("journal/{number:010}.log"))
}

/// The places of the damages of a survey.
fn places(found: &Survey) -> Vec<(PathBuf, u64)> {
    let place = |error: &Error| match error {
        Error::Damaged { path, offset, .. } => (path.clone(), *offset),
        other => panic!("{other}"),
    };
    found.damages.iter().map(place).collect()
}

#[test]
fn a_sound_journal_is_described() {
    let disk = written();
    let (found, read) = look(&disk);
    let commands = commands(&disk).expect("valid");
    let positions = commands.iter().map(|(position, ..)| (*position, false)).collect::<Vec<_>>();
    assert_eq!(read, positions);
    assert!(found.damages.is_empty() && found.torn.is_none(), "{found:?}");
    assert_eq!(Some(found.last.0), commands.last().map(|(position, ..)| *position));
    assert!(found.durable < found.last, "the last record calls those before it durable");
    let states: Vec<SegmentState> = found.segments.iter().map(|segment| segment.state).collect();
    let used = states.len() - 1;
    assert!(used >= 2 && states[..used].iter().all(|state| *state == SegmentState::Used));
    assert_eq!(states[used], SegmentState::Spare);
    let records: u64 = found.segments.iter().map(|segment| segment.records).sum();
    assert_eq!(records, found.last.0);
    assert_eq!(found.segments[0].positions.map(|(first, _)| first), Some(Position(1)));
}

#[test]
fn the_progress_ends_near_one_though_the_last_segment_is_not_full() {
    let disk = written();
    let mut shown = Vec::new();
    let found = recover(&open(&disk).expect("opened"), Position::ZERO, |command| {
        shown.push(command.progress);
        Ok(())
    });
    drop(found.expect("valid"));
    assert!(shown.is_sorted(), "{shown:?}");
    assert!(shown.last().is_some_and(|last| (0.7..=1.0).contains(last)), "{shown:?}");
}

#[test]
fn a_survey_changes_nothing_and_a_server_is_refused_meanwhile() {
    let disk = written();
    let all = |disk: &MemoryDisk| {
        let files = disk.files().into_iter();
        files.map(|path| (disk.read(&path).expect("a file"), path)).collect::<Vec<_>>()
    };
    let (before, operations) = (all(&disk), disk.operations());
    look(&disk);
    assert_eq!((all(&disk), disk.operations()), (before, operations));
    let reader = open_to_read(&disk).expect("opened");
    assert!(matches!(open(&disk), Err(Error::Locked { .. })));
    drop(reader);
    let server = open(&disk).expect("opened");
    let refused = open_to_read(&disk).expect_err("in use").to_string();
    assert!(refused.contains("in use by a test"), "{refused}");
    drop(server);
    disk.remove(&home().join("LOCK")).expect("removed");
    assert!(look(&disk).0.damages.is_empty(), "a copy may have no lock file");
}

#[test]
fn whatever_a_recovery_refuses_is_a_damage_and_nothing_else_is() {
    let disk = written();
    let mut refused = 0;
    for number in 1..4 {
        let path = segment(number);
        let Ok(whole) = disk.read(&path) else { continue };
        let compare = |what: String| {
            let (recovered, found) = (commands(&disk), look(&disk).0);
            assert_eq!(recovered.is_err(), !found.damages.is_empty(), "{what}: {found:?}");
            if let Err(error) = recovered {
                let known = found.damages.iter().any(|one| one.to_string() == error.to_string());
                assert!(known, "{what}: {error} is not in {:?}", found.damages);
                return 1;
            }
            0
        };
        for byte in (0..whole.len()).step_by(3) {
            disk.tamper(&path, |bytes| bytes[byte] ^= 1 << (byte % 8));
            refused += compare(format!("byte {byte} of {}", path.display()));
            disk.tamper(&path, |bytes| bytes[byte] ^= 1 << (byte % 8));
        }
        for length in (0..whole.len()).step_by(61) {
            disk.tamper(&path, |bytes| bytes.truncate(length));
            refused += compare(format!("{length} bytes of {}", path.display()));
            disk.tamper(&path, |bytes| bytes.clone_from(&whole));
        }
    }
    assert!(refused > 500, "{refused} were refused");
}

#[test]
fn reading_goes_on_after_each_damage() {
    let disk = written();
    let (_, sound) = look(&disk);
    // The bodies of the first two commands, and the header of the second segment's first record.
    let second = 64 + crate::record::record_bytes(5 + 8);
    disk.tamper(&segment(1), |bytes| bytes[64 + 64] ^= 1);
    disk.tamper(&segment(1), |bytes| bytes[second + 64] ^= 1);
    disk.tamper(&segment(2), |bytes| bytes[64] ^= 1);
    let (found, read) = look(&disk);
    let expected = [(segment(1), 64), (segment(1), second as u64), (segment(2), 64)];
    assert_eq!(places(&found), expected);
    assert_eq!(read.last().map(|(at, _)| *at), sound.last().map(|(at, _)| *at));
    assert_eq!(read.iter().filter(|(_, lacks_records)| *lacks_records).count(), 2);
    assert_eq!(read[0], (5, true), "the third command has three records");
}

#[test]
fn a_missing_segment_is_one_damage() {
    let disk = written();
    let count = look(&disk).0.segments.len();
    disk.remove(&segment(2)).expect("removed");
    let (found, _) = look(&disk);
    assert_eq!(places(&found), [(segment(2), 0)], "{:?}", found.damages);
    assert_eq!(found.segments.len(), count - 1);
}

#[test]
fn what_checkpoints_need_is_compared_with_the_journal() {
    let disk = written();
    let directory = open_to_read(&disk).expect("opened");
    let ask = |checkpoints: &[u64]| {
        let positions: Vec<Position> = checkpoints.iter().copied().map(Position).collect();
        let found = survey(&directory, &positions, |_, _| Ok(())).expect("listed");
        found.damages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(ask(&[2, 5]), "");
    let text = ask(&[2, 5000]);
    assert!(text.contains("before the checkpoint at 5000"), "{text}");
    disk.remove(&segment(1)).expect("removed");
    let text = ask(&[1]);
    assert!(text.contains("the records after position 1 are missing"), "{text}");
}

#[test]
fn a_torn_end_is_reported_and_is_no_damage() {
    let mut torn = 0;
    for seed in 0..60 {
        let disk = MemoryDisk::new();
        let (journal, ..) = start(&disk, small()).expect("it starts");
        let position = append(&journal, 1, 40).expect("appended");
        journal.wait_committed(position).expect("durable");
        // Half of the write is carried out.
        disk.plan(crate::disk::Fault::Write(disk.operations().0));
        append(&journal, 2, 1000).expect("appended");
        let _ = journal.wait_durable(Position(3));
        let left = disk.crash(seed);
        drop(journal);
        let (found, _) = look(&left);
        let (_, recovered) =
            read_after(&open(&left).expect("opened"), Position::ZERO).expect("valid");
        assert!(found.damages.is_empty(), "{:?}", found.damages);
        assert_eq!(found.torn, recovered.cut, "seed {seed}");
        torn += u32::from(found.torn.is_some());
    }
    assert!(torn > 10, "{torn} ends were torn");
}
