//! Settings for running a statement's operators on the servers that own the rows.

use crate::portable::Portable;
use datafusion::common::Result;
use datafusion::prelude::SessionConfig;
use std::sync::Arc;
use values::translate::external;
use values::{Error, SqlState};

/// The setting that switches running operators on the servers that own the rows.
const SHIPPING: &str = "pando.shipping";
/// The setting for the bytes that a join broadcasts at most.
const BROADCAST_BYTES: &str = "pando.broadcast_bytes";
/// The setting for the number of servers whose partial results one server combines.
const FAN_IN: &str = "pando.fan_in";
/// The setting for how rows come from other servers: `push` or `pull`.
const GATHER: &str = "pando.gather";
/// The setting for the number of servers that are pulled from at a time.
const PULL_WINDOW: &str = "pando.pull_window";

/// Bytes that a join broadcasts at most by default. Larger inputs are hash-partitioned.
pub const BROADCAST_BYTES_MAX: usize = 8 << 20;
/// Partial results that one server combines by default.
pub(crate) const FAN_IN_DEFAULT: usize = 16;
/// Servers that are pulled from at a time by default.
const PULL_WINDOW_DEFAULT: usize = 8;
/// With more servers than this, rows are pulled by default.
const PUSHING_MAX: usize = 16;

/// How a statement's operators may run on the servers that own the rows.
#[derive(Debug)]
pub struct Shipping {
    /// The functions that mean the same on every server.
    pub portable: Arc<Portable>,
    /// Whether operators above a scan are shipped, or only the scan.
    pub operators: bool,
    /// Bytes of an input that a join broadcasts at most.
    pub broadcast_bytes: usize,
    /// How rows come from other servers.
    pub gathering: Gathering,
    /// Partial results that one server combines at most.
    pub fan_in: usize,
    /// Partitions into which a server divides its work.
    pub partitions: usize,
}

/// How rows of several servers come to the server that asks for them.
#[derive(Debug, Clone, Copy)]
pub struct Gathering {
    /// With more servers than this, rows are pulled.
    pub pushing_max: usize,
    /// Servers that are pulled from at a time.
    pub window: usize,
}

impl Gathering {
    /// Every server pushes its rows.
    pub const PUSH: Self = Self { pushing_max: usize::MAX, window: PULL_WINDOW_DEFAULT };

    fn of(setting: &impl Fn(&str) -> Option<String>) -> Self {
        let pushing_max = match setting(GATHER).as_deref() {
            Some("push") => usize::MAX,
            Some("pull") => 0,
            _ => PUSHING_MAX,
        };
        let window = setting(PULL_WINDOW).and_then(|value| value.parse().ok());
        Self { pushing_max, window: window.unwrap_or(PULL_WINDOW_DEFAULT) }
    }
}

impl Shipping {
    /// The configuration of a session. `setting` returns the value of a setting by its name.
    pub fn new(
        portable: Arc<Portable>,
        partitions: usize,
        setting: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let operators = setting(SHIPPING).is_none_or(|value| value != "off");
        let number = |name| setting(name).and_then(|value| value.parse::<usize>().ok());
        Self {
            portable,
            operators,
            broadcast_bytes: number(BROADCAST_BYTES).unwrap_or(BROADCAST_BYTES_MAX),
            gathering: Gathering::of(&setting),
            fan_in: number(FAN_IN).unwrap_or(FAN_IN_DEFAULT),
            partitions,
        }
    }

    /// The configuration of the statement that runs with `config`. Without a session the defaults
    /// apply.
    ///
    /// # Errors
    /// XX000 if `config` has no portable functions.
    pub fn of(config: &SessionConfig) -> Result<Arc<Self>> {
        if let Some(shipping) = config.get_extension::<Self>() {
            return Ok(shipping);
        }
        let portable = config.get_extension::<Portable>().ok_or_else(|| {
            let message = "the engine has no list of portable functions";
            external(Error::new(SqlState::InternalError, message))
        })?;
        Ok(Arc::new(Self::new(portable, config.target_partitions(), |_| None)))
    }
}
