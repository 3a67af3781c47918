//! Storage other than disks: the interconnect of disks, main memory, memory of other machines.

use super::MB;
use super::field::{count, not_negative, positive};
use super::topology::Shape;
use serde::Deserialize;

/// The connection between a host's disks and its memory, which serves one transfer at a time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interconnect {
    /// Bandwidth in MB/s.
    #[serde(deserialize_with = "positive")]
    pub mb_s: f64,
    /// Arbitration and command overhead of a request, in microseconds.
    #[serde(deserialize_with = "not_negative")]
    pub overhead_us: f64,
}

/// A server's main memory that stores tables.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Bandwidth of all cores together, in MB/s.
    #[serde(deserialize_with = "positive")]
    pub mb_s: f64,
    /// Capacity in GB.
    #[serde(deserialize_with = "positive")]
    pub capacity_gb: f64,
}

/// Memory of other machines, accessed by load instructions over a fabric.
///
/// A load over `h` hops takes `least_ns + h hop_ns` nanoseconds. A core has several loads
/// outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Latency of a load without hops, in nanoseconds.
    #[serde(deserialize_with = "positive")]
    pub least_ns: f64,
    /// Latency of each hop, both ways, in nanoseconds.
    #[serde(deserialize_with = "not_negative")]
    pub hop_ns: f64,
    /// Machines of the fabric.
    #[serde(deserialize_with = "count")]
    pub nodes: usize,
    /// The topology of the fabric.
    pub topology: Shape,
    /// Bytes of a load: a cache line.
    #[serde(deserialize_with = "positive")]
    pub line_bytes: f64,
    /// Outstanding loads of a core.
    #[serde(deserialize_with = "count")]
    pub loads: usize,
    /// Capacity of all machines together, in GB.
    #[serde(deserialize_with = "positive")]
    pub capacity_gb: f64,
}

impl Interconnect {
    /// Seconds to transfer pages.
    pub fn seconds(&self, pages: f64, page_bytes: f64) -> f64 {
        pages * (self.overhead_us / 1e6 + page_bytes / (self.mb_s * MB))
    }
}

impl Bus {
    /// Seconds to transfer bytes.
    pub fn seconds(&self, bytes: f64) -> f64 {
        bytes / (self.mb_s * MB)
    }
}

impl Pool {
    /// Latency of a load over a number of hops, in nanoseconds.
    pub fn latency_ns(&self, hops: f64) -> f64 {
        self.least_ns + hops * self.hop_ns
    }

    /// Seconds to load bytes that are spread evenly over the pool.
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
        // In a square of four machines, two of the three others are one hop away and one is two.
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
