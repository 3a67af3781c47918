//! Functions of users: their definitions from statements, their signatures for the analyzer, and their texts.
//!
//! Not here: what their bodies mean (`analyzer`), and who may define and drop them (`query`).

mod aggregate;
mod define;
mod find;
pub mod letters;
mod replace;
mod signature;
mod text;
mod types;

pub use aggregate::{NewAggregate, define_aggregate};
pub use define::{NewFunction, apply, define, is_foreign, type_of};
pub use find::{absent, find, missing, of_system, takes};
pub use replace::refuse_change;
pub use signature::{aggregate, columns, routine};
pub use text::{
    Names, arguments, definition, identity_arguments, result, setting_values, signature, sql_body,
};
pub use types::{
    kept, known_name, known_type, mentions, mentions_rows, of_client, resolved, variadic_item,
};
