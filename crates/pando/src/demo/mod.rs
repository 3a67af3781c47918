//! `pando demo`: loads TPC-H and a table of persons while a map shows their buckets split, shows how they spread over the
//! servers of a cluster, runs queries, listens for clients, and opens the shell.

mod listeners;
mod load;
mod map;
mod questions;
mod screen;
mod spread;

use crate::arguments::DemoArguments;
use crate::open::options;
use futures::future::BoxFuture;
use pando::Database;
use query::Executors;
use shell::output::{Align, Format, Grid, Heading, ROWS_SHOWN_MAX, View};
use shell::quantity::{bytes, count, counted, duration, rate};
use shell::terminal::{Terminal, faint, is_conversation, strong};
use shell::{Flow, Local, Place, Shell, Source, StartServer};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use workloads::{InProcess, TableSource};

/// Small buckets, so that tables split and move.
const BUCKET_BYTES: u64 = 4 << 20;
/// Bucket size of the table `person`, whose rows are small.
const PERSON_BUCKET_BYTES: u64 = 256 << 10;
/// Maximum number of rows of an answer that are shown.
const ROWS_SHOWN: usize = 6;

/// Runs the demo.
pub(crate) async fn run(
    arguments: DemoArguments,
    executors: Executors,
) -> anyhow::Result<ExitCode> {
    let options = options(&arguments.database, executors);
    let servers = match arguments.servers {
        1 => None,
        count => Some(InProcess::start(count.into(), options.clone()).await?),
    };
    let database = match &servers {
        Some(servers) => servers.servers()[0].database.clone(),
        None => Database::open(options)?,
    };
    let place = Place::Local(Box::new(Local::new(&database)));
    let mut shell = Shell::new(place, View::new(Format::Box, Terminal::of_output()));
    introduce(&database, &arguments)?;
    let databases: Vec<Database> = match &servers {
        Some(servers) => servers.servers().iter().map(|server| server.database.clone()).collect(),
        None => vec![database.clone()],
    };
    fill(&databases, &arguments).await?;
    if let Some(servers) = &servers {
        spread::watch(&mut shell, servers).await?;
    }
    if !ask(&mut shell).await? {
        return Ok(ExitCode::FAILURE);
    }
    let server = if arguments.no_serve { None } else { Some(listeners::open(&database).await?) };
    if let Some(servers) = servers {
        shell.set_servers(Box::new(DemoServers(servers)));
    }
    if arguments.once || !is_conversation() {
        if let Some(server) = &server {
            listeners::connect_once(server).await?;
        }
    } else {
        invite()?;
        shell.set_rows_shown_max(Some(ROWS_SHOWN_MAX));
        shell.converse().await?;
    }
    if let Some(server) = server {
        server.stop(Duration::ZERO).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// The demo's cluster, for the shell's `\add`.
struct DemoServers(InProcess);

impl StartServer for DemoServers {
    fn start(&mut self) -> BoxFuture<'_, anyhow::Result<String>> {
        Box::pin(async { Ok(self.0.add().await?.name.clone()) })
    }
}

fn introduce(database: &Database, arguments: &DemoArguments) -> io::Result<()> {
    let limit = database.store().memory().limit().map(bytes);
    let memory = limit.map_or(String::new(), |limit| format!(" with up to {limit} of memory"));
    writeln!(io::stdout(), "{} {}", strong("Pando"), env!("CARGO_PKG_VERSION"))?;
    writeln!(io::stdout(), "A new database in memory{memory}.\n")?;
    let persons = counted(arguments.persons.into(), "person");
    writeln!(
        io::stdout(),
        "{}",
        strong(&format!("1  Load TPC-H at scale {} and {persons}", arguments.scale))
    )?;
    writeln!(
        io::stdout(),
        "   A table is an ordered file of buckets. A full bucket splits in two.\n"
    )?;
    Ok(())
}

/// Creates and loads the tables.
async fn fill(databases: &[Database], arguments: &DemoArguments) -> anyhow::Result<()> {
    let sources = sources(arguments);
    let started = Instant::now();
    let rows = load::all(databases, &databases[0].session(), sources).await?;
    let time = started.elapsed();
    let rate = rate(rows, time).map(|rate| format!(" ({rate})")).unwrap_or_default();
    let sum = |of: fn(&Database) -> u64| databases.iter().map(of).sum::<u64>();
    let splits = counted(sum(|database| database.store().counters().splits), "split");
    let used = bytes(sum(|database| database.store().memory().table_bytes()));
    writeln!(
        io::stdout(),
        "\n   {} in {}{rate}, {splits}, {used} in memory\n",
        counted(rows, "row"),
        duration(time),
    )?;
    Ok(())
}

fn sources(arguments: &DemoArguments) -> Vec<TableSource> {
    let person = workloads::person::table(arguments.persons).with_bucket_size(PERSON_BUCKET_BYTES);
    let tables = workloads::tpch::tables(arguments.scale).into_iter();
    let tables = tables.map(|table| table.with_bucket_size(BUCKET_BYTES));
    std::iter::once(person).chain(tables).collect()
}

/// Runs the queries. Returns false if one failed; the shell has reported the error.
async fn ask(shell: &mut Shell) -> anyhow::Result<bool> {
    writeln!(io::stdout(), "{}\n", strong("3  Ask"))?;
    shell.set_rows_shown_max(Some(ROWS_SHOWN));
    shell.set_timing(true);
    let mut times = Vec::new();
    for question in questions::all() {
        writeln!(io::stdout(), "{} {}", strong(question.name), question.meaning)?;
        let started = Instant::now();
        if shell.run_script(Source::text(question.sql)).await? != Flow::Continue {
            return Ok(false);
        }
        times.push((question.name, started.elapsed()));
        writeln!(io::stdout())?;
    }
    summarise(shell, &times)?;
    Ok(true)
}

fn summarise(shell: &mut Shell, times: &[(&str, Duration)]) -> anyhow::Result<()> {
    let headings = [Heading::new("query", Align::Left), Heading::new("time", Align::Right)];
    let mut grid = Grid::new(headings.into());
    for (name, time) in times {
        grid.push([(*name).to_owned(), duration(*time)]);
    }
    shell.show_grid(&grid)
}

fn invite() -> io::Result<()> {
    writeln!(io::stdout(), "\n{}\n", strong("5  Your turn"))?;
    writeln!(
        io::stdout(),
        "   The shell is open on this database. Tab completes, \\? shows help, \\q quits. For example:\n"
    )?;
    for line in [
        "\\d lineitem",
        "\\servers",
        "select * from pando.buckets where \"table\" = 'person';",
        "select city, count(*) from person group by city order by 2 desc limit 5;",
        "explain select count(*) from orders where o_orderkey < 1000;",
    ] {
        writeln!(io::stdout(), "     {}", faint(line))?;
    }
    writeln!(io::stdout())
}

/// `12 of 20 rows`, with grouped digits.
fn part_of(part: u64, whole: u64) -> String {
    format!("{} of {} rows", count(part), count(whole))
}
