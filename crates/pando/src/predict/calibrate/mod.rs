//! `pando predict calibrate`: measures the costs of Pando's operators on this machine, and writes a file of coefficients.
//!
//! Queries over [`tables`] in memory run on one thread in several rounds; the shortest run of each counts ([`times`]). The cost of
//! an operator is the difference between a query with it and one without it ([`operators`], [`sizes`]). Costs of operators that
//! Pando does not have (indexes, merges, messages, ...) are those of `columnar`, and the [`file`] says so.

mod costs;
mod file;
mod operators;
mod planning;
mod sizes;
mod tables;
mod times;
mod windows;

use crate::arguments::CalibrateArguments;
use anyhow::{Context, Result};
use dbsim::{Coefficients, Plan};
use operators::Measured;
use query::{Database, Options, Session};
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use workloads::Embedded;

/// Measures the costs, and writes or prints the file.
pub(super) async fn run(arguments: &CalibrateArguments) -> Result<ExitCode> {
    let mhz = match arguments.mhz {
        Some(mhz) => mhz,
        None => clock(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
            .context("the clock rate of this machine is unknown: give it with --mhz")?,
    };
    let text = measured(mhz, arguments).await?;
    match &arguments.out {
        Some(file) => {
            fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        None => write!(io::stdout(), "{text}")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The clock rate of the first processor, in MHz.
fn clock(cpuinfo: &str) -> Option<f64> {
    let line = cpuinfo.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.split_once(':')?.1.trim().parse().ok().filter(|mhz: &f64| *mhz > 0.0)
}

/// Measures the costs and returns the text of the file.
async fn measured(mhz: f64, arguments: &CalibrateArguments) -> Result<String> {
    let CalibrateArguments { rows, runs, loads, .. } = *arguments;
    let mut measured = Measured::default();
    for _ in 0..loads {
        let database = Database::open(Options { threads: Some(1), ..Options::default() })?;
        let bench = Bench { session: database.session(), mhz, rows, runs };
        tables::fill(&bench).await?;
        Embedded { session: bench.session.clone() }.settle().await?;
        measured.add(&bench).await?;
    }
    let rest = Coefficients::named("columnar")?;
    let text = file::text(mhz, arguments, &measured.costs(rows), &rest);
    Coefficients::read(&text, "the measured coefficients")?;
    Ok(text)
}

/// A database with loaded tables, and the options of measuring.
struct Bench {
    session: Session,
    mhz: f64,
    rows: u64,
    runs: usize,
}

impl Bench {
    /// The simulator's plan of a query.
    async fn plan(&self, query: &str) -> Result<Plan> {
        Ok(self.session.plan_to_predict(query).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn measurements_are_a_valid_file_of_coefficients() {
        let arguments = CalibrateArguments { out: None, mhz: None, rows: 2000, runs: 1, loads: 2 };
        let text = measured(3000.0, &arguments).await.expect("measured");
        let read = Coefficients::read(&text, "mine.toml").expect("coefficients");
        assert_eq!(read.name, "calibrated");
        // On a busy machine one run of few rows may not tell small costs from none.
        assert!(read.planning.operator >= 0.0, "{text}");
        assert!(text.contains("hash_tables = [[100, "), "{text}");
        assert_eq!(read.index, Coefficients::named("columnar").expect("built in").index);
    }

    #[test]
    fn the_clock_rate_is_that_of_the_first_processor() {
        let text = "processor\t: 0\ncpu MHz\t\t: 2970.412\nprocessor\t: 1\ncpu MHz\t\t: 800.0\n";
        assert_eq!(clock(text), Some(2970.412));
        assert_eq!(clock("BogoMIPS\t: 50.0\n"), None);
    }
}
