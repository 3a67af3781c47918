//! What a plan's bundles ask of an architecture, and how long it takes.
//!
//! [`simulate`] goes through the plan from its leaves (`operators`) and makes *phases*: every site does its share of some
//! work, and when all have done theirs they exchange something (`exchange`). Bundles run one after another on all
//! sites in step; between them a result stays where it was made, in memory or, as far as it does not fit, on disk.
//! `machine` turns phases into flows through the stations of each site, which [`crate::engine`] runs.
//!
//! Not modelled: skew (all sites hold equal shares), caches across phases, and several queries at a time.

mod exchange;
mod machine;
mod operators;
mod phase;
mod report;
mod work;

pub use report::{BundleReport, Report, Seconds};

use crate::plan::bundle;
use crate::plan::{Plan, Scheme};
use crate::{Architecture, Coefficients, Error};
use operators::Compiler;

/// Runs a plan once, in simulated time.
///
/// # Errors
/// [`Error::TooLarge`] where the storage cannot hold the tables.
pub fn simulate(
    plan: &Plan,
    architecture: &Architecture,
    coefficients: &Coefficients,
    scheme: Scheme,
    seed: u64,
) -> Result<Report, Error> {
    let (needed_gb, held_gb) = (plan.table_bytes() / 1e9, architecture.capacity_gb());
    if needed_gb > held_gb {
        return Err(Error::TooLarge { needed_gb, held_gb });
    }
    let bundles = bundle::cut(plan, scheme);
    let mut machine = Compiler::new(plan, architecture, coefficients, &bundles, seed).compile();
    let labels = bundles.iter().map(|bundle| {
        let labels: Vec<String> = bundle.0.iter().map(|operator| plan.label(*operator)).collect();
        labels.join(" + ")
    });
    Ok(report::report(&mut machine, labels.collect()))
}

#[cfg(test)]
mod tests;
