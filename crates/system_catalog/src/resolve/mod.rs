//! Which conversion, operator or function a statement means, by the types of its values (PostgreSQL's documentation,
//! chapter "Type Conversion").

mod candidates;
mod common;
mod functions;
mod operators;
mod pathway;
mod polymorphic;

pub use common::{Mixed, common_type};
pub use functions::{Arguments, Chosen, NoFunction, Signature, among, function};
pub use operators::{NoOperator, Operands, operator};
pub use pathway::{Path, can_coerce, pathway};
pub use polymorphic::Polymorphic;
