//! PL/pgSQL over what runs statements: values with their types, and expressions that are planned once.

mod evaluation;
mod host;
mod memory;
mod value;

pub use evaluation::Compiled;
pub use host::{Done, StatementHost, Statements};
pub use memory::Memory;
pub use value::Value;
