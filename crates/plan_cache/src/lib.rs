//! What a session keeps of the statements that it repeats.
//!
//! [`plans`] keeps the physical plans of queries, [`forms`] what is known of the statements of functions that need no planner,
//! whose variables have got numbers ([`Numbered`]). Both hold for a catalog and for settings ([`Basis`]).

mod basis;
pub mod forms;
mod numbered;
pub mod plans;

pub use basis::Basis;
pub use numbered::Numbered;
