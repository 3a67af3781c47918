//! `pando bench functions`: functions and procedures of users next to the expressions and statements that they consist of,
//! on a Pando server and on others with PostgreSQL's protocol in the same run.
//!
//! One client runs each of the [`works`] several times, on one server after the other. A server that does not have the
//! language of a work leaves it out.

mod works;

use crate::report::Report;
use crate::statistics::{Times, ms, us};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};
use works::{EXPRESSION, WORKS, Work};

/// Options of `pando bench functions`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FunctionsArgs {
    /// A server: its name, `=`, and its URL; once for each, the one to compare with last. Its tables and functions whose names
    /// begin with bench_ are replaced
    #[arg(long = "server", value_name = "NAME=URL", required = true)]
    servers: Vec<String>,
    /// Rows of the table that functions are called for
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    rows: u32,
    /// Turns of each loop in PL/pgSQL
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Measured runs of each work, after one that is not measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Only works with this in their name
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// A server that is measured.
struct Server {
    name: String,
    client: Client,
    /// The duration of the expression that functions of rows consist of.
    expression: Option<Duration>,
}

/// What came of a work on a server.
enum Outcome {
    Measured(Times),
    /// The server does not have the language; its message.
    Missing(String),
}

pub(super) async fn run(args: &FunctionsArgs, report: Report) -> Result<()> {
    let mut servers = Vec::with_capacity(args.servers.len());
    for server in &args.servers {
        let (name, url) = server.split_once('=').context("--server must be NAME=URL")?;
        let server =
            Server { name: name.to_owned(), client: connect(url).await?, expression: None };
        report.progress(&format!("{name}: the tables"));
        server.client.batch_execute(&works::tables(args.rows)).await.context("the tables")?;
        servers.push(server);
    }
    report.heading(&format!(
        "{:<12} {:<26} {:>10} {:>10} {:>12} {:>14} {:>8}",
        "server", "work", "median ms", "min ms", "µs for each", "of expression", "times"
    ))?;
    let wanted = |work: &&Work| args.only.as_ref().is_none_or(|part| work.name.contains(part));
    for work in WORKS.iter().filter(|work| wanted(work) || work.name == EXPRESSION) {
        let mut outcomes = Vec::with_capacity(servers.len());
        for server in &mut servers {
            report.progress(&format!("{}: {}", server.name, work.name));
            let outcome = one(args, server, work).await;
            let outcome = outcome.with_context(|| format!("{}: {}", server.name, work.name))?;
            if let (EXPRESSION, Outcome::Measured(times)) = (work.name, &outcome) {
                server.expression = Some(times.median());
            }
            outcomes.push(outcome);
        }
        print(args, report, work, &servers, &outcomes)?;
    }
    for server in &servers {
        server.client.batch_execute(&works::cleanup()).await?;
    }
    Ok(())
}

/// Runs a work on a server.
async fn one(args: &FunctionsArgs, server: &Server, work: &Work) -> Result<Outcome> {
    let client = &server.client;
    if let Err(error) = client.batch_execute(work.setup).await {
        return match error.as_db_error() {
            Some(db) if is_missing(db.code()) => Ok(Outcome::Missing(db.message().to_owned())),
            _ => Err(error).context("its function"),
        };
    }
    let statement = work.statement(args.turns);
    let mut times = Times::default();
    let mut first = None;
    for _ in 0..=args.runs {
        let start = Instant::now();
        let rows = client.simple_query(&statement).await?;
        let time = start.elapsed();
        let answer = format!("{rows:?}");
        match &first {
            // The first run is not measured.
            None => first = Some(answer),
            Some(expected) if work.is_constant => {
                ensure!(answer == *expected, "{answer} after {expected}");
                times.push(time);
            }
            Some(_) => times.push(time),
        }
    }
    if times.count() == 0 {
        bail!("nothing was measured");
    }
    Ok(Outcome::Measured(times))
}

/// Whether an error says that the language, or the extension that brings it, is not there.
fn is_missing(state: &SqlState) -> bool {
    [SqlState::UNDEFINED_OBJECT, SqlState::FEATURE_NOT_SUPPORTED, SqlState::UNDEFINED_FILE]
        .contains(state)
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Prints what was measured on each server: how many times faster than the expression alone, and than the last server.
fn print(
    args: &FunctionsArgs,
    report: Report,
    work: &Work,
    servers: &[Server],
    outcomes: &[Outcome],
) -> Result<()> {
    let median = |outcome: &Outcome| match outcome {
        Outcome::Measured(times) => Some(times.median()),
        Outcome::Missing(_) => None,
    };
    let times_of = |a: Option<Duration>, b: Duration| Some(a?.as_secs_f64() / b.as_secs_f64());
    let last = outcomes.last().and_then(median);
    for (server, outcome) in servers.iter().zip(outcomes) {
        let (name, what) = (&server.name, work.name);
        let times = match outcome {
            Outcome::Measured(times) => times,
            Outcome::Missing(message) => {
                let values = json!({
                    "experiment": "functions", "server": name, "work": what, "missing": message,
                });
                report.result(&format!("{name:<12} {what:<26} {message}"), values)?;
                continue;
            }
        };
        let each = times.median() / work.units(args.rows, args.turns);
        let expression = server.expression.filter(|_| work.is_of_rows());
        let of_expression = times_of(expression, times.median());
        let of_last = times_of(last, times.median());
        let cell = |value: Option<f64>| value.map_or("-".to_owned(), |it| format!("{it:.2}"));
        let (middle, min, each) = (ms(times.median()), ms(times.min()), us(each));
        let text = format!(
            "{name:<12} {what:<26} {middle:>10.2} {min:>10.2} {each:>12.3} {:>14} {:>8}",
            cell(of_expression),
            cell(of_last)
        );
        report.result(
            &text,
            json!({
                "experiment": "functions", "server": name, "work": what, "ms_median": middle, "ms_min": min,
                "us_each": each, "times_expression": of_expression, "times_last": of_last,
            }),
        )?;
    }
    Ok(())
}
