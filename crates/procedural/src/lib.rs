//! PL/pgSQL over what runs statements: values with their types, and expressions that are planned once.

mod evaluation;
mod host;
mod scalar;
mod value;

pub use evaluation::Compiled;
pub use host::{Done, StatementHost, Statements};
pub use scalar::Scalar;
pub use value::Value;
