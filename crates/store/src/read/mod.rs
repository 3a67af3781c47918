//! Reads: tables at a snapshot with the writes of the reader's transaction, on this server and on
//! others.

mod entries;
mod find;
mod fragments;
mod gathered;
mod reading;
mod view;
mod walk;

pub use fragments::Fragments;
#[cfg(test)]
pub(crate) use gathered::Gathered;
pub use reading::Reading;
pub(crate) use reading::Reads;
pub use view::TableView;
pub use walk::Walk;
