//! The twelve variations of the paper's base.
//!
//! What is varied is the paper's; by how much it is ours where it does not say: each is doubled or halved, the database is
//! 3 and 30 times scale factor 1, and selectivities are half and half as much again.

use crate::Error;
use crate::hardware::Architecture;
use crate::plan::Selectivity;

/// How large the database and the queries' filtered tables are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The scale factor.
    pub scale: f64,
    /// How much of their tables queries select.
    pub selectivity: Selectivity,
}

impl Sizes {
    /// The base of the paper's experiments.
    pub const BASE: Self = Self { scale: super::SCALE, selectivity: Selectivity::Medium };
}

/// What is different from the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variation {
    /// Nothing.
    Base,
    /// All processors are twice as fast.
    FasterCpu,
    /// Pages of 16 KiB.
    LargePage,
    /// Pages of 4 KiB.
    SmallPage,
    /// Twice the memory.
    LargeMemory,
    /// An interconnect of 400 MB/s.
    FasterIo,
    /// Four disks.
    FewerDisks,
    /// Sixteen disks.
    MoreDisks,
    /// Scale factor 3.
    SmallerDatabase,
    /// Scale factor 30.
    LargerDatabase,
    /// Queries take half as much again.
    HighSelectivity,
    /// Queries take half as much.
    LowSelectivity,
}

impl Variation {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 12] = [
        Self::Base,
        Self::FasterCpu,
        Self::LargePage,
        Self::SmallPage,
        Self::LargeMemory,
        Self::FasterIo,
        Self::FewerDisks,
        Self::MoreDisks,
        Self::SmallerDatabase,
        Self::LargerDatabase,
        Self::HighSelectivity,
        Self::LowSelectivity,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::FasterCpu => "faster CPU",
            Self::LargePage => "large page",
            Self::SmallPage => "small page",
            Self::LargeMemory => "large memory",
            Self::FasterIo => "faster I/O",
            Self::FewerDisks => "fewer disks",
            Self::MoreDisks => "more disks",
            Self::SmallerDatabase => "smaller database",
            Self::LargerDatabase => "larger database",
            Self::HighSelectivity => "high selectivity",
            Self::LowSelectivity => "low selectivity",
        }
    }

    /// An architecture of the base, varied.
    ///
    /// # Errors
    /// Where an architecture cannot have so many disks.
    pub fn of(self, mut architecture: Architecture) -> Result<Architecture, Error> {
        let processors = [Some(&mut architecture.site.processor), architecture.central.as_mut()];
        match self {
            Self::FasterCpu => processors.into_iter().flatten().for_each(|cpu| cpu.mhz *= 2.0),
            Self::LargePage => architecture.page_kb *= 2.0,
            Self::SmallPage => architecture.page_kb /= 2.0,
            Self::LargeMemory => architecture.site.memory_mb *= 2.0,
            Self::FasterIo => {
                let interconnect = architecture.site.interconnect.as_mut();
                interconnect.into_iter().for_each(|interconnect| interconnect.mb_s *= 2.0);
            }
            Self::FewerDisks => return architecture.with_disks(4),
            Self::MoreDisks => return architecture.with_disks(16),
            Self::Base
            | Self::SmallerDatabase
            | Self::LargerDatabase
            | Self::HighSelectivity
            | Self::LowSelectivity => {}
        }
        Ok(architecture)
    }

    /// The sizes of this variation.
    pub fn sizes(self) -> Sizes {
        let base = Sizes::BASE;
        match self {
            Self::SmallerDatabase => Sizes { scale: 3.0, ..base },
            Self::LargerDatabase => Sizes { scale: 30.0, ..base },
            Self::HighSelectivity => Sizes { selectivity: Selectivity::High, ..base },
            Self::LowSelectivity => Sizes { selectivity: Selectivity::Low, ..base },
            _ => base,
        }
    }
}
