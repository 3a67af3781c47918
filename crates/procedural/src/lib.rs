//! PL/pgSQL over what runs statements: values with their types, and expressions that are planned once.

mod arrays;
mod assignment;
mod body;
mod check;
mod composite;
mod current;
mod cursors;
mod evaluation;
mod expressions;
mod home;
mod host;
mod known;
mod memory;
mod program;
mod purity;
mod returned;
mod running;
mod scalar;
mod script;
mod steady;
mod subquery;
mod texts;
mod value;
mod waiting;

pub use body::{Prepared, changes_settings, signature};
pub use check::check_function;
pub use cursors::{CursorMark, CursorOf, Cursors, Fetched, Held};
pub use evaluation::Compiled;
pub use home::Home;
pub use host::{Done, StatementHost, Statements, termination};
pub use memory::Memory;
pub use purity::{calls_any, is_of_settings, may_change, may_read, only_computes, reads_tables};
pub use running::{Around, Running, RunningQuery};
pub use scalar::Scalar;
pub use value::{Value, shown, written, written_id};
pub use waiting::{awaited, task};
