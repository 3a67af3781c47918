//! Script text: tokens, statements and commands.

pub(super) mod lexer;
pub(super) mod splitter;
