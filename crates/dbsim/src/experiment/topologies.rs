//! What a pool of memory costs as machines get further apart (D5), from 2 to 256 of them.
//!
//! A load over `h` hops takes `l + h k`. That the second hop makes a load 32 % longer says `k = 0.32 (l + k)`: the least time
//! is 0.68 of the first hop's load and each hop 0.32. A program spends a part of its time on such loads: that it gets 20 % slower
//! (26 % where loads are not cached) when loads get 32 % slower says that the part is 0.20 / 0.32 (0.26 / 0.32). The
//! two hops are all that is taken from the paper; what it says of 256 and 216 machines is compared, not fitted.

use super::published::SECOND_HOP;
use crate::hardware::Shape;

/// Numbers of machines.
const MACHINES: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 216, 256];

/// How long loads and programs take, the first hop being 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Fabric {
    /// Hops to another machine on average.
    pub hops: f64,
    /// A load.
    pub load: f64,
    /// A program whose loads are cached.
    pub cached: f64,
    /// A program whose loads are not.
    pub uncached: f64,
}

/// Machines joined in each shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    /// How many machines.
    pub machines: usize,
    /// By shape, in the order of [`Shape::ALL`].
    pub fabrics: [Fabric; 3],
}

impl Fabric {
    /// At a mean distance.
    pub fn at(hops: f64) -> Self {
        let [second, cached, uncached] = SECOND_HOP.map(|percent| percent / 100.0);
        let load = 1.0 + second * (hops - 1.0);
        let program = |slower: f64| 1.0 + slower / second * (load - 1.0);
        Self { hops, load, cached: program(cached), uncached: program(uncached) }
    }
}

/// All numbers of machines in all shapes.
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

    /// The published 95 % and 27 % name no reference. One explains both: machines four hops apart, uncached.
    #[test]
    fn both_published_meshes_agree_with_the_model_from_four_hops_on() {
        let four = Fabric::at(4.0).uncached;
        let square = Fabric::at(Shape::Mesh2d.mean_hops(256)).uncached / four;
        let cube = Fabric::at(Shape::Mesh3d.mean_hops(216)).uncached / four;
        assert!((square - 1.95).abs() < 0.05, "{square}");
        assert!((cube - 1.27).abs() < 0.02, "{cube}");
    }
}
