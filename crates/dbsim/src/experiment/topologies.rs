//! The cost of a memory pool by the distance of its machines (D5), from 2 to 256 machines.
//!
//! A load over `h` hops takes `l + h k`. The second hop makes a load 32 % longer, so `k = 0.32 (l +
//! k)`: of a load over one hop, 0.68 is the constant part and 0.32 the hop. A program slows down by
//! 20 % (26 % if loads are not cached) when loads slow down by 32 %, so such loads are 0.20 / 0.32
//! (0.26 / 0.32) of its time. Only the figures of the second hop are taken from the paper; its
//! figures for 256 and 216 machines are compared, not fitted.

use super::published::SECOND_HOP;
use crate::hardware::Shape;

/// Numbers of machines.
const MACHINES: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 216, 256];

/// Times of loads and programs relative to a distance of one hop.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Fabric {
    /// Mean hops to another machine.
    pub hops: f64,
    /// A load.
    pub load: f64,
    /// A program with cached loads.
    pub cached: f64,
    /// A program with uncached loads.
    pub uncached: f64,
}

/// The topologies for a number of machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    /// Number of machines.
    pub machines: usize,
    /// By topology, in the order of [`Shape::ALL`].
    pub fabrics: [Fabric; 3],
}

impl Fabric {
    /// The times at a mean distance.
    pub fn at(hops: f64) -> Self {
        let [second, cached, uncached] = SECOND_HOP.map(|percent| percent / 100.0);
        let load = 1.0 + second * (hops - 1.0);
        let program = |slower: f64| 1.0 + slower / second * (load - 1.0);
        Self { hops, load, cached: program(cached), uncached: program(uncached) }
    }
}

/// All numbers of machines in all topologies.
pub fn topologies() -> Vec<Topology> {
    let fabrics = |machines| Shape::ALL.map(|shape| Fabric::at(shape.mean_hops(machines)));
    MACHINES.map(|machines| Topology { machines, fabrics: fabrics(machines) }).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_hop_costs_what_was_published() {
        let second = Fabric::at(2.0);
        assert!((second.load - 1.32).abs() < 1e-12);
        assert!((second.cached - 1.20).abs() < 1e-12);
        assert!((second.uncached - 1.26).abs() < 1e-12);
        assert_eq!(Fabric::at(1.0).uncached, 1.0);
    }

    /// The published 95 % and 27 % name no reference. A distance of four hops with uncached loads
    /// explains both.
    #[test]
    fn both_published_meshes_agree_with_the_model_from_four_hops_on() {
        let four = Fabric::at(4.0).uncached;
        let square = Fabric::at(Shape::Mesh2d.mean_hops(256)).uncached / four;
        let cube = Fabric::at(Shape::Mesh3d.mean_hops(216)).uncached / four;
        assert!((square - 1.95).abs() < 0.05, "{square}");
        assert!((cube - 1.27).abs() < 0.02, "{cube}");
    }
}
