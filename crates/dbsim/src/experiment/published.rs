//! Published figures (`PAPERS.md`).

use super::Variation;

/// Mean response times of cluster 2, cluster 4 and smart disks, in percent of the single host's.
pub fn averages(variation: Variation) -> [f64; 3] {
    match variation {
        Variation::Base => [50.6, 30.3, 29.0],
        Variation::FasterCpu => [55.8, 36.0, 28.1],
        Variation::LargePage => [48.6, 29.2, 25.6],
        Variation::SmallPage => [57.1, 33.8, 30.0],
        Variation::LargeMemory => [51.1, 30.7, 29.1],
        Variation::FasterIo => [48.1, 38.9, 30.6],
        Variation::FewerDisks => [52.9, 32.0, 52.3],
        Variation::MoreDisks => [50.1, 29.6, 18.6],
        Variation::SmallerDatabase => [59.7, 30.1, 30.1],
        Variation::LargerDatabase => [49.6, 29.1, 25.6],
        Variation::HighSelectivity => [49.3, 29.5, 29.4],
        Variation::LowSelectivity => [52.3, 31.5, 28.5],
    }
}

/// Speed-ups at 8, 16 and 32 disks over 4: clusters of hosts with four disks, with two disks, and
/// smart disks.
pub const SPEEDUPS: [[f64; 3]; 3] = [[1.89, 3.75, 7.39], [1.88, 3.73, 7.36], [1.88, 3.72, 7.31]];

/// Number of units and the gain of bundling over none, in percent.
pub const BUNDLING: [(usize, f64); 2] = [(4, 4.9), (8, 4.98)];

/// Slowdown from one hop to two, in percent: of a load, of a program with cached loads, and of one
/// with uncached loads.
pub const SECOND_HOP: [f64; 3] = [32.0, 20.0, 26.0];

/// Slowdown of a program on 256 machines of a 2D mesh and on 216 of a 3D mesh, in percent.
pub const FAR: [f64; 2] = [95.0, 27.0];
