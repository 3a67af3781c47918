//! What a phase asks of storage and processors.

use std::ops::AddAssign;

/// Work of all sites of a phase together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Work {
    /// Bytes of tables that are read one after another.
    pub(super) read: f64,
    /// Pages of tables that are fetched from anywhere.
    pub(super) fetched: f64,
    /// Bytes that do not fit into memory and are written.
    pub(super) spilled: f64,
    /// Bytes that were, and are read again.
    pub(super) unspilled: f64,
    /// Cycles of the core on which coefficients were measured.
    pub(super) cycles: f64,
}

impl Work {
    /// Work of processors alone.
    pub(super) fn cycles(cycles: f64) -> Self {
        Self { cycles, ..Self::default() }
    }

    /// The same so many times, or an equal share of it.
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

/// Who does the work of a phase, and has its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Every site an equal share.
    Sites,
    /// The central unit, or the first site.
    Coordinator,
}
