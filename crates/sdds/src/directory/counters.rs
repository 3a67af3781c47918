//! Counters of a client's cost of locating owners.

/// Sums over the requests of one client to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Requests begun.
    pub requests: u64,
    /// Requests of which some part was forwarded.
    pub forwarded: u64,
    /// Answers; a range query has one per owner's range.
    pub answers: u64,
    /// Forwards of the answered parts.
    pub forwards: u64,
    /// Maximum number of messages to reach an owner: one more than the forwards.
    pub hops_max: u32,
    /// Answers that changed the image.
    pub adjustments: u64,
    /// Broadcast lookups.
    pub broadcasts: u64,
}

impl Counters {
    /// Mean number of messages to reach an owner; 0 before the first answer.
    pub fn hops_mean(&self) -> f64 {
        match self.answers {
            0 => 0.0,
            answers => (answers + self.forwards) as f64 / answers as f64,
        }
    }

    /// Forwarded requests per thousand.
    pub fn forwarded_per_thousand(&self) -> f64 {
        match self.requests {
            0 => 0.0,
            requests => self.forwarded as f64 * 1000.0 / requests as f64,
        }
    }

    /// The difference to an earlier state; `hops_max` is that of all requests.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            forwarded: self.forwarded - earlier.forwarded,
            answers: self.answers - earlier.answers,
            forwards: self.forwards - earlier.forwards,
            hops_max: self.hops_max,
            adjustments: self.adjustments - earlier.adjustments,
            broadcasts: self.broadcasts - earlier.broadcasts,
        }
    }

    /// The sum of two counters.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            forwarded: self.forwarded + other.forwarded,
            answers: self.answers + other.answers,
            forwards: self.forwards + other.forwards,
            hops_max: self.hops_max.max(other.hops_max),
            adjustments: self.adjustments + other.adjustments,
            broadcasts: self.broadcasts + other.broadcasts,
        }
    }
}
