//! The work of a plan's bundles on an architecture, and the time it takes.
//!
//! [`simulate`] traverses the plan from its leaves (`operators`) and creates *phases*: every site
//! does its share of some work, and when all have finished they exchange data (`exchange`). Bundles
//! run one after another on all sites in step. Between bundles a result stays at its site, in
//! memory or, for the part that does not fit, on disk. `phase` turns phases into flows through the
//! stations of each site (`machine`), which [`crate::engine`] runs.
//!
//! Not modeled: skew (all sites hold equal shares), caches across phases, and concurrent queries.

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

/// Simulates one execution of a plan.
///
/// # Errors
/// [`Error::TooLarge`] if the tables exceed the storage.
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
