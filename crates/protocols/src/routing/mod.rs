//! Who owns which keys, as each server knows it: the directory of a table, beginning with its moves of pages and ending with
//! what a coordinator believes.
//!
//! - [`File`]: what one server knows of one table: its own keys, the pages that it keeps, and its image of the others.
//! - [`Delivery`]: one message of the directory on its way, until it is certain that it has arrived, or that it has not.
//! - [`Trail`]: what a request has met on its way from server to server, and when everybody is asked.
//!
//! The directory begins anew with each start of a server that had its rows before: its number is the generation. Not here:
//! pages and routes themselves (`sdds::directory`), and which start counts ([`membership`](crate::membership)).

mod delivery;
mod file;
mod trail;

pub use delivery::{Delivery, Fate, Next};
pub use file::{Effect, Event, File, Place};
pub use trail::{ADJUSTMENT_ENTRIES, HOPS_MAX, Search, Trail, may_go_on, search, unknown_before};

use sdds::{GroupId, KeyRange};

/// Parts of a range in key order, each with a group.
pub type Parts = Vec<(KeyRange, GroupId)>;
