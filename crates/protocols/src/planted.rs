//! Bugs that simulations plant, to show that their checkers find them. Without the feature `planted` there are none.

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The root tells a decision before it is in the log, and does not log it at all.
    DecisionInMemory,
    /// A participant says that it is prepared, and has not logged its part.
    PreparedInMemory,
    /// A destination adopts keys after it has said that it will not.
    MoveAppliedLate,
    /// A source releases keys whose adoption is not durable.
    ReleaseBeforeAdoption,
    /// A destination is told to adopt keys before their freeze is durable.
    FreezeInMemory,
    /// The numbers of transactions begin anew with each start of a server.
    NumberReused,
    /// A server that a page of the directory names takes keys that it does not own for missing.
    StalePageTrusted,
    /// The root forgets outcomes that participants do not know.
    OutcomeForgotten,
    /// Row versions are removed that snapshots need, and moves do not tell.
    EarlyCleanUp,
    /// A participant that was started again goes on with a transaction whose writes it has lost.
    LostWrites,
    /// The root assigns timestamps again after a restart.
    TimestampReused,
    /// A server answers although its log has stopped.
    AnswerAfterFailure,
    /// The epoch of what a server owns after a restart is not above those of before: others take it for old news.
    EpochReused,
    /// A row at the key at which a bucket splits stays in the lower half: `<=` for `<`.
    BorderMisplaced,
    /// A commit on one server is acknowledged although its log, which has stopped since it was prepared, did not take it.
    UnloggedCommit,
}

impl Bug {
    /// The bugs that seeds find. Faults at durable steps find the other one.
    pub const OF_SEEDS: [Self; 14] = [
        Self::DecisionInMemory,
        Self::PreparedInMemory,
        Self::MoveAppliedLate,
        Self::ReleaseBeforeAdoption,
        Self::FreezeInMemory,
        Self::NumberReused,
        Self::StalePageTrusted,
        Self::OutcomeForgotten,
        Self::EarlyCleanUp,
        Self::LostWrites,
        Self::TimestampReused,
        Self::AnswerAfterFailure,
        Self::EpochReused,
        Self::BorderMisplaced,
    ];
}

#[cfg(feature = "planted")]
std::thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug for this thread, or none.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether a bug is planted.
#[cfg(feature = "planted")]
pub fn is_planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Whether a bug is planted.
#[cfg(not(feature = "planted"))]
pub const fn is_planted(_: Bug) -> bool {
    false
}
