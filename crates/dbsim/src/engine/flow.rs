//! Flows: work that moves through stations in chunks.

use super::{StationId, Time};
use crate::hardware::Access;

/// The index of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub(super) usize);

impl FlowId {
    /// The index of its outcome.
    pub fn index(self) -> usize {
        self.0
    }
}

/// The category of a step's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Reading tables: disks, interconnect, local and remote memory.
    Io,
    /// Writing and reading spilled data.
    Spill,
    /// Processors.
    Compute,
    /// Networks.
    Communication,
}

impl Category {
    /// All categories, in the order of [`Times`].
    pub const ALL: [Self; 4] = [Self::Io, Self::Spill, Self::Compute, Self::Communication];
}

/// Time by category, including the waiting time in queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times([Time; 4]);

impl Times {
    /// The time of one category.
    pub fn of(&self, category: Category) -> Time {
        self.0[category as usize]
    }

    /// The sum of all categories.
    pub fn total(&self) -> Time {
        self.0.iter().copied().sum()
    }

    /// Adds time to a category.
    pub fn add(&mut self, category: Category, time: Time) {
        self.0[category as usize] += time;
    }

    /// Adds all categories of `other`.
    pub fn merge(&mut self, other: &Self) {
        for category in Category::ALL {
            self.add(category, other.of(category));
        }
    }
}

/// A step of a chunk.
#[derive(Debug, Clone)]
pub enum Step {
    /// Is served at a station for a fixed time.
    Serve {
        /// The station.
        station: StationId,
        /// Service time, without waiting.
        time: Time,
        /// The category of the time.
        category: Category,
    },
    /// Reads or writes a disk; the chunks of a flow use the disks in turn.
    Disk {
        /// The first of consecutive disk stations.
        first: StationId,
        /// Number of disks, at least 1.
        disks: usize,
        /// The access of each chunk.
        access: Access,
        /// The category of the time.
        category: Category,
    },
    /// A delay without contention.
    Wait {
        /// The delay.
        time: Time,
        /// The category of the time.
        category: Category,
    },
}

impl Step {
    /// The category of the step's time.
    pub(super) fn category(&self) -> Category {
        match self {
            Self::Serve { category, .. }
            | Self::Disk { category, .. }
            | Self::Wait { category, .. } => *category,
        }
    }
}

/// When the chunks of a flow begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// This many chunks, at least 1, are in progress at a time; the next begins when one has
    /// completed its last step.
    Window(usize),
    /// A Poisson process with this mean time between arrivals.
    Poisson(Time),
}

/// A number of chunks with the same steps.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Flows that must end before this one begins.
    pub after: Vec<FlowId>,
    /// Number of chunks; a flow without chunks ends when it begins.
    pub chunks: usize,
    /// When the chunks begin.
    pub arrivals: Arrivals,
    /// The steps of each chunk.
    pub steps: Vec<Step>,
}

impl Flow {
    /// A flow without work that waits for others.
    pub fn barrier(after: Vec<FlowId>) -> Self {
        Self { after, chunks: 0, arrivals: Arrivals::Window(1), steps: Vec::new() }
    }
}

/// The times of a completed flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When its prerequisites had ended.
    pub began: Time,
    /// When its last chunk was done.
    pub ended: Time,
    /// The sum of the times of all chunks; longer than the flow if several are in progress at a
    /// time.
    pub breakdown: Times,
}
