//! Statements about settings: SET, SHOW and RESET in [`statements`], ALTER SYSTEM in [`system`]. The settings that exist and
//! their values are in [`catalog_views::settings`].

mod statements;
pub(crate) mod system;

pub(crate) use statements::{show_fields, text_rows};
