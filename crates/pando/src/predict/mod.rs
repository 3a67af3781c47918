//! `pando predict`: what a query would cost on hardware that one does not own.

mod report;

use crate::arguments::PredictArguments;
use anyhow::{Context, Result};
use dbsim::hardware::{Architecture, catalog};
use dbsim::plan::{Query, Selectivity};
use dbsim::{Coefficients, experiment};
use std::fs;
use std::process::ExitCode;

/// Simulates the queries that are asked for.
pub(crate) fn run(arguments: &PredictArguments) -> Result<ExitCode> {
    if let Some(name) = &arguments.show {
        print!("{}", catalog::text(name)?);
        return Ok(ExitCode::SUCCESS);
    }
    let architecture = architecture(arguments)?;
    let coefficients = coefficients(arguments)?;
    let queries = if arguments.query.is_empty() { &Query::ALL[..] } else { &arguments.query };
    if !arguments.json {
        println!("{}: {}", architecture.name, architecture.about);
        println!("{}: {}\n", coefficients.name, coefficients.about);
    }
    for query in queries {
        let plan = query.plan(arguments.scale, Selectivity::Medium)?;
        let report = dbsim::simulate(
            &plan,
            &architecture,
            &coefficients,
            arguments.bundling,
            arguments.seed,
        )?;
        report::print(arguments, &plan, &report);
    }
    Ok(ExitCode::SUCCESS)
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
    let then = experiment::ARCHITECTURES.contains(&arguments.architecture.as_str());
    let usual = if then { "row-at-a-time" } else { "columnar" };
    let name = arguments.coefficients.as_deref().unwrap_or(usual);
    if !is_file(name) {
        return Ok(Coefficients::named(name)?);
    }
    Ok(Coefficients::read(&read(name)?, name)?)
}

/// Names have neither points nor slashes.
fn is_file(name: &str) -> bool {
    name.contains(['.', '/'])
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {file}"))
}
