//! What a run is: servers, clients and faults, as a seed chooses them.

use crate::dice::Dice;
use std::time::Duration;
use store::journal::Durability;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A server loses power, with what its disk has not synced.
    Crash,
    /// All servers lose power.
    PowerCut,
    /// A server stands still.
    Pause,
    /// Two servers do not reach each other, in one direction or both.
    Cut,
    /// A server reaches nobody.
    Isolation,
    /// A link takes long.
    SlowLink,
    /// Requests and answers get lost, or come late.
    Loss,
    /// A disk takes long.
    SlowDisk,
    /// A sync fails, and the server ends.
    DiskFault,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Crash,
        Self::PowerCut,
        Self::Pause,
        Self::Cut,
        Self::Isolation,
        Self::SlowLink,
        Self::Loss,
        Self::SlowDisk,
        Self::DiskFault,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash of a server",
            Self::PowerCut => "power cut of all",
            Self::Pause => "pause",
            Self::Cut => "cut",
            Self::Isolation => "isolation",
            Self::SlowLink => "slow link",
            Self::Loss => "loss",
            Self::SlowDisk => "slow disk",
            Self::DiskFault => "disk fault",
        }
    }
}

/// What a run is.
#[derive(Debug, Clone)]
pub struct Config {
    /// The seed.
    pub seed: u64,
    /// The number of servers.
    pub servers: usize,
    /// How many of them join while clients work: one or none.
    pub late: usize,
    /// The number of clients.
    pub clients: usize,
    /// What goes wrong.
    pub faults: Vec<FaultKind>,
    /// How long.
    pub time: Duration,
    /// What commits wait for. With less than `Sync`, acknowledged writes may be lost.
    pub durability: Durability,
    /// Whether the trace has lines for people.
    pub keeps_lines: bool,
}

impl Config {
    /// The run of a seed.
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x5eed);
        let all = FaultKind::ALL;
        let faults = match dice.below(10) {
            0 => Vec::new(),
            1..5 => vec![all[dice.index(all.len())]],
            5..8 => all.into_iter().filter(|_| dice.permille(500)).collect(),
            _ => all.to_vec(),
        };
        Self {
            seed,
            servers: dice.between(3, 5) as usize,
            late: dice.index(2),
            clients: dice.between(2, 8) as usize,
            faults,
            time: Duration::from_secs(dice.between(5, 25)),
            durability: Durability::Sync,
            keeps_lines: false,
        }
    }
}
