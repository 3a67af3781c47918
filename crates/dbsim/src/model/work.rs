//! The work of a phase for storage and processors.

use std::ops::AddAssign;

/// The work of all sites in a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    /// Bytes of tables read sequentially.
    pub(super) read: f64,
    /// Pages of tables read at random.
    pub(super) fetched: f64,
    /// Bytes written because they exceed the memory.
    pub(super) spilled: f64,
    /// Spilled bytes read again.
    pub(super) unspilled: f64,
    /// Cycles of the core on which the coefficients were measured.
    pub(super) cycles: f64,
}

impl Work {
    /// Processor work only.
    pub(super) fn cycles(cycles: f64) -> Self {
        Self { cycles, ..Self::default() }
    }

    /// The work multiplied by a factor.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            read: self.read * factor,
            fetched: self.fetched * factor,
            spilled: self.spilled * factor,
            unspilled: self.unspilled * factor,
            cycles: self.cycles * factor,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.fetched += other.fetched;
        self.spilled += other.spilled;
        self.unspilled += other.unspilled;
        self.cycles += other.cycles;
    }
}

/// The sites that do the work of a phase and hold its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// All sites, an equal share each.
    Sites,
    /// The central unit, or the first site without one.
    Coordinator,
}
