//! The twelve variations of the paper's base.
//!
//! The varied parameters are the paper's. Where it gives no amounts, they are assumptions: each
//! value is doubled or halved, the database has the scale factors 3 and 30, and selectivities are
//! 0.5 and 1.5 times the published ones.

use crate::Error;
use crate::hardware::Architecture;
use crate::plan::Selectivity;

/// The size of the database and the selectivity of the queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// The scale factor.
    pub scale: f64,
    /// The part of their tables that queries select.
    pub selectivity: Selectivity,
}

impl Sizes {
    /// The base of the paper's experiments.
    pub const BASE: Self = Self { scale: super::SCALE, selectivity: Selectivity::Medium };
}

/// A change to the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variation {
    /// No change.
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
    /// 1.5 times the selectivities.
    HighSelectivity,
    /// Half the selectivities.
    LowSelectivity,
}

impl Variation {
    /// All variations, in the paper's order.
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

    /// The display name.
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

    /// Applies the variation to an architecture of the base.
    ///
    /// # Errors
    /// [`Error::Setting`] if the architecture cannot have this number of disks.
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
