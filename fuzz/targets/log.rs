//! A log in which bytes are changed: what is read back is what was appended, or the beginning of it. Also, anything as the
//! body of a command.
//!
//! The first byte of an input says how many changes there are. Each has a place (3 bytes) and what it is combined with by
//! XOR (1 byte); after them come the commands.

#![no_main]

#[path = "parts/mod.rs"]
mod parts;

use bucket::{Layouts, Place};
use durable::Decoder;
use journal::disk::{Disk, MemoryDisk};
use journal::{Body, Directory, Error, Journal, NewDirectory, Options, Origin, Position, recover};
use sdds::{Epoch, GroupId};
use std::path::Path;
use std::sync::Arc;

/// The size of segments: small, so that some inputs have several.
const SEGMENT_BYTES: u64 = 8 << 10;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((count, bytes)) = bytes.split_first() else { return };
    let (changes, bytes) = bytes.split_at((usize::from(*count) * 4).min(bytes.len()));
    let commands = parts::parts(bytes);
    commands.iter().for_each(|(kind, body)| decode(*kind, body));

    let disk = MemoryDisk::new();
    let directory = parts::directory(&disk);
    append(&directory, &commands);
    drop(directory);
    tamper(&disk, changes);

    let held: Arc<dyn Disk> = Arc::new(disk);
    let others = [durable::CHUNKS, durable::CHECKPOINTS];
    let opened = Directory::open_or_create(&held, Path::new(parts::ROOT), "a fuzzer", NewDirectory::alone(7), &others);
    let directory = opened.expect("its identity is not changed");
    let mut read = 0;
    let _ = recover(&directory, Position::ZERO, |command| {
        assert_eq!((command.kind, command.body), commands[read], "command {read}");
        read += 1;
        Ok(())
    });
});

fn decode(kind: u16, body: &[u8]) {
    let mut layouts = Layouts::default();
    let mut chunk = |_: &Place| Err(Error::damaged(Path::new("a chunk file"), 0, "it is missing"));
    if let Ok(command) = durable::decode(kind, body, &mut Decoder { layouts: &mut layouts, chunk: &mut chunk }) {
        let _ = command.to_string();
    }
}

fn append(directory: &Arc<Directory>, commands: &[(u16, &[u8])]) {
    let empty = recover(directory, Position::ZERO, |_| Ok(())).expect("no commands");
    let options = Options { segment_bytes: SEGMENT_BYTES, ..Options::default() };
    let journal = Journal::start(Arc::clone(directory), &empty, options, Box::new(|_| ()));
    let journal = journal.expect("started");
    for (index, (kind, body)) in commands.iter().enumerate() {
        let body = Body::new(body.to_vec());
        let room = journal.room_blocking(body.len()).expect("room");
        let origin = Origin { group: GroupId(1), epoch: Epoch(1), index: index as u64 + 1 };
        journal.append(room, origin, *kind, &body, &[]).expect("appended");
    }
}

/// Changes bytes of the segments, which are taken as one sequence.
fn tamper(disk: &MemoryDisk, changes: &[u8]) {
    let mut paths = disk.files();
    paths.retain(|path| path.extension().is_some_and(|of| of == "log"));
    if paths.is_empty() {
        return;
    }
    for change in changes.chunks_exact(4) {
        let place = usize::from(change[0]) | usize::from(change[1]) << 8 | usize::from(change[2]) << 16;
        let (segment, at) = (place / SEGMENT_BYTES as usize % paths.len(), place % SEGMENT_BYTES as usize);
        disk.tamper(&paths[segment], |bytes| {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= change[3];
            }
        });
    }
}
