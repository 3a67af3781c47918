//! The JSON document of `pando check --json`.
//!
//! Fields are only added, unless `format` changes. Files are relative to the data directory. Without
//! a valid identity, `set` and `log` are null and the lists are empty.

use super::damage::{Damage, relative};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};
use std::path::Path;
use store::inspection::{CheckpointFile, ChunksFile, Inspection};
use store::journal::{Segment, SegmentState};

/// The version of the document.
const FORMAT: u32 = 1;

/// Makes the document.
pub(super) fn of(directory: &Path, inspection: Option<&Inspection>, damages: &[Damage]) -> Value {
    let file = |path: &Path| relative(path, directory);
    let checkpoints = inspection.map_or(&[][..], |found| &found.checkpoints);
    let chunks = inspection.map_or(&[][..], |found| &found.chunks);
    let others = inspection.map(|found| found.others.iter().chain(&found.log.others));
    let damage = |damage: &Damage| json!({ "file": damage.file, "offset": damage.offset, "flaw": damage.flaw });
    json!({
        "format": FORMAT,
        "directory": directory.display().to_string(),
        "sound": damages.is_empty(),
        "set": inspection.map(|found| found.set.to_string()),
        "log": inspection.map(|found| log(found, &file)),
        "checkpoints": checkpoints.iter().map(|one| checkpoint(one, &file)).collect::<Value>(),
        "chunk_files": chunks.iter().map(|one| chunk_file(one, &file)).collect::<Value>(),
        "others": others.into_iter().flatten().map(|path| file(path)).collect::<Value>(),
        "damages": damages.iter().map(damage).collect::<Value>(),
    })
}

fn log(found: &Inspection, file: &impl Fn(&Path) -> String) -> Value {
    let log = &found.log;
    let first = log.segments.iter().find_map(|segment| Some(segment.positions?.0.0));
    let torn = log.torn.as_ref();
    json!({
        "bytes": log.segments.iter().map(|segment| segment.bytes).sum::<u64>(),
        "first_position": first,
        "last_position": first.map(|_| log.last.0),
        "durable_position": log.durable.0,
        "commands": found.commands,
        "torn": torn.map(|(path, offset)| json!({ "file": file(path), "offset": offset })),
        "segments": log.segments.iter().map(|one| segment(one, file)).collect::<Value>(),
    })
}

fn segment(segment: &Segment, file: &impl Fn(&Path) -> String) -> Value {
    let state = match segment.state {
        SegmentState::Used => "used",
        SegmentState::Dead => "dead",
        SegmentState::Spare => "spare",
        SegmentState::Unreadable => "unreadable",
    };
    json!({
        "file": file(&segment.file),
        "bytes": segment.bytes,
        "state": state,
        "records": segment.records,
        "first_position": segment.positions.map(|(first, _)| first.0),
        "last_position": segment.positions.map(|(_, last)| last.0),
    })
}

fn checkpoint(checkpoint: &CheckpointFile, file: &impl Fn(&Path) -> String) -> Value {
    let made = checkpoint.made.map(DateTime::<Utc>::from);
    let (summary, contents) = (checkpoint.summary.as_ref(), checkpoint.contents.as_ref());
    json!({
        "file": file(&checkpoint.file),
        "number": checkpoint.number,
        "bytes": checkpoint.bytes,
        "made": made.map(|made| made.to_rfc3339_opts(SecondsFormat::Secs, true)),
        "valid": contents.is_some(),
        "position": summary.map(|summary| summary.position.0),
        "tables": contents.map(|contents| contents.tables),
        "rows": contents.map(|contents| contents.rows),
        "chunk_files": summary.map(|summary| &summary.files),
    })
}

fn chunk_file(chunks: &ChunksFile, file: &impl Fn(&Path) -> String) -> Value {
    json!({
        "file": file(&chunks.file),
        "number": chunks.number,
        "bytes": chunks.bytes,
        "chunks": chunks.chunks,
        "rows": chunks.rows,
        "referenced": chunks.is_referenced,
        "missing": chunks.is_missing,
    })
}
