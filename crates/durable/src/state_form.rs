//! The stable encoding of the state of a bucket, in commands and checkpoints.
//!
//! | field | form |
//! |---|---|
//! | runs | number; each a timestamp and the places of its chunks |
//! | delta | number of versions; each a key, a timestamp and a row ([`bucket::RowWriter`]) |
//!
//! Versions are ordered by key, newest first.

use crate::runs::{Decoder, Flaw, decode_run, encode_places};
use bucket::{Assembly, BucketState, RowReader, RowWriter, Version};
use catalog::stable::{Malformed, Source, Stable};
use sdds::{Key, Timestamp};
use std::sync::Arc;

/// Which versions of the delta are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// All: old snapshots may be read.
    AllVersions,
    /// The newest of each key: no snapshot survives.
    NewestVersions,
}

/// Appends the state of a bucket, whose chunks have been written.
pub(crate) fn encode(state: &BucketState, detail: Detail, out: &mut Vec<u8>) {
    (state.runs().len() as u64).encode(out);
    for run in state.runs() {
        run.timestamp.encode(out);
        encode_places(run, out);
    }
    let mut versions: Vec<(&Key, &Arc<Version>)> = Vec::with_capacity(state.delta().len());
    for (key, newest) in state.delta().iter() {
        versions.push((key, newest));
        let mut older = newest.older.as_ref().filter(|_| detail == Detail::AllVersions);
        while let Some(version) = older {
            versions.push((key, version));
            older = version.older.as_ref();
        }
    }
    let mut rows = RowWriter::default();
    (versions.len() as u64).encode(out);
    for (key, version) in versions {
        key.encode(out);
        version.timestamp.encode(out);
        rows.put(version.row.as_ref(), out);
    }
}

/// Decodes the state of a bucket.
pub(crate) fn decode(from: &mut Source<'_>, with: &mut Decoder<'_>) -> Result<BucketState, Flaw> {
    let mut assembly = Assembly::default();
    for _ in 0..u64::decode(from)? {
        let timestamp = Timestamp::decode(from)?;
        let run = decode_run(from, timestamp, with.chunk)?;
        for chunk in &run.chunks {
            assembly.add_chunk(run.timestamp, Arc::clone(chunk));
        }
    }
    let mut rows = RowReader::new(with.layouts);
    for _ in 0..u64::decode(from)? {
        let (key, timestamp) = (Key::decode(from)?, Timestamp::decode(from)?);
        if !assembly.is_next(&key, timestamp) {
            return Err(Malformed("the versions of a bucket are out of order").into());
        }
        let row = rows.take(from)?;
        assembly.add_version(key, timestamp, row);
    }
    assembly.finish().map_err(|error| Flaw::Form(error.to_string()))
}
