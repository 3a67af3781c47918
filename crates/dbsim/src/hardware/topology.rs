//! Network topologies and distances.

use serde::Deserialize;

/// The topology of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Shape {
    /// Any two machines are one hop apart.
    #[serde(rename = "switch")]
    Switch,
    /// A rectangle of machines, each connected to its neighbors.
    #[serde(rename = "mesh-2d")]
    Mesh2d,
    /// A box of machines, each connected to its neighbors.
    #[serde(rename = "mesh-3d")]
    Mesh3d,
}

impl Shape {
    /// All topologies.
    pub const ALL: [Self; 3] = [Self::Switch, Self::Mesh2d, Self::Mesh3d];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Mesh2d => "mesh-2d",
            Self::Mesh3d => "mesh-3d",
        }
    }

    /// Hops between two machines; 0 from a machine to itself.
    pub fn hops(self, machines: usize, from: usize, to: usize) -> usize {
        match self {
            Self::Switch => usize::from(from != to),
            Self::Mesh2d => distance(&dimensions(machines, 2), from, to),
            Self::Mesh3d => distance(&dimensions(machines, 3), from, to),
        }
    }

    /// Mean hops from one machine to another.
    pub fn mean_hops(self, machines: usize) -> f64 {
        let pairs = machines * machines.saturating_sub(1);
        if pairs == 0 {
            return 0.0;
        }
        let all = (0..machines * machines).map(|pair| (pair / machines, pair % machines));
        let hops: usize = all.map(|(from, to)| self.hops(machines, from, to)).sum();
        hops as f64 / pairs as f64
    }
}

/// The sides of the smallest nearly cubic box of this dimension with room for all machines.
pub fn dimensions(machines: usize, dimensions: u32) -> Vec<usize> {
    let mut sides = Vec::new();
    let mut left = machines.max(1);
    for dimension in (1..=dimensions).rev() {
        let mut side = 1_usize;
        while side.pow(dimension) < left {
            side += 1;
        }
        sides.push(side);
        left = left.div_ceil(side);
    }
    sides
}

/// Hops between two positions of a box; the machines are numbered along the first side first.
fn distance(sides: &[usize], from: usize, to: usize) -> usize {
    let mut hops = 0;
    let (mut from, mut to) = (from, to);
    for side in sides {
        hops += (from % side).abs_diff(to % side);
        (from, to) = (from / side, to / side);
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_nearly_cubes() {
        assert_eq!(dimensions(256, 2), [16, 16]);
        assert_eq!(dimensions(216, 3), [6, 6, 6]);
        assert_eq!(dimensions(8, 2), [3, 3]);
        assert_eq!(dimensions(32, 3), [4, 3, 3]);
        assert_eq!(dimensions(1, 3), [1, 1, 1]);
    }

    /// In a square of side k, two distinct machines are `2 k / 3` apart on average.
    #[test]
    fn mean_distances_are_those_of_the_formulas() {
        let formula =
            |k: f64, d: f64| d * (k * k - 1.0) / (3.0 * k) * k.powf(d) / (k.powf(d) - 1.0);
        for k in [2, 4, 16] {
            let mean = Shape::Mesh2d.mean_hops(k * k);
            assert!((mean - formula(k as f64, 2.0)).abs() < 1e-9, "{k}: {mean}");
            assert!((mean - 2.0 * k as f64 / 3.0).abs() < 1e-9);
        }
        for k in [2, 4, 6] {
            let mean = Shape::Mesh3d.mean_hops(k * k * k);
            assert!((mean - formula(k as f64, 3.0)).abs() < 1e-9, "{k}: {mean}");
        }
        assert_eq!(Shape::Switch.mean_hops(100), 1.0);
        assert_eq!(Shape::Mesh2d.mean_hops(1), 0.0);
    }
}
