//! `pando bench person` with `--servers N`, `--scale-up` or `--speed-up`: the join of Experiment A on several servers.
//!
//! The table is loaded through the first server and queried through the last. The client reads every pair. All servers
//! share this machine's processors, so more of them do not make the join faster. Their processor time and messages are
//! those of servers with a machine each.

use super::{PersonArgs, Query, published};
use crate::process;
use crate::report::Report;
use crate::scaling::{Growth, Rate};
use crate::servers::Servers;
use crate::settling::{Shares, settle};
use crate::statistics::{Times, ms};
use crate::usage::{Usage, mib};
use anyhow::{Result, ensure};
use query::Executors;
use serde_json::json;
use std::time::Duration;
use workloads::person;

/// Approximate bytes of a person in a bucket.
const ROW_BYTES: u64 = 45;
const BUCKETS_A_SERVER: u64 = 2;
const BUCKET_BYTES_MIN: u64 = 4 << 10;

/// The measurements of one query on one cluster.
struct Measured {
    rows: u32,
    servers: u16,
    query: Query,
    pairs: u64,
    times: Times,
    /// Resource usage of one run.
    usage: Usage,
    /// Processor time of the client in one run; `None` if the servers are in its process.
    client: Option<Duration>,
    shares: Shares,
    /// Published duration in seconds.
    published: Option<f64>,
}

impl Measured {
    /// Pairs a second on this machine.
    fn measured(&self) -> Rate {
        Rate::of(self.servers, self.pairs, self.times.median())
    }

    /// Pairs a second if each server had a processor of its own.
    fn alone(&self) -> Option<Rate> {
        self.usage.alone(self.pairs)
    }

    /// Published pairs a second.
    fn published(&self) -> Option<Rate> {
        let seconds = Duration::from_secs_f64(self.published?);
        Some(Rate::of(self.servers, self.pairs, seconds))
    }
}

pub(super) async fn run(args: &PersonArgs, report: Report, executors: &Executors) -> Result<()> {
    report.heading(&format!(
        "Servers share this machine's processors. CPU s: processor time of all servers, of the busiest, of the queried \
         one, and of the client.\nPublished: AMOS-SDDS, I-strategy, one machine for each server.\n\
         {:<6} {:>8} {:>7} {:>11} {:>10} {:>11} {:>8} {:>8} {:>8} {:>8} {:>9} {:>12} {:>9}",
        "", "persons", "servers", "pairs", "ms", "published s", "CPU s", "busiest", "queried", "client", "messages",
        "MiB between", "fullest %"
    ))?;
    let mut all = Vec::new();
    for (rows, servers) in args.steps() {
        all.extend(measure(args, rows, servers, report, executors).await?);
    }
    for query in args.queries()? {
        let series: Vec<&Measured> = all.iter().filter(|one| one.query == query).collect();
        if let [first, rest @ ..] = &series[..]
            && !rest.is_empty()
        {
            print_growth(report, args, first, rest)?;
        }
    }
    Ok(())
}

/// Measures the queries on one cluster.
async fn measure(
    args: &PersonArgs,
    rows: u32,
    servers: u16,
    report: Report,
    executors: &Executors,
) -> Result<Vec<Measured>> {
    report.progress(&format!("{rows} persons on {servers} servers"));
    let cluster = Servers::start(servers, args.in_process, executors).await?;
    let table = person::table(rows).with_bucket_size(bucket_bytes(rows, servers));
    cluster.endpoint(0).await?.load(table).await?;
    let asked = cluster.endpoint(cluster.len() - 1).await?;
    let shares = settle(&asked, "person", rows.into(), cluster.len()).await?;
    for function in args.strategy.functions() {
        asked.execute(function).await?;
    }
    let pairs = person::pairs(rows);
    let counted = asked.number(Query::Count.sql(args.strategy)).await?;
    ensure!(counted == pairs, "{counted} pairs counted instead of {pairs}");
    let mut all = Vec::new();
    for query in args.queries()? {
        let (mut times, before) = (Times::default(), cluster.usage(&asked).await?);
        let client = process::processor_time();
        for _ in 0..args.runs {
            let (time, answered) = asked.query(query.sql(args.strategy)).await?;
            let expected = query.rows(pairs);
            ensure!(answered == expected, "{answered} rows instead of {expected}");
            times.push(time);
        }
        let client = client.zip(process::processor_time()).filter(|_| !args.in_process);
        let client = client.map(|(before, after)| (after - before) / args.runs);
        let usage = cluster.usage(&asked).await?.since(&before, args.runs);
        let published = published::seconds(rows, servers, query, args.speed_up);
        let shares = shares.clone();
        let one = Measured { rows, servers, query, pairs, times, usage, client, shares, published };
        print(report, args, &one)?;
        all.push(one);
    }
    Ok(all)
}

