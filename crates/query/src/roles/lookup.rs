//! Roles by name.

use catalog_views::names::unknown_role;
use std::sync::Arc;
use store::catalog::{Catalog, Role};
use values::error::Result;

/// The role of a name.
///
/// # Errors
/// 42704 if it does not exist.
pub(super) fn known<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Arc<Role>> {
    catalog.role(name).ok_or_else(|| unknown_role(name))
}
