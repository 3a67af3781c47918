//! A simulation of a file that grows from one bucket over thousands of servers while clients use
//! it.
//!
//! Servers and clients run the production code of [`crate::directory`]. The rest is simulated:
//! messages that arrive in the order in which they were sent, buckets of keys, a balancer that
//! moves the new half of a split bucket to the server with the fewest buckets, and clients that
//! wait for each answer. There is no clock; progress is measured in requests. Runs with the same
//! seed are identical.
//!
//! Every answer is checked: a client knows the keys that it has inserted, and when inserts have
//! ended the result of each range count is known.

mod driver;
mod figures;
mod parameters;
mod phases;
mod random;
mod site;
mod world;

pub use figures::{Figures, Messages, Sizes, Window};
pub use parameters::Parameters;
pub use phases::{Grown, Newcomers, Progress, run};
