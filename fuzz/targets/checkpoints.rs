//! Checkpoints with valid checksums, and anything in their blocks.

#![no_main]

#[path = "parts/mod.rs"]
mod parts;

use bucket::{Layouts, Place};
use durable::{Checkpoints, Decoder};
use journal::Error;
use journal::disk::MemoryDisk;
use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let directory = parts::directory(&MemoryDisk::new());
    parts::write_blocks(&directory, "checkpoints/0000000001.checkpoint", b"PANDOCKP", bytes);
    let Ok((_, Some(found), _)) = Checkpoints::find(&directory) else { return };
    let mut layouts = Layouts::default();
    let mut chunk = |_: &Place| Err(Error::damaged(Path::new("a chunk file"), 0, "it is missing"));
    let _ = found.manifest.read(&mut Decoder { layouts: &mut layouts, chunk: &mut chunk });
});
