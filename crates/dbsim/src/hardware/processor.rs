//! Processors: conversion of cycles to seconds.

use super::field::{count, positive};
use serde::Deserialize;

/// The processor of a site.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// Clock rate in MHz.
    #[serde(deserialize_with = "positive")]
    pub mhz: f64,
    /// Work per cycle relative to the core on which the coefficients were measured.
    #[serde(deserialize_with = "positive")]
    pub work_per_cycle: f64,
    /// Cores that work on a query.
    #[serde(deserialize_with = "count")]
    pub cores: usize,
}

impl Processor {
    /// Seconds that one core needs for a number of cycles of the measured core.
    pub fn seconds(&self, cycles: f64) -> f64 {
        cycles / (self.mhz * 1e6 * self.work_per_cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_core_takes_longer_by_its_clock_and_by_what_it_does_in_a_cycle() {
        let today = Processor { mhz: 2_000.0, work_per_cycle: 1.0, cores: 1 };
        let then = Processor { mhz: 500.0, work_per_cycle: 0.25, cores: 1 };
        assert_eq!(today.seconds(2e9), 1.0);
        assert_eq!(then.seconds(2e9), 16.0);
    }
}
