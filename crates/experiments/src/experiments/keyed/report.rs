//! Output of Experiment C: throughput and processor time of statements, by numbers of servers and relations.

use crate::report::Report;
use crate::scaling::Rate;
use crate::statistics::{Times, us};
use crate::usage::Usage;
use anyhow::Result;
use serde_json::json;
use std::time::Duration;

/// The statement of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Select,
    Update,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Update => "update",
        }
    }

    pub(super) fn sql(self, relation: &str) -> String {
        match self {
            Self::Select => format!("SELECT * FROM {relation} WHERE id = $1"),
            Self::Update => format!("UPDATE {relation} SET value = value + 1 WHERE id = $1"),
        }
    }
}

/// The parameters of one measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) servers: u16,
    pub(super) relations: usize,
    pub(super) kind: Kind,
    /// Clients of each server.
    pub(super) clients: u16,
}

/// The results of one measurement.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) setting: Setting,
    /// Statements of all clients in all rounds.
    pub(super) statements: u64,
    /// Duration of all rounds.
    pub(super) took: Duration,
    /// Duration of each statement, as its client sees it.
    pub(super) waited: Times,
    /// Resource usage of all statements.
    pub(super) usage: Usage,
}

impl Measured {
    /// Throughput on this machine.
    fn measured(&self) -> Rate {
        Rate::of(self.setting.servers, self.statements, self.took)
    }

    /// Throughput if each server had a processor of its own.
    fn alone(&self) -> Option<Rate> {
        self.usage.alone(self.statements)
    }

    /// Processor time of a statement on all servers, in microseconds.
    fn cpu_us(&self) -> Option<f64> {
        Some(us(self.usage.processor()?) / self.statements as f64)
    }

    /// Processor time of the busiest server for each statement of its share, in microseconds.
    fn busiest_us(&self) -> Option<f64> {
        let share = self.statements as f64 / f64::from(self.setting.servers);
        Some(us(self.usage.busiest()?) / share)
    }
}

/// Requests to other servers for clients, and how often they were forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Finding {
    pub(super) requests: u64,
    pub(super) forwards: u64,
}

impl Finding {
    pub(super) fn since(self, then: Self) -> Self {
        Self { requests: self.requests - then.requests, forwards: self.forwards - then.forwards }
    }

    /// Forwards of 1,000 requests.
    fn per_thousand(self) -> f64 {
        1000.0 * self.forwards as f64 / self.requests.max(1) as f64
    }
}

pub(super) fn print_heading(report: Report) -> Result<()> {
    report.heading(&format!(
        "Servers share this machine's processors. Published: no slower with two relations; over 90 % from 4 to 16 servers.\n\
         CPU: processor time of a statement on all servers; busiest: of the busiest server for a statement of its share.\n\
         {:>7} {:>9} {:<8} {:>14} {:>12} {:>12} {:>10} {:>8} {:>8} {:>8} {:>9} {:>8}",
        "servers",
        "relations",
        "",
        "clients/server",
        "thousand/s",
        "each server",
        "median µs",
        "p99 µs",
        "CPU µs",
        "busiest",
        "messages",
        "bytes"
    ))?;
    Ok(())
}

pub(super) fn print(report: Report, measured: &Measured) -> Result<()> {
    let Setting { servers, relations, kind, clients } = measured.setting;
    let per_second = measured.measured().per_second;
    let [median, p99] = [0.5, 0.99].map(|part| us(measured.waited.quantile(part)));
    let (traffic, statements) = (measured.usage.traffic(), measured.statements as f64);
    let (messages, bytes) =
        (traffic.messages as f64 / statements, traffic.bytes as f64 / statements);
    let cell = |us: Option<f64>| us.map_or("-".to_owned(), |us| format!("{us:.0}"));
    let text = format!(
        "{servers:>7} {relations:>9} {:<8} {clients:>14} {:>12.1} {:>12.2} {median:>10.0} {p99:>8.0} {:>8} {:>8} \
         {messages:>9.2} {bytes:>8.0}",
        kind.name(),
        per_second / 1e3,
        per_second / 1e3 / f64::from(servers),
        cell(measured.cpu_us()),
        cell(measured.busiest_us()),
    );
    report.result(&text, json!({
        "experiment": "keyed", "servers": servers, "relations": relations, "operation": kind.name(),
        "clients_per_server": clients, "per_second": per_second, "us_median": median, "us_p99": p99,
        "cpu_us": measured.cpu_us(), "busiest_cpu_us": measured.busiest_us(),
        "messages": messages, "bytes_between": bytes, "per_server": measured.usage.json(),
    }))?;
    Ok(())
}

