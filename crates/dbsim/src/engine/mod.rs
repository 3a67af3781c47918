//! Discrete event simulation: a calendar, stations with queues, and flows of work through them.
//!
//! The engine is independent of queries. It is single-threaded, and events of the same time are
//! processed in the order in which they were scheduled. The same flows therefore give the same
//! times.

mod calendar;
mod flow;
mod network;
mod random;
mod station;
mod time;

pub use calendar::Calendar;
pub use flow::{Arrivals, Category, Flow, FlowId, Outcome, Step, Times};
pub use network::Network;
pub use random::Random;
pub use station::{Station, StationId};
pub use time::Time;
