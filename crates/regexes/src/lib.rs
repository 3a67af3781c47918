//! PostgreSQL's regular expressions and patterns of SIMILAR TO.
//!
//! PostgreSQL's syntax (`syntax`) becomes a tree, and the tree the syntax of the crate `regex` (`translate`). Back
//! references and lookaround, which that crate does not know, are matched by backtracking (`backtrack`), with a
//! limit. Of the matches at the first place PostgreSQL takes the longest, `regex` the one that its alternatives prefer:
//! `pattern` makes up for it.
//!
//! Not here: the functions and operators that statements call (`functions`).

mod backtrack;
mod flags;
mod pattern;
mod replacement;
mod similar;
mod syntax;
mod translate;

pub use backtrack::Spans;
pub use flags::Flags;
pub use pattern::Pattern;
pub use replacement::Replacement;
pub use similar::to_regular;
