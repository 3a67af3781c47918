//! The transaction of a session, and what the session keeps until it ends.
//!
//! A [`Conversation`](transactions::Conversation) has no transaction, an open one, or one that has failed and waits for
//! ROLLBACK. More belongs to a transaction than the changes of the store: settings, notifications ([`announcements`]),
//! cursors and constraint triggers that wait ([`held`]). They end with it, and go back with it to a savepoint. A session has
//! one conversation at a time ([`current`]). A statement has it to itself; others read what is known of it.
//!
//! Not here: executing statements, and firing the triggers that wait (`query`).

pub mod announcements;
pub mod current;
pub mod held;
pub mod transactions;
pub mod triggers;
