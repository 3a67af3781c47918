//! SQL types as statements spell them, as plans carry them and as results name them.
//!
//! [`of_field`] and [`of_expression`] find the type of what a plan computes.
//! The Arrow type of a SQL type is in the catalog ([`SqlType::arrow`](store::catalog::SqlType::arrow)).

mod expression;
mod field;
mod names;

pub use expression::{CHOICE_FUNCTIONS, of_expression};
pub use field::{
    SYSTEM_TYPE_KEY, TYPE_KEY, is_declared, of_arrow, of_field, plan_field, with_system_type,
};
pub use names::{BPCHAR, CHAR, NAME, OID, REFCURSOR, is_record, name_without_length};
