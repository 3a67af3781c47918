//! What a session can have its own way: the values of its settings. What there is to set is in [`known`], the
//! statements are in [`statements`], how long a value stays in [`scopes`], and what is the same on all servers in [`system`].

mod statements;
pub(crate) mod system;

pub(crate) use statements::{show_fields, text_rows};
