//! The stable encoding of runs: places of chunks in files, and what is needed to read them.

use bucket::{Chunk, Layouts, Place, Run};
use catalog::stable::{Malformed, Source, Stable};
use sdds::Timestamp;
use std::sync::Arc;

/// The reason why a command cannot be decoded.
#[derive(Debug)]
pub enum Flaw {
    /// Its bytes do not have the form.
    Form(String),
    /// A chunk that it refers to cannot be read.
    Chunk(journal::Error),
}

impl From<Malformed> for Flaw {
    fn from(malformed: Malformed) -> Self {
        Self::Form(malformed.to_string())
    }
}

/// What is needed to decode commands and states.
pub struct Decoder<'a> {
    /// Layouts of rows that were read before.
    pub layouts: &'a mut Layouts,
    /// Returns the chunk at a place.
    pub chunk: &'a mut dyn FnMut(&Place) -> Result<Arc<Chunk>, journal::Error>,
}

/// Appends the places of the chunks of a run, which have been written.
pub(crate) fn encode_places(run: &Run, out: &mut Vec<u8>) {
    (run.chunks.len() as u64).encode(out);
    for chunk in &run.chunks {
        let place = chunk.place().expect("chunks are written before they are referred to");
        place.file.encode(out);
        place.index.encode(out);
        place.rows.start.encode(out);
        place.rows.end.encode(out);
    }
}

/// Decodes a run of at least one chunk.
pub(crate) fn decode_run(
    from: &mut Source<'_>,
    timestamp: Timestamp,
    chunk: &mut dyn FnMut(&Place) -> Result<Arc<Chunk>, journal::Error>,
) -> Result<Arc<Run>, Flaw> {
    let mut chunks: Vec<Arc<Chunk>> = Vec::new();
    for _ in 0..u64::decode(from)? {
        let (file, index) = (u64::decode(from)?, u32::decode(from)?);
        let rows = u32::decode(from)?..u32::decode(from)?;
        let chunk = chunk(&Place { file, index, rows }).map_err(Flaw::Chunk)?;
        if chunks.last().is_some_and(|last| last.last() >= chunk.first()) {
            return Err(Malformed("the chunks of a load are out of order").into());
        }
        chunks.push(chunk);
    }
    if chunks.is_empty() {
        return Err(Malformed("a load has no chunks").into());
    }
    Ok(Run::new(timestamp, chunks))
}
