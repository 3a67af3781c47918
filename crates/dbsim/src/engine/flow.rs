//! Work that moves through stations in chunks.

use super::{StationId, Time};
use crate::hardware::Access;

/// A flow, by the order in which flows were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub(super) usize);

impl FlowId {
    /// Its place among the outcomes.
    pub fn index(self) -> usize {
        self.0
    }
}

/// What the time of a step counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Reading tables: disks, interconnect, memory, memory of others.
    Io,
    /// Writing and reading what did not fit into memory.
    Spill,
    /// Processors.
    Compute,
    /// Networks.
    Communication,
}

impl Category {
    /// All of them, in the order of [`Times`].
    pub const ALL: [Self; 4] = [Self::Io, Self::Spill, Self::Compute, Self::Communication];
}

/// Time by category; waiting in a queue counts as what was waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times([Time; 4]);

impl Times {
    /// The time of one category.
    pub fn of(&self, category: Category) -> Time {
        self.0[category as usize]
    }

    /// All categories together.
    pub fn total(&self) -> Time {
        self.0.iter().copied().sum()
    }

    /// Adds a stretch of time.
    pub fn add(&mut self, category: Category, time: Time) {
        self.0[category as usize] += time;
    }

    /// Adds all of another's.
    pub fn merge(&mut self, other: &Self) {
        for category in Category::ALL {
            self.add(category, other.of(category));
        }
    }
}

/// What a chunk does next.
#[derive(Debug, Clone)]
pub enum Step {
    /// Is served at a station for a fixed time.
    Serve {
        /// Where.
        station: StationId,
        /// How long, without waiting.
        time: Time,
        /// What it counts as.
        category: Category,
    },
    /// Reads or writes a disk; the chunks of a flow take disks in turn.
    Disk {
        /// The first of the disks, which follow each other.
        first: StationId,
        /// How many there are, at least 1.
        disks: usize,
        /// What each chunk does there.
        access: Access,
        /// What it counts as.
        category: Category,
    },
    /// Takes time without being in anybody's way.
    Wait {
        /// How long.
        time: Time,
        /// What it counts as.
        category: Category,
    },
}

impl Step {
    /// What its time counts as.
    pub(super) fn category(&self) -> Category {
        match self {
            Self::Serve { category, .. }
            | Self::Disk { category, .. }
            | Self::Wait { category, .. } => *category,
        }
    }
}

/// When a flow's chunks begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// So many are under way at a time, at least 1; the next begins when one has done its last step.
    Window(usize),
    /// At random, a Poisson process with this mean time between two.
    Poisson(Time),
}

/// Chunks that all take the same steps.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Flows that have to end before this one begins.
    pub after: Vec<FlowId>,
    /// How many chunks; without any it ends when it begins.
    pub chunks: usize,
    /// When they begin.
    pub arrivals: Arrivals,
    /// What each does.
    pub steps: Vec<Step>,
}

impl Flow {
    /// A flow that does nothing but wait for others.
    pub fn barrier(after: Vec<FlowId>) -> Self {
        Self { after, chunks: 0, arrivals: Arrivals::Window(1), steps: Vec::new() }
    }
}

/// What became of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When it could begin.
    pub began: Time,
    /// When its last chunk was done.
    pub ended: Time,
    /// What its chunks spent, one after another: more than it lasted where several were under way.
    pub breakdown: Times,
}
