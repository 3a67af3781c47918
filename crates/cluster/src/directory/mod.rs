//! The distributed directory and the images, as this server has them: the state that says which
//! group owns which keys.
//!
//! `files`: all tables. `file`: one table.

mod file;
mod files;

pub(crate) use file::{File, Outbox};
pub(crate) use files::Files;
