//! PostgreSQL's regular expressions and patterns of SIMILAR TO.
//!
//! PostgreSQL's syntax (`syntax`) becomes a tree, and the tree the syntax of the crate `regex` (`translate`). Of the
//! matches at the first place PostgreSQL takes the longest, `regex` the one that its alternatives prefer: `pattern` makes
//! up for it. What the groups of a match are is decided afterwards, by taking it apart (`dissect`) into pieces (`pieces`)
//! by where each of them may end (`ends`). So are back references and lookaround matched, which `regex` does not know,
//! with a limit.
//!
//! Not here: the functions and operators that statements call (`functions`).

mod dissect;
mod ends;
mod escapes;
mod flags;
mod pattern;
mod pieces;
mod replacement;
mod similar;
mod syntax;
mod translate;

pub use dissect::Spans;
pub use flags::Flags;
pub use pattern::Pattern;
pub use replacement::Replacement;
pub use similar::to_regular;
