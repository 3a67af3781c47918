//! The system tables about the data directory of this server. They have no rows without one.

use crate::columns::Columns;
use crate::session_context::DatabaseContext;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::journal::Figures;
use store::{KeptCheckpoint, Recovery};

/// The table `log`: the log since the start of the server, and what the start has recovered. At most
/// one row. The text about the recovery names files, and is shown `with_files` only.
pub(super) fn log(shared: &dyn DatabaseContext, with_files: bool) -> Columns {
    let journal = shared.store().journal();
    let figures = journal.map(|journal| journal.figures());
    let columns = Columns::default()
        .text("durability", journal.map(|journal| journal.durability().to_string()))
        .count("bytes", figures.map(|figures| figures.bytes))
        .count("appended_position", journal.map(|journal| journal.position().0))
        .count("durable_position", journal.map(|journal| journal.durable_position().0))
        .count("segments", journal.map(|journal| journal.segments() as u64))
        .count("free_bytes", journal.map(|journal| journal.free_bytes()));
    recovery(flushes(columns, figures), journal.and(shared.recovery()), with_files)
}

/// Adds the columns about flushes.
fn flushes(columns: Columns, figures: Option<Figures>) -> Columns {
    let quantile = |part: f64| {
        figures.map(|figures| micros(figures.flush_time.quantile(part).min(figures.flush_longest)))
    };
    let per_sync = |figures: Figures| figures.commands as f64 / figures.syncs.max(1) as f64;
    columns
        .count("commits", figures.map(|figures| figures.commands))
        .count("refused", figures.map(|figures| figures.refused))
        .count("syncs", figures.map(|figures| figures.syncs))
        .real("commits_per_sync", figures.map(per_sync))
        .count("flush_p50_us", quantile(0.5))
        .count("flush_p99_us", quantile(0.99))
        .count("flush_max_us", figures.map(|figures| micros(figures.flush_longest)))
}

/// Adds the columns about the recovery at the start.
fn recovery(columns: Columns, recovery: Option<&Recovery>, with_files: bool) -> Columns {
    let checkpoint = |recovery: &Recovery| {
        recovery.checkpoint.and_then(|(number, _)| i64::try_from(number).ok())
    };
    columns
        .count("recovered_tables", recovery.map(|recovery| recovery.tables))
        .count("recovered_rows", recovery.map(|recovery| recovery.rows))
        .number("recovered_checkpoint", recovery.map(checkpoint))
        .count("recovered_commands", recovery.map(|recovery| recovery.commands))
        .count("recovered_bytes", recovery.map(|recovery| recovery.bytes))
        .count("recovery_ms", recovery.map(|recovery| recovery.took.as_millis() as u64))
        .text("recovery", recovery.map(|recovery| with_files.then(|| recovery.to_string())))
}

/// The table `checkpoints`: those that are kept, oldest first.
pub(super) fn checkpoints(shared: &dyn DatabaseContext) -> Columns {
    let kept = shared.store().kept_checkpoints();
    let made = |checkpoint: &KeptCheckpoint| {
        let since = checkpoint.made.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    };
    let now = SystemTime::now();
    let age = |checkpoint: &KeptCheckpoint| {
        now.duration_since(checkpoint.made).map_or(0, |age| age.as_secs())
    };
    Columns::default()
        .count("number", kept.iter().map(|checkpoint| checkpoint.summary.number))
        .count("position", kept.iter().map(|checkpoint| checkpoint.summary.position.0))
        .count("bytes", kept.iter().map(|checkpoint| checkpoint.bytes))
        .count("chunk_files", kept.iter().map(|checkpoint| checkpoint.summary.files.len() as u64))
        .timestamp("made", kept.iter().map(made))
        .count("age_seconds", kept.iter().map(age))
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
