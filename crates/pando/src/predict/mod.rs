//! `pando predict`: predicts the duration of a query on other hardware.

mod calibrate;
mod report;

use crate::arguments::{PredictArguments, PredictCommand};
use anyhow::{Context, Result};
use dbsim::hardware::{Architecture, catalog};
use dbsim::plan::{Query, Selectivity, usual_scheme};
use dbsim::{Coefficients, Plan};
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

/// Simulates the queries, or measures costs for `pando predict calibrate`.
pub(crate) async fn run(arguments: &PredictArguments) -> Result<ExitCode> {
    if let Some(PredictCommand::Calibrate(arguments)) = &arguments.command {
        return calibrate::run(arguments).await;
    }
    if let Some(name) = &arguments.show {
        write!(io::stdout(), "{}", catalog::text(name)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let architecture = architecture(arguments)?;
    let coefficients = coefficients(arguments)?;
    if !arguments.json {
        let mut out = io::stdout().lock();
        writeln!(out, "{}: {}", architecture.name, architecture.about)?;
        writeln!(out, "{}: {}\n", coefficients.name, coefficients.about)?;
    }
    let scheme = arguments.bundling.unwrap_or_else(|| usual_scheme(&architecture.name));
    for plan in plans(arguments)? {
        let report = dbsim::simulate(&plan, &architecture, &coefficients, scheme, arguments.seed)?;
        report::print(arguments, scheme, &plan, &report)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn plans(arguments: &PredictArguments) -> Result<Vec<Plan>> {
    if let Some(file) = &arguments.plan {
        let file = file.to_string_lossy();
        return Ok(vec![Plan::read(&read(&file)?, &file)?]);
    }
    let queries = if arguments.query.is_empty() { &Query::ALL[..] } else { &arguments.query };
    let plans = queries.iter().map(|query| query.plan(arguments.scale, Selectivity::Medium));
    Ok(plans.collect::<Result<_, _>>()?)
}

fn architecture(arguments: &PredictArguments) -> Result<Architecture> {
    let name = &arguments.architecture;
    let mut changes = arguments.settings.clone();
    changes.extend(arguments.disks.map(|disks| format!("disks={disks}")));
    if !is_file(name) {
        return Ok(catalog::named(name, &changes)?);
    }
    Ok(Architecture::read(&read(name)?, name, &changes)?)
}

fn coefficients(arguments: &PredictArguments) -> Result<Coefficients> {
    match &arguments.coefficients {
        Some(name) => workloads::coefficients(name),
        None => Ok(Coefficients::usual(&arguments.architecture)?),
    }
}

/// Whether this is a file: names of architectures contain neither points nor slashes.
fn is_file(name: &str) -> bool {
    name.contains(['.', '/'])
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {file}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: PredictArguments,
    }

    fn line(options: &[&str]) -> PredictArguments {
        Line::parse_from(["predict"].iter().chain(options)).arguments
    }

    #[test]
    fn names_are_built_in_and_files_are_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("mine.toml");
        let text = catalog::text("cluster-2").expect("known").replace("\ndisks = 4", "\ndisks = 6");
        fs::write(&file, text).expect("written");
        let file = file.to_str().expect("text");
        let mine = architecture(&line(&["--architecture", file])).expect("a description");
        assert_eq!((mine.sites, mine.site.disks), (2, 6));
        let named = line(&["--architecture", "cluster-2", "--disks", "12", "--set", "cpu_mhz=350"]);
        let named = architecture(&named).expect("a description");
        assert_eq!((named.site.disks, named.site.processor.mhz), (6, 350.0));
    }

    #[test]
    fn unreadable_files_and_unknown_names_are_reported() {
        let missing = architecture(&line(&["--architecture", "none.toml"])).expect_err("missing");
        assert_eq!(missing.to_string(), "cannot read none.toml");
        let unknown = architecture(&line(&["--architecture", "abacus"])).expect_err("unknown");
        assert!(unknown.to_string().contains("single-host"), "{unknown}");
        let unknown = coefficients(&line(&["--coefficients", "quantum"])).expect_err("unknown");
        assert!(unknown.to_string().contains("row-at-a-time, columnar"), "{unknown}");
    }

    #[test]
    fn the_default_coefficients_depend_on_the_architecture() {
        let name = |options: &[&str]| coefficients(&line(options)).expect("built in").name;
        assert_eq!(name(&[]), "row-at-a-time");
        assert_eq!(name(&["--architecture", "nvme-server"]), "columnar");
        assert_eq!(name(&["--coefficients", "columnar"]), "columnar");
        assert_eq!(plans(&line(&[])).expect("plans").len(), 6);
    }
}
