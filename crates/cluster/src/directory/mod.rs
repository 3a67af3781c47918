//! The distributed directory and the images, as this server has them: the state that says which
//! group owns which keys.
//!
//! `files`: all tables. `file`: one table.

mod file;
mod files;

pub(crate) use file::{ADJUSTMENT_ENTRIES, File, Outbox, Parts};
pub(crate) use files::Files;
