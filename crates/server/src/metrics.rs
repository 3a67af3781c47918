//! Metrics of a server in Prometheus' format.

mod durability;

use durability::Durability;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use query::{Database, SqlState, StatementKind, TableSize};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The beginning of the names of all metrics.
const PREFIX: &str = "pando";
/// Upper bound of the first bucket of the duration histogram, in seconds.
const FASTEST_SECONDS: f64 = 10e-6;
/// Ratio of the bounds of consecutive buckets; the last one is about 80 s.
const BUCKET_FACTOR: f64 = 2.0;
const BUCKETS: u16 = 24;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfStatement {
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfState {
    state: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfTable {
    schema: String,
    table: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind(StatementKind);

impl EncodeLabelValue for Kind {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0.name(), encoder)
    }
}

/// Counters of one server. Counting takes nanoseconds.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    statements: Vec<Histogram>,
    errors: Family<OfState, Counter>,
    rows_sent: Counter,
    bytes_received: Counter,
    bytes_sent: Counter,
    connections_open: Gauge,
    connections: Counter,
    connections_refused: Counter,
    tables: Tables,
}

/// Metrics that are read from the database on request.
#[derive(Debug, Default)]
struct Tables {
    rows: Family<OfTable, Gauge>,
    bytes: Family<OfTable, Gauge>,
    buckets: Family<OfTable, Gauge>,
    requests: Family<OfTable, Gauge>,
    forwards: Family<OfTable, Gauge>,
    adjustments: Family<OfTable, Gauge>,
    broadcasts: Family<OfTable, Gauge>,
    splits: Gauge,
    merges: Gauge,
    compactions: Gauge,
    commits: Gauge,
    conflicts: Gauge,
    messages_sent: Gauge,
    messages_sent_bytes: Gauge,
    messages_received: Gauge,
    messages_received_bytes: Gauge,
    table_bytes: Gauge,
    query_bytes: Gauge,
    limit_bytes: Gauge<i64, std::sync::atomic::AtomicI64>,
    uptime: Gauge<f64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// All counters are 0.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let new = || Histogram::new(exponential_buckets(FASTEST_SECONDS, BUCKET_FACTOR, BUCKETS));
        let by_kind =
            Family::<OfStatement, Histogram, fn() -> Histogram>::new_with_constructor(new);
        let kinds = StatementKind::ALL.iter();
        let statements = kinds
            .map(|kind| by_kind.get_or_create(&OfStatement { kind: Kind(*kind) }).clone())
            .collect();
        let help = "Time from a statement's message to its last row, by kind";
        registry.register_with_unit("statement_duration", help, Unit::Seconds, by_kind);
        let metrics = Self {
            registry: Registry::default(),
            statements,
            errors: Family::default(),
            rows_sent: Counter::default(),
            bytes_received: Counter::default(),
            bytes_sent: Counter::default(),
            connections_open: Gauge::default(),
            connections: Counter::default(),
            connections_refused: Counter::default(),
            tables: Tables::default(),
        };
        metrics.register(&mut registry);
        Self { registry, ..metrics }
    }

    fn register(&self, registry: &mut Registry) {
        registry.register("errors", "Errors sent, by SQLSTATE", self.errors.clone());
        registry.register("rows_sent", "Rows sent to clients", self.rows_sent.clone());
        registry.register("received_bytes", "Bytes from clients", self.bytes_received.clone());
        registry.register("sent_bytes", "Bytes to clients", self.bytes_sent.clone());
        registry.register("connections_open", "Open connections", self.connections_open.clone());
        registry.register("connections", "Accepted connections", self.connections.clone());
        let refused = self.connections_refused.clone();
        registry.register("connections_refused", "Refused connections", refused);
        let tables = &self.tables;
        for (name, help, of_table) in [
            ("table_rows", "Rows of a table", &tables.rows),
            ("table_bytes", "Bytes of a table", &tables.bytes),
            ("table_buckets", "Buckets of a table", &tables.buckets),
            ("table_requests", "Requests for rows of other servers", &tables.requests),
            ("table_forwards", "Requests that were forwarded", &tables.forwards),
            ("table_adjustments", "Image adjustments", &tables.adjustments),
            ("table_broadcasts", "Broadcast lookups of owners", &tables.broadcasts),
        ] {
            registry.register(name, help, of_table.clone());
        }
        for (name, help, gauge) in [
            ("splits", "Bucket splits", &tables.splits),
            ("merges", "Bucket merges", &tables.merges),
            ("compactions", "Bucket compactions", &tables.compactions),
            ("commits", "Committed transactions", &tables.commits),
            ("conflicts", "Transactions with serialization failures", &tables.conflicts),
            ("messages_sent", "Messages sent to other servers", &tables.messages_sent),
            ("messages_sent_bytes", "Bytes sent to other servers", &tables.messages_sent_bytes),
            (
                "messages_received",
                "Messages received from other servers",
                &tables.messages_received,
            ),
            (
                "messages_received_bytes",
                "Bytes received from other servers",
                &tables.messages_received_bytes,
            ),
            ("memory_tables_bytes", "Memory of tables", &tables.table_bytes),
            ("memory_queries_bytes", "Memory of queries", &tables.query_bytes),
            ("memory_limit_bytes", "Memory limit of both; 0 is no limit", &tables.limit_bytes),
        ] {
            registry.register(name, help, gauge.clone());
        }
        registry.register("uptime_seconds", "Time since startup", tables.uptime.clone());
    }

    /// A connection was accepted.
    pub fn connection_opened(&self) {
        self.connections.inc();
        self.connections_open.inc();
    }

    /// A connection has ended.
    pub fn connection_closed(&self) {
        self.connections_open.dec();
    }

    /// A connection was refused.
    pub fn connection_refused(&self) {
        self.connections_refused.inc();
    }

    /// A statement is complete.
    pub fn statement(&self, kind: StatementKind, duration: Duration, rows: u64) {
        self.statements[kind as usize].observe(duration.as_secs_f64());
        self.rows_sent.inc_by(rows);
    }

    /// An error was sent.
    pub fn error(&self, state: SqlState) {
        self.errors.get_or_create(&OfState { state: state.code().to_owned() }).inc();
    }

    /// Bytes were received.
    pub fn received(&self, bytes: usize) {
        self.bytes_received.inc_by(bytes as u64);
    }

    /// Bytes were sent.
    pub fn sent(&self, bytes: usize) {
        self.bytes_sent.inc_by(bytes as u64);
    }

    /// All metrics in Prometheus' text format.
    ///
    /// # Errors
    /// None in practice: formatting does not fail.
    pub fn text(&self, database: &Database, uptime: Duration) -> Result<String, std::fmt::Error> {
        self.look(database);
        self.tables.uptime.set(uptime.as_secs_f64());
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        if let Some(durability) = Durability::of(database) {
            let mut registry = Registry::with_prefix(PREFIX);
            registry.register_collector(Box::new(durability));
            encode_registry(&mut text, &registry)?;
        }
        encode_eof(&mut text)?;
        Ok(text)
    }

    fn look(&self, database: &Database) {
        let gauge = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let (store, tables) = (database.store(), &self.tables);
        let sizes = database.table_sizes();
        let all = |family: &Family<OfTable, Gauge>, of: fn(&TableSize) -> u64| {
            family.clear();
            for table in &sizes {
                let label = OfTable { schema: table.schema.clone(), table: table.name.clone() };
                family.get_or_create(&label).set(gauge(of(table)));
            }
        };
        all(&tables.rows, |table| table.rows);
        all(&tables.bytes, |table| table.bytes);
        all(&tables.buckets, |table| table.buckets);
        all(&tables.requests, |table| table.finding.requests);
        all(&tables.forwards, |table| table.finding.forwards);
        all(&tables.adjustments, |table| table.finding.adjustments);
        all(&tables.broadcasts, |table| table.finding.broadcasts);
        let counters = store.counters();
        tables.splits.set(gauge(counters.splits));
        tables.merges.set(gauge(counters.merges));
        tables.compactions.set(gauge(counters.compactions));
        tables.commits.set(gauge(counters.commits));
        tables.conflicts.set(gauge(counters.conflicts));
        let traffic = store.peers().map(|peers| peers.traffic()).unwrap_or_default();
        tables.messages_sent.set(gauge(traffic.sent.messages));
        tables.messages_sent_bytes.set(gauge(traffic.sent.bytes));
        tables.messages_received.set(gauge(traffic.received.messages));
        tables.messages_received_bytes.set(gauge(traffic.received.bytes));
        let memory = store.memory();
        tables.table_bytes.set(gauge(memory.table_bytes()));
        tables.query_bytes.set(gauge(memory.query_bytes()));
        tables.limit_bytes.set(memory.limit().map_or(0, gauge));
    }
}
