//! A file that grows from one bucket over thousands of servers while clients work, without any of them.
//!
//! The servers' and the clients' part is [`crate::directory`] as it runs in production; what is simulated is the rest:
//! messages that arrive in the order in which they were sent, buckets with keys in them, a balancer that
//! gives the new half of a split bucket to the server with the fewest, and clients that each wait for an
//! answer before they ask again. There is no time but the number of requests; the same seed gives the
//! same run, bit for bit.
//!
//! Every answer is checked: a client knows which keys it has inserted, and once the file rests what a range
//! query has to count.

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
