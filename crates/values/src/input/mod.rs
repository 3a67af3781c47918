//! Values as PostgreSQL reads them from text, where the engine's own reading knows less.

pub mod bytes;
pub mod interval;
pub mod moment;
pub(crate) mod numerics;
