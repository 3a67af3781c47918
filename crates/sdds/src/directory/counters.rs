//! What finding owners has cost a client.

/// Sums over the requests of one client to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Requests that were begun.
    pub requests: u64,
    /// Requests of which some part was forwarded.
    pub forwarded: u64,
    /// Answers; a range query has one a stretch of one owner's.
    pub answers: u64,
    /// Times that answered parts were passed on from server to server.
    pub forwards: u64,
    /// Messages that the longest way to an owner took: one more than its forwards.
    pub hops_max: u32,
    /// Answers that told the image something new.
    pub adjustments: u64,
    /// Times that every group was asked who owns some keys.
    pub broadcasts: u64,
}

impl Counters {
    /// Messages that it took on average to reach an owner; 0 before the first answer.
    pub fn hops_mean(&self) -> f64 {
        match self.answers {
            0 => 0.0,
            answers => (answers + self.forwards) as f64 / answers as f64,
        }
    }

    /// Of a thousand requests, how many were forwarded.
    pub fn forwarded_per_thousand(&self) -> f64 {
        match self.requests {
            0 => 0.0,
            requests => self.forwarded as f64 * 1000.0 / requests as f64,
        }
    }

    /// What has come since an earlier state; the longest way is that of all requests.
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

    /// Both together.
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
