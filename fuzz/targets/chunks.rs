//! Chunk files with valid checksums, and anything in their blocks.

#![no_main]

#[path = "parts/mod.rs"]
mod parts;

use bucket::Place;
use durable::{ChunkFiles, ChunkReader};
use journal::disk::MemoryDisk;

/// Chunks that are asked for, of each file.
const CHUNKS: u32 = 4;

libfuzzer_sys::fuzz_target!(
    // Panics of Arrow's reader are caught where it is called. Others end the process.
    init: std::panic::set_hook(Box::new(|_| ())),
    |bytes: &[u8]| {
        let directory = parts::directory(&MemoryDisk::new());
        parts::write_blocks(&directory, "chunks/0000000001.chunks", b"PANDOCHU", bytes);
        let mut reader = ChunkReader::new(ChunkFiles::open(&directory).expect("a directory"));
        for index in 0..CHUNKS {
            let _ = reader.chunk(&Place { file: 1, index, rows: 0..1 });
        }
    }
);
