//! COPY: files into tables, and queries into files.

pub(crate) mod client;
pub(crate) mod from;
mod options;
pub(crate) mod to;
