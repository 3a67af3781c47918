//! `pando predict calibrate`: what Pando's own operators cost on this machine, as a file of coefficients.
//!
//! Queries over [`tables`] in memory are run on one thread, in turn and several times, and the shortest runs count ([`times`]). What an
//! operator costs is the difference between a query with it and one without it ([`costs`], [`sizes`]). What Pando has no operator for (indexes,
//! merges, messages, ...) is taken over from `columnar`, and the [`file`] says so.

mod costs;
mod file;
mod planning;
mod sizes;
mod tables;
mod times;
mod windows;

use crate::arguments::CalibrateArguments;
use anyhow::{Context, Result};
use bench::Embedded;
use costs::Measured;
use dbsim::{Coefficients, Plan};
use query::{Database, Options, Session};
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

/// Measures, and writes the file or prints it.
pub(super) async fn run(arguments: &CalibrateArguments) -> Result<ExitCode> {
    let mhz = match arguments.mhz {
        Some(mhz) => mhz,
        None => clock(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
            .context("the clock of this machine is not known: give it by --mhz")?,
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

/// MHz of the first processor.
fn clock(cpuinfo: &str) -> Option<f64> {
    let line = cpuinfo.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.split_once(':')?.1.trim().parse().ok().filter(|mhz: &f64| *mhz > 0.0)
}

/// A file of coefficients.
async fn measured(mhz: f64, arguments: &CalibrateArguments) -> Result<String> {
    let CalibrateArguments { rows, runs, loads, .. } = *arguments;
    let mut measured = Measured::default();
    for _ in 0..loads {
        let database = Database::open(Options { threads: Some(1), ..Options::default() })?;
        let bench = Bench { session: database.session(), mhz, rows, runs };
        tables::fill(&bench).await?;
        bench::come_to_rest(&Embedded { session: bench.session.clone() }).await?;
        measured.add(&bench).await?;
    }
    let rest = Coefficients::named("columnar")?;
    let text = file::text(mhz, arguments, &measured.costs(rows), &rest);
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
    /// The simulator's plan of a query.
    async fn plan(&self, query: &str) -> Result<Plan> {
        Ok(self.session.plan_to_predict(query).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_measured_is_a_file_of_coefficients() {
        let arguments = CalibrateArguments { out: None, mhz: None, rows: 2000, runs: 1, loads: 2 };
        let text = measured(3000.0, &arguments).await.expect("measured");
        let read = Coefficients::read(&text, "mine.toml").expect("coefficients");
        assert_eq!(read.name, "calibrated");
        assert!(read.planning.operator > 0.0, "{text}");
        assert!(text.contains("hash_tables = [[100, "), "{text}");
        assert_eq!(read.index, Coefficients::named("columnar").expect("built in").index);
    }

    #[test]
    fn the_clock_is_the_first_processors() {
        let text = "processor\t: 0\ncpu MHz\t\t: 2970.412\nprocessor\t: 1\ncpu MHz\t\t: 800.0\n";
        assert_eq!(clock(text), Some(2970.412));
        assert_eq!(clock("BogoMIPS\t: 50.0\n"), None);
    }
}
