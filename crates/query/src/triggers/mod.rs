//! Triggers of the tables whose rows statements change.
//!
//! A statement asks for the triggers that its changes fire ([`Firing`]). Those BEFORE run while it changes rows, and may
//! change the new row or leave the row as it is. Those AFTER are noted in the statement's [`Frame`] and fire at its end,
//! behind the actions of foreign keys ([`fire_after`]), as PostgreSQL's queue of events has it.
//!
//! Not here: what runs functions (`session`), and how rows are written (`dml`).

mod after;
mod firing;
mod transitions;
mod waiting;

pub(crate) use after::fire_after;
pub(crate) use firing::Firing;
pub(crate) use waiting::{fire_all, fire_due, settle_all};

#[cfg(doc)]
use crate::context::Frame;