fn print(report: Report, args: &PersonArgs, measured: &Measured) -> Result<()> {
    let Measured { rows, servers, query, pairs, times, usage, client, shares, published } =
        measured;
    let (median, min) = (ms(times.median()), ms(times.min()));
    let traffic = usage.traffic();
    let asked = usage.processor_of(usize::from(*servers) - 1);
    let [all, busiest, asked, client] =
        [usage.processor(), usage.busiest(), asked, *client].map(Seconds);
    let fullest = shares.fullest_percent();
    let text = format!(
        "{:<6} {rows:>8} {servers:>7} {pairs:>11} {median:>10.1} {:>11} {all:>8} {busiest:>8} {asked:>8} \
         {client:>8} {:>9} {:>12.1} {fullest:>9.1}\n{}",
        query.name(),
        published.map_or(String::new(), |seconds| format!("{seconds:.0}")),
        traffic.messages,
        mib(traffic.bytes),
        usage.text(),
    );
    report.result(&text, json!({
        "experiment": "person", "rows": rows, "servers": servers, "query": query.name(), "who": "pando",
        "strategy": args.strategy.name(), "in_process": args.in_process, "pairs": pairs,
        "ms_median": median, "ms_min": min, "pairs_per_second": measured.measured().per_second,
        "published_seconds": published, "cpu_seconds": all.value(), "busiest_cpu_seconds": busiest.value(),
        "asked_cpu_seconds": asked.value(), "client_cpu_seconds": client.value(),
        "messages": traffic.messages, "bytes_between": traffic.bytes, "buckets": shares.buckets,
        "fullest_percent": fullest, "per_server": usage.json(),
    }))?;
    Ok(())
}

/// Seconds, or a dash if they are not known.
#[derive(Clone, Copy)]
struct Seconds(Option<Duration>);

impl Seconds {
    fn value(self) -> Option<f64> {
        self.0.map(|time| time.as_secs_f64())
    }
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.value().map_or("-".to_owned(), |seconds| format!("{seconds:.3}")))
    }
}

/// Prints the growth of pairs a second since the first step.
fn print_growth(
    report: Report,
    args: &PersonArgs,
    first: &Measured,
    rest: &[&Measured],
) -> Result<()> {
    let series = if args.speed_up { "speed-up" } else { "scale-up" };
    let query = first.query.name();
    report.heading(&format!(
        "\n{series} of {query}: pairs a second relative to {}, and in percent of linear growth.\n\
         Alone: if each server had a processor of its own (from the busiest one's processor time).\n\
         {:>7} {:>16} {:>16} {:>16}",
        first.servers, "servers", "measured", "alone", "published"
    ))?;
    for one in rest {
        let growth = |of: fn(&Measured) -> Option<Rate>| Some(of(one)?.relative_to(of(first)?));
        let measured = growth(|one| Some(one.measured()));
        let (alone, published) = (growth(Measured::alone), growth(Measured::published));
        let cell = |growth: Option<Growth>| {
            growth.map_or("-".to_owned(), |it| format!("{:.2} ({:.0} %)", it.times, it.percent))
        };
        let text = format!(
            "{:>7} {:>16} {:>16} {:>16}",
            one.servers,
            cell(measured),
            cell(alone),
            cell(published)
        );
        let times = |growth: Option<Growth>| growth.map(|growth| growth.times);
        let percent = |growth: Option<Growth>| growth.map(|growth| growth.percent);
        report.result(&text, json!({
            "experiment": "person", "series": series, "query": query, "from_servers": first.servers,
            "to_servers": one.servers, "times": times(measured), "percent": percent(measured),
            "times_alone": times(alone), "percent_alone": percent(alone),
            "times_published": times(published), "percent_published": percent(published),
        }))?;
    }
    Ok(())
}

/// The bucket size for which each server has about two buckets.
fn bucket_bytes(rows: u32, servers: u16) -> u64 {
    let buckets = u64::from(servers) * BUCKETS_A_SERVER;
    (u64::from(rows) * ROW_BYTES / buckets).max(BUCKET_BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_a_minimum_size() {
        assert_eq!(bucket_bytes(20_000, 1), 450_000);
        assert_eq!(bucket_bytes(10, 15), 4 << 10);
    }

    #[test]
    fn unknown_seconds_are_aligned() {
        assert_eq!(
            format!("{:>6}|{:>6}", Seconds(None), Seconds(Some(Duration::from_millis(1500)))),
            "     -| 1.500"
        );
    }
}
