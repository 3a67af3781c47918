//! `pando predict calibrate`: what Pando's own operators cost on this machine, as a file of coefficients.
//!
//! Queries over a table in memory are run on one thread, each several times, and the median counts. An operator is the
//! difference between a query with it and one without it. What Pando has no operator for (indexes, merges, messages, ...)
//! is taken over from `columnar`, and the file says so.

use crate::arguments::CalibrateArguments;
use anyhow::{Context, Result, bail};
use dbsim::{Coefficients, Cost};
use futures::TryStreamExt;
use query::{Database, Options, Session};
use std::fmt::Write;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

/// Bytes of a row that the queries hand on as a whole: four of eight bytes.
const ROW_BYTES: f64 = 32.0;
/// How many groups the rows fall into.
const GROUPS: u64 = 100;
/// A prime above all numbers of rows: its multiples come to every row once.
const STRIDE: u64 = 15_485_863;
/// Rows of the table of so large a part are built into the smaller and the larger hash table.
const BUILDS: [(&str, u64); 2] = [("small", 20), ("large", 2)];

/// Measures, and writes the file or prints it.
pub(super) async fn run(arguments: &CalibrateArguments) -> Result<ExitCode> {
    let mhz = match arguments.mhz {
        Some(mhz) => mhz,
        None => clock(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
            .context("the clock of this machine is not known: give it by --mhz")?,
    };
    let text = measured(mhz, arguments.rows, arguments.runs).await?;
    match &arguments.out {
        Some(file) => {
            fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// MHz of the first processor.
fn clock(cpuinfo: &str) -> Option<f64> {
    let line = cpuinfo.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.split_once(':')?.1.trim().parse().ok().filter(|mhz: &f64| *mhz > 0.0)
}

/// A file of coefficients.
async fn measured(mhz: f64, rows: u64, runs: usize) -> Result<String> {
    let database = Database::open(Options { threads: Some(1), ..Options::default() })?;
    let bench = Bench { session: database.session(), mhz, rows, runs };
    bench.fill().await?;
    let costs = bench.costs().await?;
    let rest = Coefficients::named("columnar")?;
    let text = file(&bench, &costs, &rest);
    Coefficients::read(&text, "what was measured")?;
    Ok(text)
}

struct Bench {
    session: Session,
    mhz: f64,
    rows: u64,
    runs: usize,
}

impl Bench {
    /// `k` has every number once, in an order of its own; `g` has few values.
    async fn fill(&self) -> Result<()> {
        let rows = self.rows;
        let create =
            "(id bigint PRIMARY KEY, k bigint NOT NULL, g bigint NOT NULL, v bigint NOT NULL)";
        let mut statements = vec![
            format!("CREATE TABLE t {create}"),
            format!(
                "INSERT INTO t SELECT i, i::bigint * {STRIDE} % {rows}, i % {GROUPS}, i FROM generate_series(0, {rows} - 1) s(i)"
            ),
        ];
        for (name, part) in BUILDS {
            statements.push(format!("CREATE TABLE {name} {create}"));
            statements
                .push(format!("INSERT INTO {name} SELECT id, k, g, v FROM t WHERE k % {part} = 0"));
        }
        for statement in statements {
            self.session.execute(&statement).await?;
        }
        Ok(())
    }

    /// Each coefficient by its name.
    async fn costs(&self) -> Result<Vec<(&'static str, Cost)>> {
        let rows = self.rows as f64;
        let few = self.rows / 1000;
        let found = self.cycles(&format!("SELECT sum(v) FROM t WHERE k < {few}")).await?;
        let all = self.cycles("SELECT id, k, g, v FROM t WHERE v <> -1").await?;
        let one = self.cycles("SELECT sum(v) FROM t").await?;
        let four = self.cycles("SELECT sum(v), sum(k), sum(g), sum(id) FROM t").await?;
        let keys = self.cycles("SELECT k FROM t").await?;
        let few_groups = self.cycles("SELECT g, sum(v) FROM t GROUP BY g").await?;
        let in_order = self.cycles("SELECT id, sum(v) FROM t GROUP BY id").await?;
        let plain = self.cycles("SELECT id, k, g, v FROM t").await?;
        let sorted = self.cycles("SELECT id, k, g, v FROM t ORDER BY k").await?;
        let mut joined = [0.0; 2];
        for ((name, _), joined) in BUILDS.into_iter().zip(&mut joined) {
            let query = format!("SELECT count(*) FROM t JOIN {name} ON t.k = {name}.k");
            *joined = self.cycles(&query).await?;
        }
        let [small, large] = BUILDS.map(|(_, part)| rows / part as f64);
        let build = ((joined[1] - joined[0]) / (large - small)).max(0.0);
        let probe = (joined[0] - keys - build * small) / rows;
        let each = |cycles: f64| Cost { tuple: cycles.max(0.0) / rows, byte: 0.0 };
        Ok(vec![
            ("scan", Cost { byte: (all - found).max(0.0) / (rows * ROW_BYTES), ..each(found) }),
            ("hash_build", Cost { tuple: build, byte: 0.0 }),
            ("hash_probe", Cost { tuple: probe.max(0.0), byte: 0.0 }),
            ("sort", each((sorted - plain) / rows.log2())),
            ("group", each(few_groups - one)),
            ("group_ordered", each(in_order - one)),
            ("aggregate", each((four - one) / 3.0)),
        ])
    }

    /// Cycles of a query, the median of its runs; the first one only warms up.
    async fn cycles(&self, query: &str) -> Result<f64> {
        let mut times = Vec::with_capacity(self.runs);
        for run in 0..=self.runs {
            let began = Instant::now();
            let mut stream = self.session.query(query).await?.stream;
            while stream.try_next().await?.is_some() {}
            if run > 0 {
                times.push(began.elapsed().as_secs_f64());
            }
        }
        times.sort_by(f64::total_cmp);
        match times.get(times.len() / 2) {
            Some(seconds) => Ok(seconds * self.mhz * 1e6),
            None => bail!("a query is run once at least"),
        }
    }
}

/// The file: what was measured, then what was not.
fn file(bench: &Bench, costs: &[(&str, Cost)], rest: &Coefficients) -> String {
    let Bench { mhz, rows, runs, .. } = bench;
    let mut text = format!(
        "# Cycles a tuple and a byte: Pando's operators on one thread, the median of {runs} runs over {rows} rows.\n\
         name = \"calibrated\"\n\
         about = \"Pando's own operators, measured on one core at {mhz:.0} MHz\"\n\
         columnar = true\n\
         row_header_bytes = 0\n"
    );
    let mut line = |name: &str, cost: &Cost| {
        let _ = writeln!(text, "{name} = [{:.2}, {:.3}]", cost.tuple, cost.byte);
    };
    costs.iter().for_each(|(name, cost)| line(name, cost));
    let taken_over = [
        ("request", rest.request),
        ("index", rest.index),
        ("nested_loop", rest.nested_loop),
        ("merge", rest.merge),
        ("store", rest.store),
        ("load", rest.load),
        ("message", rest.message),
    ];
    let mut others = String::new();
    for (name, cost) in taken_over {
        let _ = writeln!(others, "{name} = [{}, {}]", cost.tuple, cost.byte);
    }
    let _ = write!(
        text,
        "# Not measured here: as in `{}`, {}.\n{others}bundle = {}\n",
        rest.name, rest.about, rest.bundle
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_measured_is_a_file_of_coefficients() {
        let text = measured(3000.0, 2000, 1).await.expect("measured");
        let read = Coefficients::read(&text, "mine.toml").expect("coefficients");
        assert_eq!(read.name, "calibrated");
        assert!(read.scan.tuple > 0.0, "{text}");
        assert_eq!(read.index, Coefficients::named("columnar").expect("built in").index);
    }

    #[test]
    fn the_clock_is_the_first_processors() {
        let text = "processor\t: 0\ncpu MHz\t\t: 2970.412\nprocessor\t: 1\ncpu MHz\t\t: 800.0\n";
        assert_eq!(clock(text), Some(2970.412));
        assert_eq!(clock("BogoMIPS\t: 50.0\n"), None);
    }
}
