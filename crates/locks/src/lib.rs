//! The locks of a server as a state machine: who holds what, who waits, and who is granted next.
//!
//! - [`mode`]: PostgreSQL's lock modes and which of them conflict.
//! - [`table`]: the lock table. Requests queue in the order in which they arrive.
//! - [`deadlock`]: cycles among those that wait.
//! - [`chosen`], [`moved`]: which rows a statement changes behind a wait, also if they have other keys then.
//!
//! A lock belongs to an [`Owner`] until it is released. Owners of the same [`Party`] do not conflict.
//! Nothing here waits, measures time or sends messages: whoever drives the table wakes those whose
//! [`Ticket`]s it returns.

pub mod chosen;
pub mod deadlock;
pub mod mode;
pub mod moved;
pub mod table;
mod target;

pub use chosen::Chosen;
pub use mode::Mode;
pub use moved::Moved;
pub use table::{Acquired, Listed, LockTable};
pub use target::{Owner, Party, Space, Target, Ticket};
