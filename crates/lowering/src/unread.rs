//! What is known of columns that may stay unread ([`readable`](crate::readable)).

use analyzer::tree::{CteId, RelationId, SelectId};
use std::collections::HashMap;
use values::error::Error;

/// The errors of constants in columns, by the places of the columns.
pub(crate) type Errors = Vec<(usize, Error)>;

/// The errors of columns that may stay unread.
#[derive(Default)]
pub(crate) struct Unread {
    /// Of the SELECTs with such columns, while they are lowered: those so far.
    pub(crate) selects: HashMap<SelectId, Errors>,
    /// Of queries in WITH that are lowered.
    pub(crate) queries: HashMap<CteId, Errors>,
    /// Of the relations that can be read.
    pub(crate) relations: HashMap<RelationId, Errors>,
}
