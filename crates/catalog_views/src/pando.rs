//! The system tables of the schema `pando`, with the rows of this server.
//!
//! [`all_servers`](crate::all_servers) adds the rows of other servers.

mod durability;

use crate::columns::Columns;
use crate::session_context::{DatabaseContext, Running};
use crate::view_context::ViewContext;
use scan::tables::Tables;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use store::catalog::{Catalog, Relation, Table};
use store::{BucketInfo, SplitInfo, key};

/// A system table that has no rows of other servers; `None` if there is none of this name.
pub(crate) fn table(context: &ViewContext<'_>, tables: &dyn Tables, name: &str) -> Option<Columns> {
    let shared = context.database;
    match name {
        "tables" => Some(all_tables(shared, tables, None)),
        "settings" => Some(setting_rows(context.settings)),
        "memory" => Some(memory(shared)),
        "counters" => Some(counters(shared)),
        "log" => Some(durability::log(shared, context.access.is_superuser())),
        "checkpoints" => Some(durability::checkpoints(shared)),
        _ => None,
    }
}

/// The rows of this server of one of [`all_servers::TABLES`](crate::all_servers::TABLES), for a
/// user with all privileges.
pub(super) fn own(shared: &dyn DatabaseContext, catalog: &Catalog, name: &str) -> Columns {
    match name {
        "buckets" => buckets(shared, catalog),
        "runs" => runs(shared, catalog),
        "splits" => splits(shared, catalog),
        _ => queries(shared),
    }
}

/// The tables with their buckets on this server.
fn stored_tables(
    shared: &dyn DatabaseContext,
    catalog: &Catalog,
) -> Vec<(Arc<Table>, Vec<BucketInfo>)> {
    let tables = catalog.relations().filter_map(Relation::file).cloned();
    tables.map(|table| (Arc::clone(&table), shared.store().bucket_infos(table.id))).collect()
}

/// The numbers of buckets, rows and bytes on all servers, by schema and name of the table.
pub(super) type Totals = BTreeMap<(String, String), [u64; 3]>;

/// The table `tables`. Buckets, rows and bytes are `totals` if these are given; all other figures
/// are those of this server.
pub(super) fn all_tables(
    shared: &dyn DatabaseContext,
    tables: &dyn Tables,
    totals: Option<&Totals>,
) -> Columns {
    let all = stored_tables(shared, tables.catalog());
    let sum = |get: fn(&BucketInfo) -> u64| {
        all.iter().map(move |(_, buckets)| buckets.iter().map(get).sum::<u64>()).collect::<Vec<_>>()
    };
    let total = |figure: usize, here: fn(&BucketInfo) -> u64| match totals {
        None => sum(here),
        Some(totals) => {
            let of = |table: &Table| totals.get(&(table.schema.clone(), table.name.clone()));
            all.iter().map(|(table, _)| of(table).map_or(0, |figures| figures[figure])).collect()
        }
    };
    let key = |table: &Table| {
        let names = table.key_indices().into_iter().map(|index| table.columns[index].name.clone());
        names.collect::<Vec<_>>().join(", ")
    };
    Columns::default()
        .text("schema", all.iter().map(|(table, _)| table.schema.clone()))
        .text("table", all.iter().map(|(table, _)| table.name.clone()))
        .text("key", all.iter().map(|(table, _)| key(table)))
        .count("buckets", total(0, |_| 1))
        .count("rows", total(1, |bucket| bucket.rows))
        .count("bytes", total(2, |bucket| bucket.bytes))
        .count("delta_rows", sum(|bucket| bucket.delta_rows))
        .count("runs", sum(|bucket| bucket.runs.len() as u64))
        .count("bucket_size", all.iter().map(|(table, _)| table.bucket_size))
}

/// The table `buckets`.
fn buckets(shared: &dyn DatabaseContext, catalog: &Catalog) -> Columns {
    let all = stored_tables(shared, catalog);
    let all: Vec<(&Table, &BucketInfo)> = all
        .iter()
        .flat_map(|(table, buckets)| buckets.iter().map(move |bucket| (table.as_ref(), bucket)))
        .collect();
    let bound = |table: &Table, bound| key::describe_bound(table, bound);
    Columns::default()
        .text("schema", all.iter().map(|(table, _)| table.schema.clone()))
        .text("table", all.iter().map(|(table, _)| table.name.clone()))
        .count("bucket", all.iter().map(|(_, bucket)| bucket.id.0))
        .text("low", all.iter().map(|(table, bucket)| bound(table, &bucket.range.low)))
        .text("high", all.iter().map(|(table, bucket)| bound(table, &bucket.range.high)))
        .count("rows", all.iter().map(|(_, bucket)| bucket.rows))
        .count("bytes", all.iter().map(|(_, bucket)| bucket.bytes))
        .count("delta_rows", all.iter().map(|(_, bucket)| bucket.delta_rows))
        .count("delta_bytes", all.iter().map(|(_, bucket)| bucket.delta_bytes))
        .count("runs", all.iter().map(|(_, bucket)| bucket.runs.len() as u64))
        .count("accesses_per_second", all.iter().map(|(_, bucket)| bucket.accesses))
}

