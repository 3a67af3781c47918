//! Foreign keys: their definitions, their checks, and their actions; checks of deferrable unique constraints; changes
//! of primary keys; and names of constraints.
//!
//! A transaction notes how rows change that foreign keys watch ([`store::RowChanges`]). At the end of
//! a statement [`settle`] looks at all of its changes together: it carries out the actions, whose
//! changes it looks at again, and then checks. Checks that are deferred wait for [`settle_all`],
//! before the commit.
//!
//! - A new value must be that of a row that is referred to. All values of a statement are looked up
//!   in one request to each owner. The rows that are found are required until the commit: a
//!   transaction that deletes one of them at the same time conflicts with this one.
//! - A value that is gone must not be that of a row that refers. Such rows are found by a query,
//!   which uses an index on the columns if there is one.

mod actions;
mod changing;
mod comparable_types;
mod definition;
mod errors;
mod existing_index;
mod lookup;
pub mod names;
pub mod operator_classes;
mod primary_key;
mod settle;
mod surroundings;
mod tuples;
mod unique;

pub use changing::{
    alter, check_type, comment, deferrable, drop, follow_type, make_valid, named, put, timing,
};
pub use definition::{Wanted, define, refuse_dependents};
pub use existing_index::usable_index;
pub use primary_key::{add_key, drop_key, key_of};
pub use settle::{set_constraints, settle, settle_all, validate};
pub use surroundings::Surroundings;
pub use unique::check_all;
