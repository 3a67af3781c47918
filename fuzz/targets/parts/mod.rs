//! Valid checksums around arbitrary contents: an input is a list of parts, each a kind (1 byte, of which 0 counts as 1), a
//! length (2 bytes, the low one first) and so many bytes, or what is left of them.

use journal::disk::{Disk, MemoryDisk};
use journal::{BlockWriter, Directory, Label, NewDirectory};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the data directory is on its disk.
pub const ROOT: &str = "/data";

/// The parts of an input.
pub fn parts(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut parts = Vec::new();
    while let [kind, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (body, others) = rest.split_at(length);
        parts.push((u16::from(*kind).max(1), body));
        bytes = others;
    }
    parts
}

/// A new data directory in memory.
pub fn directory(disk: &MemoryDisk) -> Arc<Directory> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let others = [durable::CHUNKS, durable::CHECKPOINTS];
    let opened = Directory::open_or_create(&disk, Path::new(ROOT), "a fuzzer", NewDirectory::alone(7), &others);
    Arc::new(opened.expect("a new directory on a disk without limits"))
}

/// Writes the parts of an input as blocks of a file.
pub fn write_blocks(directory: &Directory, name: &str, title: &[u8; 8], input: &[u8]) -> PathBuf {
    let path = Path::new(ROOT).join(name);
    let label = Label { title: *title, number: 1 };
    let mut writer = BlockWriter::create(directory, &path, label).expect("a new file");
    for (kind, body) in parts(input) {
        writer.put(kind, body).expect("room for a block");
    }
    writer.finish().expect("room for the end");
    path
}
