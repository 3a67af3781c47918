//! The network between sites. Each site has an inbound and an outbound link; the switch itself is
//! not contended.

use super::field::{not_negative, positive};
use super::topology::Shape;
use serde::Deserialize;

/// The link of a site.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Bandwidth in each direction, in Mbit/s.
    #[serde(deserialize_with = "positive")]
    pub mbit_s: f64,
    /// Latency of a hop in microseconds, in addition to the transfer time.
    #[serde(deserialize_with = "not_negative")]
    pub latency_us: f64,
    /// The topology.
    pub topology: Shape,
}

impl Link {
    /// Seconds to transfer bytes over a link.
    pub fn transfer(&self, bytes: f64) -> f64 {
        bytes * 8.0 / (self.mbit_s * 1e6)
    }

    /// Seconds of latency over a number of hops, in addition to the transfer at both ends.
    pub fn latency(&self, hops: usize) -> f64 {
        self.latency_us / 1e6 * hops as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_bandwidth_and_hops_take_latency() {
        let link = Link { mbit_s: 155.0, latency_us: 50.0, topology: Shape::Switch };
        assert!((link.transfer(155e6 / 8.0) - 1.0).abs() < 1e-12);
        assert!((link.latency(3) - 0.000_15).abs() < 1e-12);
    }
}
