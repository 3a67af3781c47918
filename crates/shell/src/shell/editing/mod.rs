//! The line editor of a conversation: several lines, history, completion, colours.

mod completion;
mod editor;
mod keywords;
mod names;

pub(super) use editor::{Editor, Typed};
pub(super) use names::Names;