pub(super) fn print_finding(
    report: Report,
    servers: u16,
    learning: Finding,
    after: Finding,
) -> Result<()> {
    let text = format!(
        "{servers:>7} forwards of 1,000 requests: {:.2} of the first {}, {:.2} of the next {}",
        learning.per_thousand(),
        learning.requests,
        after.per_thousand(),
        after.requests
    );
    report.result(
        &text,
        json!({
            "experiment": "keyed", "servers": servers, "operation": "find",
            "learning_requests": learning.requests, "learning_forwards": learning.forwards,
            "requests": after.requests, "forwards": after.forwards,
        }),
    )?;
    Ok(())
}

/// Prints throughput and processor time with two relations relative to one.
pub(super) fn print_relations(report: Report, all: &[Measured]) -> Result<()> {
    report.heading("\nTwo relations relative to one: statements a second, CPU of a statement")?;
    for one in all.iter().filter(|one| one.setting.relations == 1) {
        let wanted = Setting { relations: 2, ..one.setting };
        let Some(two) = all.iter().find(|two| two.setting == wanted) else { continue };
        let percent = two.measured().relative_to(one.measured()).percent;
        let cpu = ratio_percent(two.cpu_us(), one.cpu_us());
        let Setting { servers, kind, clients, .. } = one.setting;
        let text = format!(
            "{servers:>7} servers {:<8} {clients:>3} clients/server: {percent:>4.0} % {:>8}",
            kind.name(),
            percent_text(cpu)
        );
        report.result(&text, json!({
            "experiment": "keyed", "operation": kind.name(), "servers": servers, "clients_per_server": clients,
            "two_relations_percent": percent, "two_relations_cpu_percent": cpu,
        }))?;
    }
    Ok(())
}

/// Prints the throughput of a server in the largest cluster relative to that in the smallest.
pub(super) fn print_scalability(report: Report, all: &[Measured], servers: &[u16]) -> Result<()> {
    let (Some(&few), Some(&many)) = (servers.first(), servers.last()) else { return Ok(()) };
    if few == many {
        return Ok(());
    }
    report.heading(&format!(
        "\nThroughput of a server on {many} servers relative to {few}: measured; if each had a processor of its own (from \
         the busiest one's CPU); from the CPU of a statement"
    ))?;
    for one in all.iter().filter(|one| one.setting.servers == few) {
        let wanted = Setting { servers: many, ..one.setting };
        let Some(other) = all.iter().find(|other| other.setting == wanted) else { continue };
        let percent = other.measured().relative_to(one.measured()).percent;
        let alone = other.alone().zip(one.alone()).map(|(many, few)| many.relative_to(few).percent);
        let cpu = ratio_percent(one.cpu_us(), other.cpu_us());
        let Setting { relations, kind, clients, .. } = one.setting;
        let text = format!(
            "{relations} relations {:<8} {clients:>3} clients/server: {percent:>4.0} % {:>8} {:>8}",
            kind.name(),
            percent_text(alone),
            percent_text(cpu)
        );
        report.result(&text, json!({
            "experiment": "keyed", "operation": kind.name(), "from_servers": few, "to_servers": many,
            "relations": relations, "clients_per_server": clients, "scalability_percent": percent,
            "scalability_percent_alone": alone, "scalability_percent_cpu": cpu,
        }))?;
    }
    Ok(())
}

/// One value as a percentage of another; `None` if either is not known.
fn ratio_percent(value: Option<f64>, of: Option<f64>) -> Option<f64> {
    Some(100.0 * value? / of?)
}

fn percent_text(percent: Option<f64>) -> String {
    percent.map_or("-".to_owned(), |percent| format!("{percent:.0} %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_are_relative_to_a_thousand_requests() {
        let (then, now) =
            (Finding { requests: 500, forwards: 9 }, Finding { requests: 2500, forwards: 12 });
        assert!((now.since(then).per_thousand() - 1.5).abs() < 1e-9);
        assert!(Finding::default().per_thousand().abs() < 1e-9);
    }

    #[test]
    fn an_unknown_value_has_no_ratio() {
        assert_eq!(ratio_percent(Some(3.0), Some(4.0)), Some(75.0));
        assert_eq!(ratio_percent(Some(3.0), None), None);
        assert_eq!(percent_text(ratio_percent(Some(3.0), Some(4.0))), "75 %");
        assert_eq!(percent_text(None), "-");
    }
}
