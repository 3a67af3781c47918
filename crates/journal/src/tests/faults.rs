//! A scripted run with an error at each write and each sync: nothing unacknowledged is claimed, the
//! journal stops, and the next start finds all that was acknowledged.

use super::*;
use crate::disk::Fault;

const COMMANDS: u64 = 40;

/// Appends commands until an error; returns how many were appended, and how many acknowledged.
fn run(journal: &Journal, writes_here: bool) -> (u64, u64) {
    let mut acknowledged = 0;
    for seed in 0..COMMANDS {
        let length = (seed as usize * 97) % 1500;
        let room = room(journal, length);
        let room = room.map(|room| if writes_here { room.written_here() } else { room });
        let Ok(position) = room.and_then(|room| append_in(journal, room, seed, length)) else {
            return (seed, acknowledged);
        };
        if seed % 3 == 0 || seed + 1 == COMMANDS {
            if writes_here {
                journal.write_here(position);
            }
            match journal.wait_committed(position) {
                Ok(()) => acknowledged = seed + 1,
                Err(_) => return (seed + 1, acknowledged),
            }
        }
    }
    (COMMANDS, acknowledged)
}

/// Checks what a run has left: at least what was acknowledged, at most what was appended.
fn check(left: &MemoryDisk, appended_count: u64, acknowledged: u64, what: &str) {
    let (journal, found, recovered) = start(left, small()).expect(what);
    let count = found.len() as u64;
    assert!(
        (acknowledged..=appended_count).contains(&count),
        "{what}: {count} commands of {acknowledged} to {appended_count}"
    );
    for (seed, (_, kind, body)) in (0u64..).zip(&found) {
        let expected = appended(seed, (seed as usize * 97) % 1500);
        assert_eq!((*kind, body), (expected.0, &expected.1), "{what}: command {seed}");
    }
    let position = append(&journal, 1000, 33).expect("it goes on");
    assert!(position > recovered.last);
    drop(journal);
    // What a start has found is durable, even if it was only in the operating system's memory.
    let again = commands(&left.crash(count)).expect(what);
    assert_eq!(again.len() as u64, count + 1, "{what}: it is read again");
}

/// Whether a fault is met, by the flusher or by a caller that writes.
fn stops(fault: Fault) -> bool {
    let by_flusher = run_with(fault, false);
    run_with(fault, true) || by_flusher
}

fn run_with(fault: Fault, writes_here: bool) -> bool {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    let (writes, syncs) = disk.operations();
    disk.plan(match fault {
        Fault::Write(number) => Fault::Write(writes + number),
        Fault::Sync(number) => Fault::Sync(syncs + number),
    });
    let (appended_count, acknowledged) = run(&journal, writes_here);
    let has_stopped = journal.stopped().is_some();
    drop(journal);
    for seed in 0..6 {
        check(&disk.crash(seed), appended_count, acknowledged, &format!("{fault:?}, crash {seed}"));
    }
    check(&disk.kill(), appended_count, acknowledged, &format!("{fault:?}, killed"));
    has_stopped
}

#[test]
fn an_error_at_any_write_stops_the_journal_and_loses_nothing() {
    let stopped = (0..40).filter(|number| stops(Fault::Write(*number))).count();
    assert!(stopped > 10, "{stopped} runs met their fault");
}

#[test]
fn an_error_at_any_sync_stops_the_journal_and_loses_nothing() {
    let stopped = (0..60).filter(|number| stops(Fault::Sync(*number))).count();
    assert!(stopped > 10, "{stopped} runs met their fault");
}

/// The position of the last of some commands of a thread that were acknowledged.
fn acknowledged(journal: &Journal, thread: u64) -> Option<Position> {
    let mut last = None;
    for seed in thread * COMMANDS..(thread + 1) * COMMANDS {
        let room = room(journal, 100).map(Room::written_here);
        let Ok(position) = room.and_then(|room| append_in(journal, room, seed, 100)) else { break };
        journal.write_here(position);
        if journal.wait_committed(position).is_err() {
            break;
        }
        last = Some(position);
    }
    last
}

#[test]
fn nobody_writes_behind_what_was_not_written() {
    for number in 0..200 {
        let disk = MemoryDisk::new();
        let (journal, ..) = start(&disk, small()).expect("it starts");
        let (writes, _) = disk.operations();
        disk.plan(Fault::Write(writes + number % 40));
        let last = std::thread::scope(|scope| {
            let run = |thread| {
                let journal = &journal;
                scope.spawn(move || acknowledged(journal, thread))
            };
            let threads: Vec<_> = [0, 1, 2, 3].map(run).into();
            threads.into_iter().filter_map(|of| of.join().expect("it ends")).max()
        });
        drop(journal);
        let (.., recovered) = start(&disk.crash(number), small()).expect("it starts again");
        assert!(Some(recovered.last) >= last, "{number}: {recovered:?}, but {last:?}");
    }
}

#[test]
fn a_crash_at_any_time_loses_nothing_that_was_acknowledged() {
    for seed in 0..300 {
        let disk = MemoryDisk::new();
        let (journal, ..) = start(&disk, small()).expect("it starts");
        let mut acknowledged = 0;
        let last = seed % COMMANDS;
        for step in 0..=last {
            let position = append(&journal, step, (step as usize * 97) % 1500).expect("appended");
            if step % 4 == 0 {
                journal.wait_committed(position).expect("durable");
                acknowledged = step + 1;
            }
        }
        check(&disk.crash(seed), last + 1, acknowledged, &format!("crash {seed}"));
    }
}

#[test]
fn a_journal_that_has_stopped_refuses_commands() {
    let disk = MemoryDisk::new();
    let (journal, ..) = start(&disk, small()).expect("it starts");
    let (writes, _) = disk.operations();
    disk.plan(Fault::Write(writes));
    let position = append(&journal, 1, 10).expect("appended");
    let error = journal.wait_committed(position).expect_err("the write failed");
    assert_eq!(error.sqlstate(), "58030");
    assert!(error.to_string().contains("restart the server"), "{error}");
    assert!(matches!(append(&journal, 2, 10), Err(Error::Stopped { .. })));
}
