//! The experiments of the smart disk paper (`PAPERS.md` E) and the topologies of memory pools (D5), beside what was published.

mod bundling;
pub mod published;
mod speedup;
mod topologies;
mod variation;
mod variations;

pub use crate::hardware::catalog::PUBLISHED as ARCHITECTURES;
pub use bundling::{Bundling, bundling};
pub use speedup::{FAMILIES, Family, Speedup, speedup};
pub use topologies::{Fabric, Topology, topologies};
pub use variation::{Sizes, Variation};
pub use variations::{Normalised, variations};

use crate::hardware::{Architecture, SETTINGS, catalog};
use crate::plan::{Query, Scheme};
use crate::{Coefficients, Error, Report, simulate};

/// The scale factor of the paper's base.
pub const SCALE: f64 = 10.0;

/// What all runs of an experiment have in common.
#[derive(Debug, Clone)]
pub struct Setup {
    coefficients: Coefficients,
    seed: u64,
    changes: Vec<String>,
}

impl Setup {
    /// What operators cost, where random numbers begin, and what is other than in the paper's base: settings like
    /// `outstanding=2`, each of all architectures that have such a value.
    ///
    /// # Errors
    /// [`Error::Unknown`] where none has.
    pub fn new(coefficients: Coefficients, seed: u64, changes: Vec<String>) -> Result<Self, Error> {
        for change in &changes {
            let of = ARCHITECTURES.map(|name| catalog::concerns(name, change));
            if !of.into_iter().collect::<Result<Vec<_>, _>>()?.contains(&true) {
                let name = change.split('=').next().unwrap_or_default();
                let known = SETTINGS.iter().map(|(short, _)| *short).chain(["disks"]);
                return Err(Error::unknown("setting", name, known));
            }
        }
        Ok(Self { coefficients, seed, changes })
    }

    /// An architecture of the base, with what is other than there, and a change of the experiment's own.
    fn architecture(&self, name: &str, own: Option<String>) -> Result<Architecture, Error> {
        let mut changes = Vec::new();
        for change in &self.changes {
            if catalog::concerns(name, change)? {
                changes.push(change.clone());
            }
        }
        changes.extend(own);
        catalog::named(name, &changes)
    }

    /// Runs one query.
    ///
    /// # Errors
    /// Those of [`simulate`].
    pub fn run(
        &self,
        query: Query,
        architecture: &Architecture,
        scheme: Scheme,
        sizes: Sizes,
    ) -> Result<Report, Error> {
        let plan = query.plan(sizes.scale, sizes.selectivity)?;
        simulate(&plan, architecture, &self.coefficients, scheme, self.seed)
    }

    /// Seconds of each of the six queries.
    fn seconds(
        &self,
        architecture: &Architecture,
        scheme: Scheme,
        sizes: Sizes,
    ) -> Result<[f64; 6], Error> {
        let mut seconds = [0.0; 6];
        for (seconds, query) in seconds.iter_mut().zip(Query::ALL) {
            *seconds = self.run(query, architecture, scheme, sizes)?.seconds;
        }
        Ok(seconds)
    }
}

/// The arithmetic mean.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests;
