//! Roles by name.

use std::sync::Arc;
use store::catalog::{Catalog, Role};
use values::error::{Error, Result, SqlState};

pub(super) fn undefined(name: &str) -> Error {
    Error::new(SqlState::UndefinedObject, format!("role \"{name}\" does not exist"))
}

pub(super) fn known<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Arc<Role>> {
    catalog.role(name).ok_or_else(|| undefined(name))
}
