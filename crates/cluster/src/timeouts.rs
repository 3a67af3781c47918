//! Every time limit and pause of a server.

use net::TimeLimits;
use std::time::Duration;

/// The time limits, and the pauses between tries.
#[derive(Debug)]
pub(crate) struct Timeouts {
    /// The period of heartbeats and of other periodic work.
    pub(crate) period: Duration,
    /// The answer to a heartbeat; the next one may succeed.
    pub(crate) heartbeat: Duration,
    /// The root evicts a server without data after this time without a heartbeat.
    pub(crate) eviction: Duration,
    /// A root that takes no event for longer, not even its own heartbeats, stood still: it does not know who was silent.
    pub(crate) standstill: Duration,
    /// The answer to most calls.
    pub(crate) call: Duration,
    /// The first rows of a plan fragment, and a DML pushdown.
    pub(crate) run: Duration,
    /// A call of a procedure. Its client decides how long it waits; a lost connection ends it, too.
    pub(crate) procedure: Duration,
    /// The pause before a server is asked again to end a call.
    pub(crate) end_call: Duration,
    /// How long a reader of the newest version of a row waits for a prepared transaction that writes it.
    pub(crate) row: Duration,
    /// How long a participant hears nothing before it asks for the outcome.
    pub(crate) participant_silence: Duration,
    /// How long a commit waits until other servers have made it visible. They do so anyway.
    pub(crate) visible: Duration,
    /// The first pause between two questions to the root for an outcome. Each further one is twice as long.
    pub(crate) outcome_pause: Duration,
    /// The longest such pause.
    pub(crate) outcome_pause_max: Duration,
    /// A broadcast lookup; servers that answer later are left out.
    pub(crate) broadcast: Duration,
    /// The first pause before a message of the directory is sent again. Each further one is twice as long.
    pub(crate) directory_pause: Duration,
    /// The longest such pause.
    pub(crate) directory_pause_max: Duration,
    /// Received rows of a move are dropped after this time without a message of their source.
    pub(crate) source_silence: Duration,
    /// How long the part of a transaction that empties a table waits for frozen rows. Less than a call.
    pub(crate) frozen: Duration,
    /// The pause between two tries to freeze keys.
    pub(crate) freeze_pause: Duration,
    /// The pause between two questions about the outcome of a move.
    pub(crate) move_outcome_pause: Duration,
    /// The pause after a failed move. Each further failure doubles it.
    pub(crate) move_pause: Duration,
    /// The longest such pause.
    pub(crate) move_pause_max: Duration,
    /// The longest pause while the limit of bytes per second allows no more: it may change.
    pub(crate) pace_max: Duration,
    /// How long an order of the root is carried out before the root is asked again.
    pub(crate) order: Duration,
    /// The period in which access rates of buckets are averaged.
    pub(crate) access_averaging: Duration,
    /// How long a leaving server waits until all others know that it leaves.
    pub(crate) leave: Duration,
    /// The pause before something is tried again that other servers have to answer.
    pub(crate) retry_pause: Duration,
    /// How long a request for an advisory lock waits at the root before its server asks again.
    pub(crate) number: Duration,
    /// Those of connections.
    pub(crate) network: TimeLimits,
}

/// Those of every server.
pub(crate) const TIMEOUTS: Timeouts = Timeouts {
    period: Duration::from_millis(100),
    heartbeat: Duration::from_secs(1),
    eviction: Duration::from_secs(10),
    standstill: Duration::from_secs(1),
    call: Duration::from_secs(5),
    run: Duration::from_secs(600),
    procedure: Duration::from_secs(7 * 24 * 3600),
    end_call: Duration::from_millis(50),
    row: Duration::from_secs(4),
    participant_silence: Duration::from_secs(2),
    visible: Duration::from_millis(200),
    outcome_pause: Duration::from_millis(50),
    outcome_pause_max: Duration::from_millis(500),
    broadcast: Duration::from_secs(1),
    directory_pause: Duration::from_millis(10),
    directory_pause_max: Duration::from_secs(1),
    source_silence: Duration::from_secs(60),
    frozen: Duration::from_secs(3),
    freeze_pause: Duration::from_millis(10),
    move_outcome_pause: Duration::from_millis(100),
    move_pause: Duration::from_millis(200),
    move_pause_max: Duration::from_secs(10),
    pace_max: Duration::from_millis(100),
    order: Duration::from_secs(2),
    access_averaging: Duration::from_secs(1),
    leave: Duration::from_secs(1),
    retry_pause: Duration::from_millis(500),
    number: Duration::from_secs(60),
    network: TimeLimits {
        handshake: Duration::from_secs(10),
        keep_alive: Duration::from_secs(5),
        closing: Duration::from_secs(1),
        back_off: Duration::from_millis(10),
        back_off_max: Duration::from_millis(320),
        no_connection_pause: Duration::from_millis(100),
    },
};

/// The time limits of connections between servers.
pub const TIME_LIMITS: TimeLimits = TIMEOUTS.network;

const _: () = {
    let Timeouts { call, row, participant_silence, heartbeat, eviction, .. } = TIMEOUTS;
    let Timeouts { number, run, network, standstill, period, .. } = TIMEOUTS;
    assert!(period.as_millis() * 5 < standstill.as_millis(), "a root that is awake is busy");
    assert!(standstill.as_millis() * 5 < eviction.as_millis(), "it does not forgive most silence");
    assert!(
        number.as_millis() * 2 < run.as_millis(),
        "the root answers before its caller gives up"
    );
    assert!(row.as_millis() < call.as_millis(), "a reader answers before its caller gives up");
    assert!(participant_silence.as_millis() < row.as_millis(), "a reader waits for an outcome");
    assert!(
        network.keep_alive.as_millis() * 2 <= eviction.as_millis(),
        "a dead connection is known before its server is evicted"
    );
    assert!(heartbeat.as_millis() * 5 < eviction.as_millis(), "some heartbeats may be lost");
};
