//! Values as PostgreSQL reads them from text, where the engine's own reading knows less.

pub(crate) mod bytes;
pub(crate) mod interval;
pub(crate) mod moment;
pub(crate) mod numerics;
