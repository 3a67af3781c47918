//! Roles by name.

use std::sync::Arc;
use store::catalog::{Catalog, Role};
use values::error::{Error, Result, SqlState};

/// The error 42704 for a role that does not exist.
pub(super) fn undefined(name: &str) -> Error {
    Error::new(SqlState::UndefinedObject, format!("role \"{name}\" does not exist"))
}

/// The role of a name.
///
/// # Errors
/// 42704 if it does not exist.
pub(super) fn known<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Arc<Role>> {
    catalog.role(name).ok_or_else(|| undefined(name))
}
