//! System tables about the cluster.

use super::report;
use crate::membership::{Member, Membership, ROOT, TableLoad};
use crate::node::Node;
use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{Field, Schema};
use messages::{MoveInfo, ServerReport};
use sdds::{GroupId, ServerId};
use std::sync::Arc;
use store::catalog::{Catalog, TableId};
use store::{Error, Finding, Traffic, key};

/// The system table with this name; `None` if there is none.
pub(crate) async fn table(node: &Node, name: &str) -> Result<Option<RecordBatch>, Error> {
    if !["servers", "groups", "shares", "moves", "images"].contains(&name) {
        return Ok(None);
    }
    let mut report = report(node).await;
    // Servers that left without loss are not listed.
    report.retain(|(member, _)| !(member.is_lost && member.has_left));
    let catalog = node.store.catalog();
    let rows = match name {
        "servers" => servers(&report, node.membership.here),
        "groups" => groups(&report, &node.membership),
        "shares" => shares(&report, &catalog),
        "moves" => moves(&report, &catalog, &node.membership),
        _ => images(&report, &catalog),
    };
    Ok(Some(rows?))
}

type Report = [(Member, Result<ServerReport, Error>)];

/// Builds a batch column by column.
#[derive(Default)]
struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    fn text(self, name: &str, values: impl IntoIterator<Item = Option<String>>) -> Self {
        self.with(name, Arc::new(StringViewArray::from_iter(values)))
    }

    fn number(self, name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Self {
        let values = values.into_iter().map(|value| value.map(|value| value as i64));
        self.with(name, Arc::new(Int64Array::from_iter(values)))
    }

    fn flag(self, name: &str, values: impl IntoIterator<Item = bool>) -> Self {
        self.with(name, Arc::new(BooleanArray::from_iter(values.into_iter().map(Some))))
    }

    fn with(mut self, name: &str, values: ArrayRef) -> Self {
        self.0.push((Field::new(name, values.data_type().clone(), true), values));
        self
    }

    fn batch(self) -> Result<RecordBatch, Error> {
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}

fn servers(report: &Report, here: ServerId) -> Result<RecordBatch, Error> {
    let held = || report.iter().map(|(_, held)| held.as_ref().ok());
    let sum = |of: fn(&TableLoad) -> u64| held().map(move |held| held.map(|held| held.sum(of)));
    let traffic =
        |of: fn(&Traffic) -> u64| held().map(move |held| held.map(|held| of(&held.traffic)));
    let state = |(member, held): &(Member, Result<ServerReport, Error>)| {
        let state = match held {
            _ if member.has_left => "left",
            _ if member.is_lost => "lost",
            Err(_) => "unreachable",
            Ok(held) if member.weight == 0 && held.load.tables.is_empty() => "empty",
            Ok(_) if member.weight == 0 => "draining",
            Ok(_) => "up",
        };
        Some(state.to_owned())
    };
    Columns::default()
        .number("number", report.iter().map(|(member, _)| Some(member.server.0)))
        .text("name", report.iter().map(|(member, _)| Some(member.name.clone())))
        .text("address", report.iter().map(|(member, _)| Some(member.address.clone())))
        .text("pg", report.iter().map(|(member, _)| member.pg.clone()))
        .text("state", report.iter().map(state))
        .flag("is_here", report.iter().map(|(member, _)| member.server == here))
        .number("weight", report.iter().map(|(member, _)| Some(u64::from(member.weight))))
        .number("tables", held().map(|held| held.map(|held| held.load.tables.len() as u64)))
        .number("buckets", sum(|table| table.buckets))
        .number("rows", sum(|table| table.rows))
        .number("bytes", sum(|table| table.bytes))
        .number("memory", held().map(|held| held.map(|held| held.memory)))
        .number("messages_sent", traffic(|traffic| traffic.sent.messages))
        .number("bytes_sent", traffic(|traffic| traffic.sent.bytes))
        .number("messages_received", traffic(|traffic| traffic.received.messages))
        .number("bytes_received", traffic(|traffic| traffic.received.bytes))
        .batch()
}

/// Replica groups. A group has one server.
fn groups(report: &Report, membership: &Membership) -> Result<RecordBatch, Error> {
    let held = || report.iter().map(|(_, held)| held.as_ref().ok());
    let pages = |held: &ServerReport| held.images.iter().map(|image| image.pages).sum();
    let name = |(member, _): &(Member, _)| Some(member.name.clone());
    let group = |member: &Member| membership.group_of(member.server);
    Columns::default()
        .number("number", report.iter().map(|(member, _)| Some(group(member).0)))
        .text("leader", report.iter().map(name))
        .text("members", report.iter().map(name))
        .flag("is_root", report.iter().map(|(member, _)| group(member) == ROOT))
        .flag("is_lost", report.iter().map(|(member, _)| member.is_lost))
        .number("buckets", held().map(|held| held.map(|held| held.sum(|table| table.buckets))))
        .number("rows", held().map(|held| held.map(|held| held.sum(|table| table.rows))))
        .number("bytes", held().map(|held| held.map(|held| held.sum(|table| table.bytes))))
        .number("pages", held().map(|held| held.map(pages)))
        .batch()
}

/// The schema and name of a table.
fn names(catalog: &Catalog, table: TableId) -> (Option<String>, Option<String>) {
    match catalog.table_by_id(table) {
        Some(table) => (Some(table.schema.clone()), Some(table.name.clone())),
        None => (None, Some(format!("(dropped: {})", table.0))),
    }
}

/// The reachable servers of a report.
fn present(report: &Report) -> impl Iterator<Item = (&Member, &ServerReport)> + Clone {
    report.iter().filter_map(|(member, held)| Some((member, held.as_ref().ok()?)))
}

fn shares(report: &Report, catalog: &Catalog) -> Result<RecordBatch, Error> {
    let rows: Vec<_> = present(report)
        .flat_map(|(member, held)| held.load.tables.iter().map(move |table| (member, table)))
        .collect();
    let total = |table: TableId| -> u64 {
        rows.iter().filter(|(_, load)| load.table == table).map(|(_, load)| load.bytes).sum()
    };
    let percent = |bytes: u64, table| bytes * 100 / total(table).max(1);
    Columns::default()
        .text("schema", rows.iter().map(|(_, load)| names(catalog, load.table).0))
        .text("table", rows.iter().map(|(_, load)| names(catalog, load.table).1))
        .text("server", rows.iter().map(|(member, _)| Some(member.name.clone())))
        .number("buckets", rows.iter().map(|(_, load)| Some(load.buckets)))
        .number("rows", rows.iter().map(|(_, load)| Some(load.rows)))
        .number("bytes", rows.iter().map(|(_, load)| Some(load.bytes)))
        .number("accesses_per_second", rows.iter().map(|(_, load)| Some(load.accesses)))
        .number("percent", rows.iter().map(|(_, load)| Some(percent(load.bytes, load.table))))
        .batch()
}

fn moves(
    report: &Report,
    catalog: &Catalog,
    membership: &Membership,
) -> Result<RecordBatch, Error> {
    let rows: Vec<_> = present(report)
        .flat_map(|(member, held)| held.moves.iter().map(move |info| (member, info)))
        .collect();
    let name = |group: GroupId| {
        let leader = membership.leader_of(group);
        let member = report.iter().find(|(member, _)| member.server == leader);
        member.map(|(member, _)| member.name.clone())
    };
    let bound = |table, bound: &sdds::Bound| match catalog.table_by_id(table) {
        Some(table) => Some(key::describe_bound(table, bound)),
        None => Some(bound.to_string()),
    };
    let per_second = |info: &MoveInfo| info.sent.saturating_mul(1_000_000) / info.micros.max(1);
    let seconds_left = |info: &MoveInfo| match info.state.as_str() {
        "copying" | "waiting" if info.sent > 0 => {
            Some(info.bytes.saturating_sub(info.sent) / per_second(info).max(1))
        }
        _ => None,
    };
    Columns::default()
        .text("schema", rows.iter().map(|(_, info)| names(catalog, info.table).0))
        .text("table", rows.iter().map(|(_, info)| names(catalog, info.table).1))
        .text("low", rows.iter().map(|(_, info)| bound(info.table, &info.range.low)))
        .text("high", rows.iter().map(|(_, info)| bound(info.table, &info.range.high)))
        .text("source", rows.iter().map(|(member, _)| Some(member.name.clone())))
        .text("destination", rows.iter().map(|(_, info)| name(info.to)))
        .text("state", rows.iter().map(|(_, info)| Some(info.state.clone())))
        .number("bytes", rows.iter().map(|(_, info)| Some(info.bytes)))
        .number("sent", rows.iter().map(|(_, info)| Some(info.sent)))
        .number("bytes_per_second", rows.iter().map(|(_, info)| Some(per_second(info))))
        .number("seconds_left", rows.iter().map(|(_, info)| seconds_left(info)))
        .number("micros", rows.iter().map(|(_, info)| Some(info.micros)))
        .number("frozen_micros", rows.iter().map(|(_, info)| Some(info.frozen_micros)))
        .number("frozen_rows", rows.iter().map(|(_, info)| Some(info.frozen_rows)))
        .text("reason", rows.iter().map(|(_, info)| Some(info.reason.clone())))
        .batch()
}

fn images(report: &Report, catalog: &Catalog) -> Result<RecordBatch, Error> {
    let rows: Vec<_> = present(report)
        .flat_map(|(member, held)| held.images.iter().map(move |image| (member, image)))
        .collect();
    let finding =
        |of: fn(&Finding) -> u64| rows.iter().map(move |(_, image)| Some(of(&image.finding)));
    Columns::default()
        .text("server", rows.iter().map(|(member, _)| Some(member.name.clone())))
        .text("schema", rows.iter().map(|(_, image)| names(catalog, image.table).0))
        .text("table", rows.iter().map(|(_, image)| names(catalog, image.table).1))
        .number("entries", rows.iter().map(|(_, image)| Some(image.entries.len() as u64)))
        .number("bytes", rows.iter().map(|(_, image)| Some(image.bytes)))
        .number("requests", finding(|finding| finding.requests))
        .number("forwards", finding(|finding| finding.forwards))
        .number("hops", finding(Finding::hops))
        .number("adjustments", finding(|finding| finding.adjustments))
        .number("broadcasts", finding(|finding| finding.broadcasts))
        .batch()
}
