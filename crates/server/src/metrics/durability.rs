//! Metrics of a data directory. There are none without one.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use query::Database;
use query::store::journal::{CLASSES, Figures, Histogram};
use query::store::{KeptCheckpoint, Recovery};
use std::fmt;
use std::time::SystemTime;

/// The facts about a data directory at a moment.
#[derive(Debug)]
pub(super) struct Durability {
    figures: Figures,
    appended: u64,
    durable: u64,
    segments: u64,
    free_bytes: u64,
    checkpoints: u64,
    last: Option<KeptCheckpoint>,
    recovery: Option<Recovery>,
}

impl Durability {
    /// Reads them; `None` without a data directory.
    pub(super) fn of(database: &Database) -> Option<Self> {
        let journal = database.store().journal()?;
        let mut kept = database.store().kept_checkpoints();
        Some(Self {
            figures: journal.figures(),
            appended: journal.position().0,
            durable: journal.durable_position().0,
            segments: journal.segments() as u64,
            free_bytes: journal.free_bytes(),
            checkpoints: kept.len() as u64,
            last: kept.pop(),
            recovery: database.recovery().cloned(),
        })
    }

    fn encode_log(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let figures = &self.figures;
        for (name, help, value) in [
            ("log_written_bytes", "Bytes appended to the log", figures.bytes),
            ("log_commits", "Commits and other changes appended to the log", figures.commands),
            ("log_syncs", "Calls of fsync on the log", figures.syncs),
            ("log_flushes", "Writes of the log, each followed by fsync", figures.flushes),
            ("log_refused", "Commits refused because the disk was full", figures.refused),
        ] {
            put(encoder, name, help, None, &ConstCounter::new(value))?;
        }
        for (name, help, value) in [
            ("log_appended_position", "Position of the last record of the log", self.appended),
            ("log_durable_position", "Position up to which the log is on the disk", self.durable),
            ("log_segments", "Segments of the log with records", self.segments),
            ("log_free_bytes", "Allocated bytes of the log that are free", self.free_bytes),
        ] {
            put(encoder, name, help, None, &ConstGauge::new(value))?;
        }
        let help = "Time to write and sync what commits have gathered";
        put(encoder, "log_flush_duration", help, Some(&Unit::Seconds), &FlushTimes(figures))
    }

    fn encode_checkpoints(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Checkpoints that are kept";
        put(encoder, "checkpoints", help, None, &ConstGauge::new(self.checkpoints))?;
        let Some(last) = &self.last else { return Ok(()) };
        let position = last.summary.position.0;
        let help = "Position of the last checkpoint in the log";
        put(encoder, "checkpoint_position", help, None, &ConstGauge::new(position))?;
        let help = "Size of the last checkpoint without chunks";
        put(encoder, "checkpoint_bytes", help, None, &ConstGauge::new(last.bytes))?;
        let age = SystemTime::now().duration_since(last.made).unwrap_or_default();
        let age = ConstGauge::new(age.as_secs_f64());
        put(encoder, "checkpoint_age", "Time since the last checkpoint", Some(&Unit::Seconds), &age)
    }

    fn encode_recovery(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let Some(recovery) = &self.recovery else { return Ok(()) };
        for (name, help, value) in [
            ("recovery_tables", "Tables found at the start", recovery.tables),
            ("recovery_rows", "Rows found at the start", recovery.rows),
            ("recovery_commands", "Commands replayed at the start", recovery.commands),
            ("recovery_read_bytes", "Bytes read at the start", recovery.bytes),
        ] {
            put(encoder, name, help, None, &ConstGauge::new(value))?;
        }
        let took = ConstGauge::new(recovery.took.as_secs_f64());
        let help = "Time of the recovery at the start";
        put(encoder, "recovery_duration", help, Some(&Unit::Seconds), &took)
    }
}

impl Collector for Durability {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.encode_log(&mut encoder)?;
        self.encode_checkpoints(&mut encoder)?;
        self.encode_recovery(&mut encoder)
    }
}

fn put(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    metric: &impl EncodeMetric,
) -> fmt::Result {
    metric.encode(encoder.encode_descriptor(name, help, unit, metric.metric_type())?)
}

/// The durations of flushes as a histogram.
struct FlushTimes<'a>(&'a Figures);

impl EncodeMetric for FlushTimes<'_> {
    fn encode(&self, mut encoder: prometheus_client::encoding::MetricEncoder<'_>) -> fmt::Result {
        let Histogram(classes) = self.0.flush_time;
        let bound = |class: usize| match class + 1 == CLASSES {
            true => f64::INFINITY,
            false => (1u64 << class) as f64 / 1e6,
        };
        let buckets: Vec<(f64, u64)> =
            classes.iter().enumerate().map(|(class, count)| (bound(class), *count)).collect();
        let sum = self.0.flush_total.as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(sum, classes.iter().sum(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
