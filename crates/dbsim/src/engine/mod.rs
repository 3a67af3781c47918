//! Discrete events: a calendar, stations where work queues, and flows of work through them.
//!
//! Nothing here knows of queries. The whole simulation is single-threaded and its ties are broken by the order in
//! which events were noted, so the same flows give the same times.

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
