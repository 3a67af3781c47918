//! PL/pgSQL over what runs statements: values with their types, and expressions that are planned once.

mod arrays;
mod assignment;
mod body;
mod call_form;
mod check;
mod composite;
mod current;
mod cursors;
mod done;
mod evaluation;
mod expressions;
mod fired;
mod function_value;
mod home;
mod host;
mod in_place;
mod known;
mod memory;
mod parts;
mod plain_query;
mod program;
mod purity;
mod reach;
mod repeated_texts;
mod results;
mod returned;
mod running;
mod scalar;
mod script;
mod shapes;
mod statements;
mod steady;
mod subquery;
mod texts;
pub mod trigger_rows;
mod value;
mod waiting;

pub use body::Prepared;
pub use call_form::{CallForm, called, signature};
pub use check::{check_block, check_function};
pub use cursors::{CursorMark, CursorOf, Cursors, Fetched, Held};
pub use done::Done;
pub use evaluation::Compiled;
pub use fired::{Fired, RowPair};
pub use function_value::{function_value, null, type_name};
pub use home::Home;
pub use host::StatementHost;
pub use memory::Memory;
pub use plain_query::{PlainQuery, may_be_plain};
pub use purity::{
    calls_any, changes_settings, is_of_settings, may_call, may_change, may_read, may_run_ahead,
    only_computes, reads_tables,
};
pub use reach::Reach;
pub use results::Results;
pub use running::{Around, Running, RunningQuery};
pub use scalar::{Callee, Caller, Scalar};
pub use statements::{Statements, termination};
pub use value::{Value, shown, written, written_id};
pub use waiting::{awaited, deep, task};
