//! What `pando check` prints for people.

use super::damage::{Damage, relative};
use chrono::{DateTime, Utc};
use shell::quantity::{bytes, count, counted};
use std::io::{self, Write};
use std::path::Path;
use store::inspection::{CheckpointFile, ChunksFile, Inspection};
use store::journal::{Segment, SegmentState, Survey};

/// Prints what a data directory contains, and its damages.
pub(super) fn write(
    out: &mut impl Write,
    directory: &Path,
    inspection: Option<&Inspection>,
    damages: &[Damage],
) -> io::Result<()> {
    if let Some(found) = inspection {
        write_contents(out, directory, found)?;
    }
    if damages.is_empty() {
        return writeln!(out, "{} is sound.", directory.display());
    }
    writeln!(out, "Damage")?;
    let rows = damages.iter().map(|damage| {
        let offset = damage.offset.map(|offset| format!("byte {offset}"));
        [damage.file.clone(), offset.unwrap_or_default(), damage.flaw.clone()]
    });
    write_aligned(out, rows)?;
    let places = counted(damages.len() as u64, "place");
    writeln!(
        out,
        "\n{} is damaged in {places}: keep what is there, and restore it from a backup.",
        directory.display()
    )
}

fn write_contents(out: &mut impl Write, directory: &Path, found: &Inspection) -> io::Result<()> {
    writeln!(out, "Log           {}", log_line(&found.log))?;
    let segments = found.log.segments.iter().map(|segment| segment_row(segment, directory));
    write_aligned(out, segments)?;
    if !found.commands.is_empty() {
        let kinds = found.commands.iter();
        let kinds = kinds.map(|(kind, number)| format!("{} {kind}", count(*number)));
        writeln!(out, "  commands: {}", kinds.collect::<Vec<_>>().join(", "))?;
    }
    if let Some((path, offset)) = &found.log.torn {
        let file = relative(path, directory);
        writeln!(
            out,
            "  an unfinished write begins at byte {offset} of {file}: no commit is in it"
        )?;
    }
    writeln!(out, "Checkpoints   {}", found.checkpoints.len())?;
    write_aligned(out, found.checkpoints.iter().map(|one| checkpoint_row(one, directory)))?;
    writeln!(out, "Chunk files   {}", found.chunks.iter().filter(|one| !one.is_missing).count())?;
    write_aligned(out, chunk_rows(&found.chunks))?;
    let others: Vec<String> = found
        .others
        .iter()
        .chain(&found.log.others)
        .map(|path| relative(path, directory))
        .collect();
    if !others.is_empty() {
        writeln!(out, "Other files   {}", others.join(", "))?;
    }
    writeln!(out)
}

fn log_line(log: &Survey) -> String {
    let first = log.segments.iter().find_map(|segment| Some(segment.positions?.0));
    match first {
        None => "no records".to_owned(),
        Some(first) => format!(
            "positions {} to {}, known to be durable to {}",
            count(first.0),
            count(log.last.0),
            count(log.durable.0)
        ),
    }
}

fn segment_row(segment: &Segment, directory: &Path) -> [String; 3] {
    let contents = match (segment.state, segment.positions) {
        (SegmentState::Used, Some((first, last))) => {
            let records = counted(segment.records, "record");
            format!("{records}, {} to {}", count(first.0), count(last.0))
        }
        (SegmentState::Used, None) => "no records".to_owned(),
        (SegmentState::Dead, _) => "cut off by a recovery".to_owned(),
        (SegmentState::Spare, _) => "spare".to_owned(),
        (SegmentState::Unreadable, _) => "damaged".to_owned(),
    };
    [relative(&segment.file, directory), bytes(segment.bytes), contents]
}

fn checkpoint_row(checkpoint: &CheckpointFile, directory: &Path) -> [String; 4] {
    let contents = match (&checkpoint.summary, &checkpoint.contents) {
        (Some(summary), Some(contents)) => {
            let (tables, rows) = (counted(contents.tables, "table"), counted(contents.rows, "row"));
            format!("position {}, {tables}, {rows}", count(summary.position.0))
        }
        (Some(summary), None) => {
            format!("position {}, cannot be read", count(summary.position.0))
        }
        (None, _) => "damaged".to_owned(),
    };
    let made = checkpoint.made.map(DateTime::<Utc>::from);
    let made = made.map(|made| made.format("%Y-%m-%d %H:%M:%S UTC").to_string());
    [
        relative(&checkpoint.file, directory),
        bytes(checkpoint.bytes),
        made.unwrap_or_default(),
        contents,
    ]
}

/// Sums chunk files up by their use: there can be thousands.
fn chunk_rows(files: &[ChunksFile]) -> Vec<[String; 3]> {
    let row = |name: &str, is_one: fn(&&ChunksFile) -> bool| {
        let of: Vec<&ChunksFile> = files.iter().filter(is_one).collect();
        let size = of.iter().map(|file| file.bytes).sum();
        let rows = of.iter().map(|file| file.rows).sum();
        let number = counted(of.len() as u64, "file");
        (!of.is_empty()).then(|| [format!("{number} {name}"), bytes(size), counted(rows, "row")])
    };
    let rows = [
        row("referred to", |file| file.is_referenced && !file.is_missing),
        row("not referred to", |file| !file.is_referenced),
        row("missing", |file| file.is_missing),
    ];
    rows.into_iter().flatten().collect()
}

/// Prints rows with their columns aligned.
fn write_aligned<const N: usize>(
    out: &mut impl Write,
    rows: impl IntoIterator<Item = [String; N]>,
) -> io::Result<()> {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    for row in &rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!(" {cell:<width$} "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
