//! What bundles save: the schemes none, optimal and excessive on 4 and 8 smart disks.

use super::{Setup, Sizes, mean, published};
use crate::Error;
use crate::plan::Scheme;

/// A number of units.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundling {
    /// How many smart disks.
    pub units: usize,
    /// Seconds by scheme and query.
    pub seconds: [[f64; 6]; 3],
    /// What the optimal scheme gains over none on average, in percent, as published.
    pub published: f64,
}

impl Bundling {
    /// What a scheme gains over none on average over the queries, in percent of the time without.
    pub fn gain(&self, scheme: Scheme) -> f64 {
        let pairs = self.seconds[0].iter().zip(&self.seconds[scheme as usize]);
        mean(&pairs.map(|(none, bundled)| 100.0 * (1.0 - bundled / none)).collect::<Vec<_>>())
    }
}

/// Runs all of it.
///
/// # Errors
/// Those of [`crate::simulate`].
pub fn bundling(setup: &Setup) -> Result<Vec<Bundling>, Error> {
    let of = |(units, published): (usize, f64)| {
        let architecture = setup.architecture("smart-disk", None)?.with_disks(units)?;
        let mut seconds = [[0.0; 6]; 3];
        for (seconds, scheme) in seconds.iter_mut().zip(Scheme::PUBLISHED) {
            *seconds = setup.seconds(&architecture, scheme, Sizes::BASE)?;
        }
        Ok(Bundling { units, seconds, published })
    };
    published::BUNDLING.map(of).into_iter().collect()
}
