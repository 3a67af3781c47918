//! What statements run in: what the sessions of a database share, a session's state, and a statement's surroundings.
//!
//! From the bottom up: [`engine`] and the sessions of a database in [`shared`]; what functions and other sessions see of a
//! session in [`session_context`]; the state of a session in [`inner`]; the surroundings of one statement in [`frame`].

pub(crate) mod cancel;
pub(crate) mod control;
pub(crate) mod engine;
mod frame;
mod inner;
mod listed;
pub(crate) mod memory_pool;
pub(crate) mod outcome;
mod ownership;
mod parameters;
mod presence;
pub(crate) mod session_context;
mod sessions;
pub(crate) mod settings_scopes;
mod shared;
pub(crate) mod temporary;
pub(crate) mod transactions;

pub(crate) use frame::{Frame, start};
pub use inner::ProgressCallback;
pub(crate) use inner::{Inner, writes_nothing};
pub(crate) use listed::Listed;
pub(crate) use ownership::own;
pub use parameters::parameter_of_text;
pub(crate) use sessions::Sessions;
pub(crate) use shared::Shared;
