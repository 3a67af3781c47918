//! Where tables lie if not on disks alone: the interconnect of disks, main memory, memory of other machines.

use super::MB;
use super::field::{count, not_negative, positive};
use super::topology::Shape;
use serde::Deserialize;

/// What joins a host's disks to its memory; one transfer at a time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    /// Bandwidth.
    #[serde(deserialize_with = "positive")]
    pub mb_s: f64,
    /// Arbitration and command of each request.
    #[serde(deserialize_with = "not_negative")]
    pub overhead_us: f64,
}

/// A server's main memory that holds tables.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// What its cores read together.
    #[serde(deserialize_with = "positive")]
    pub mb_s: f64,
    /// How much it holds, in decimal gigabytes.
    #[serde(deserialize_with = "positive")]
    pub capacity_gb: f64,
}

/// Memory of other machines, read by plain loads over a fabric.
///
/// A load that goes over `h` hops takes `least + h hop` nanoseconds, and a core has a few under way.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Nanoseconds of a load without the hops.
    #[serde(deserialize_with = "positive")]
    pub least_ns: f64,
    /// Nanoseconds that each hop adds, there and back.
    #[serde(deserialize_with = "not_negative")]
    pub hop_ns: f64,
    /// Machines of the fabric.
    #[serde(deserialize_with = "count")]
    pub nodes: usize,
    /// How they are joined.
    pub topology: Shape,
    /// Bytes of a load: a line of the cache.
    #[serde(deserialize_with = "positive")]
    pub line_bytes: f64,
    /// Loads that are under way at a time.
    #[serde(deserialize_with = "count")]
    pub loads: usize,
    /// How much all machines hold together, in decimal gigabytes.
    #[serde(deserialize_with = "positive")]
    pub capacity_gb: f64,
}

impl Interconnect {
    /// Seconds for pages.
    pub fn seconds(&self, pages: f64, page_bytes: f64) -> f64 {
        pages * (self.overhead_us / 1e6 + page_bytes / (self.mb_s * MB))
    }
}

impl Bus {
    /// Seconds for bytes.
    pub fn seconds(&self, bytes: f64) -> f64 {
        bytes / (self.mb_s * MB)
    }
}

impl Pool {
    /// Nanoseconds of one load over so many hops.
    pub fn latency_ns(&self, hops: f64) -> f64 {
        self.least_ns + hops * self.hop_ns
    }

    /// Seconds for bytes that lie anywhere in the pool.
    pub fn seconds(&self, bytes: f64) -> f64 {
        let hops = self.topology.mean_hops(self.nodes);
        bytes / self.line_bytes * self.latency_ns(hops) / 1e9 / self.loads as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_as_slow_as_its_hops() {
        let pool = Pool {
            least_ns: 1_000.0,
            hop_ns: 500.0,
            nodes: 4,
            topology: Shape::Mesh2d,
            line_bytes: 64.0,
            loads: 8,
            capacity_gb: 100.0,
        };
        // Of three others in a square two are one hop away and one is two.
        let latency = 1_000.0 + 500.0 * 4.0 / 3.0;
        let expected = 1e6 * latency * 1e-9 / 8.0;
        assert!((pool.seconds(64e6) - expected).abs() < 1e-9);
    }

    #[test]
    fn an_interconnect_takes_its_overhead_for_each_page() {
        let interconnect = Interconnect { mb_s: 200.0, overhead_us: 20.0 };
        assert!(
            (interconnect.seconds(10.0, 8192.0) - 10.0 * (20e-6 + 8192.0 / 200e6)).abs() < 1e-12
        );
        assert_eq!(Bus { mb_s: 1_000.0, capacity_gb: 1.0 }.seconds(2e9), 2.0);
    }
}