/// The table `splits`.
fn splits(shared: &dyn DatabaseContext, catalog: &Catalog) -> Columns {
    let all = shared.store().splits();
    let tables = all.iter().filter_map(|split| Some((catalog.table_by_id(split.table)?, split)));
    let all: Vec<(&Arc<Table>, &SplitInfo)> = tables.collect();
    let time = |split: &SplitInfo| {
        let since = split.time.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    };
    let at = |table: &Table, split: &SplitInfo| {
        key::describe_bound(table, &sdds::Bound::At(split.at.clone()))
    };
    Columns::default()
        .text("schema", all.iter().map(|(table, _)| table.schema.clone()))
        .text("table", all.iter().map(|(table, _)| table.name.clone()))
        .timestamp("time", all.iter().map(|(_, split)| time(split)))
        .text("at", all.iter().map(|(table, split)| at(table, split)))
        .count("rows", all.iter().map(|(_, split)| split.rows))
        .count("bytes", all.iter().map(|(_, split)| split.bytes))
        .count("accesses_per_second", all.iter().map(|(_, split)| split.accesses))
        .text("reason", all.iter().map(|(_, split)| split.reason.to_owned()))
}

/// The table `runs`.
fn runs(shared: &dyn DatabaseContext, catalog: &Catalog) -> Columns {
    let all = stored_tables(shared, catalog);
    let mut rows = Vec::new();
    for (table, buckets) in &all {
        for bucket in buckets {
            rows.extend(bucket.runs.iter().map(|run| (table, bucket, run)));
        }
    }
    let bound =
        |table: &Table, at: &sdds::Key| key::describe_bound(table, &sdds::Bound::At(at.clone()));
    Columns::default()
        .text("schema", rows.iter().map(|(table, ..)| table.schema.clone()))
        .text("table", rows.iter().map(|(table, ..)| table.name.clone()))
        .count("bucket", rows.iter().map(|(_, bucket, _)| bucket.id.0))
        .text("first", rows.iter().map(|(table, _, run)| bound(table, &run.first)))
        .text("last", rows.iter().map(|(table, _, run)| bound(table, &run.last)))
        .count("rows", rows.iter().map(|(.., run)| run.rows))
        .count("bytes", rows.iter().map(|(.., run)| run.bytes))
        .count("chunks", rows.iter().map(|(.., run)| run.chunks as u64))
        .count("timestamp", rows.iter().map(|(.., run)| run.timestamp.0))
}

/// The table `queries`.
fn queries(shared: &dyn DatabaseContext) -> Columns {
    let running = shared.running();
    let since_epoch = |running: &Running| {
        let started = running.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(started.as_micros()).unwrap_or(i64::MAX)
    };
    let elapsed = |running: &Running| {
        running.started.elapsed().map_or(0, |elapsed| elapsed.as_millis() as u64)
    };
    Columns::default()
        .count("query", running.iter().map(|running| running.statement))
        .count("session", running.iter().map(|running| running.session))
        .timestamp("started", running.iter().map(since_epoch))
        .count("elapsed_ms", running.iter().map(elapsed))
        .text("user", running.iter().map(|running| running.user.to_string()))
        .text("text", running.iter().map(|running| running.text.clone()))
}

/// The table `settings`.
fn setting_rows(settings: &[(String, String)]) -> Columns {
    Columns::default()
        .text("name", settings.iter().map(|(name, _)| name.clone()))
        .text("setting", settings.iter().map(|(_, value)| value.clone()))
}

/// The table `memory`.
fn memory(shared: &dyn DatabaseContext) -> Columns {
    let memory = shared.store().memory();
    let limit = memory.limit().and_then(|limit| i64::try_from(limit).ok());
    Columns::default()
        .number("limit_bytes", [limit])
        .count("table_bytes", [memory.table_bytes()])
        .count("query_bytes", [memory.query_bytes()])
}

/// The table `counters`.
fn counters(shared: &dyn DatabaseContext) -> Columns {
    let counters = shared.store().counters();
    let mut all = vec![
        ("commits", counters.commits),
        ("conflicts", counters.conflicts),
        ("splits", counters.splits),
        ("merges", counters.merges),
        ("compactions", counters.compactions),
        ("log_entries", counters.log_position),
        ("exchanges", shared.exchange_count() as u64),
        ("stored_bundles", shared.stored_bundle_count() as u64),
    ];
    if let Some(peers) = shared.store().peers() {
        let traffic = peers.traffic();
        all.extend([
            ("messages_sent", traffic.sent.messages),
            ("bytes_sent", traffic.sent.bytes),
            ("messages_received", traffic.received.messages),
            ("bytes_received", traffic.received.bytes),
        ]);
    }
    Columns::default()
        .text("name", all.iter().map(|(name, _)| (*name).to_owned()))
        .count("value", all.iter().map(|(_, value)| *value))
}
