//! Response times of four architectures in twelve variations (the paper's table 8 and its figures 6 to 20).

use super::{Setup, Variation, mean, published};
use crate::Error;
use crate::hardware::catalog::PUBLISHED;
use crate::plan::Scheme;

/// A variation: what the six queries take on the four architectures.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalised {
    /// What is varied.
    pub variation: Variation,
    /// Seconds by architecture and query.
    pub seconds: [[f64; 6]; 4],
    /// Of each architecture the mean over its queries, each as a percentage of the single host.
    pub averages: [f64; 4],
}

/// Runs all of it.
///
/// # Errors
/// Those of [`crate::simulate`].
pub fn variations(setup: &Setup) -> Result<Vec<Normalised>, Error> {
    Variation::ALL.iter().map(|variation| normalised(setup, *variation)).collect()
}

fn normalised(setup: &Setup, variation: Variation) -> Result<Normalised, Error> {
    let mut seconds = [[0.0; 6]; 4];
    for (seconds, name) in seconds.iter_mut().zip(PUBLISHED) {
        let architecture = variation.of(setup.architecture(name, None)?)?;
        *seconds = setup.seconds(&architecture, Scheme::Optimal, variation.sizes())?;
    }
    let mut this = Normalised { variation, seconds, averages: [0.0; 4] };
    this.averages = std::array::from_fn(|architecture| mean(&this.percent(architecture)));
    Ok(this)
}

impl Normalised {
    /// The six queries of an architecture, each as a percentage of the single host's time.
    pub fn percent(&self, architecture: usize) -> [f64; 6] {
        let single = &self.seconds[0];
        std::array::from_fn(|query| 100.0 * self.seconds[architecture][query] / single[query])
    }

    /// The published averages, the single host's first.
    pub fn published(&self) -> [f64; 4] {
        let [two, four, smart] = published::averages(self.variation);
        [100.0, two, four, smart]
    }

    /// How far an average is from the published one, in percent of it.
    pub fn error(&self, architecture: usize) -> f64 {
        100.0 * (self.averages[architecture] / self.published()[architecture] - 1.0)
    }

    /// Whether no two architectures stand the other way round than published.
    pub fn same_order(&self) -> bool {
        let published = self.published();
        let pairs = (0..16).map(|pair| (pair / 4, pair % 4));
        pairs
            .filter(|(faster, slower)| published[*faster] < published[*slower])
            .all(|(faster, slower)| self.averages[faster] < self.averages[slower])
    }
}
