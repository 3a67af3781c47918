//! Who is a member of the cluster: the root decides ([`Roster`]), and every server knows what it was told last ([`Known`]).
//!
//! ```text
//!             joins          is heard           leaves, or is silent and keeps no data
//!   nobody ----------> new ------------> member -------------------------------------> lost
//!                      | ^                | ^
//!                      +-+                +-+
//!          joins again, from the same     is started again with its data
//!          address
//! ```
//!
//! A number belongs to one server for ever: whoever is lost comes back under another number.
//!
//! Not here: which server leads a group that has several replicas, since each has one ([`Members::leader_of`]); what moves to
//! whom (`sdds::balancing`).

mod known;
mod list;
mod roster;
mod settings;

pub use known::{Known, Misdirected, News, Standing, Task};
pub use list::{Member, Members};
pub use roster::{Effect, Event, Limits, Newcomer, Refusal, Report, Returning, Roster};
pub use settings::{MoveSetting, MoveSettings};
