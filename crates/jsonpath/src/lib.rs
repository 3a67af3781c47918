//! JSON paths, as PostgreSQL has them: `$.tags[*] ? (@ like_regex "^a")`.
//!
//! [`Path`] is a parsed path, [`Evaluation`] its values in a document. Documents and items are the text of `jsonb` values
//! (`values::json`); no tree of them is built.
//!
//! Not here: SQL's functions and operators on paths (`functions`); the methods `datetime` and `keyvalue`, which are refused.

mod conditions;
mod evaluation;
mod numbers;
mod parse;
mod path;
mod scan;

pub use evaluation::{Evaluation, Stop};
pub use path::Path;
