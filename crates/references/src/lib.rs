//! What foreign keys must know of changed rows ([`RowChanges`]), and the keys of rows to which other
//! rows refer ([`RequiredKeys`]).
//!
//! A transaction notes how the watched columns of its rows change: those of foreign keys, and those
//! that foreign keys refer to. Whoever runs statements looks at these changes at their end, checks
//! the foreign keys, and carries out their actions.

mod required;
mod row_changes;

pub use required::RequiredKeys;
pub use row_changes::{DeferredCheck, RowChange, RowChanges, Side, Watched, watched};
