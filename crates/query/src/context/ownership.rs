//! Ownership of objects.

use store::DistributedTransaction;
use store::catalog::{CatalogChange, Object, Privileges};
use values::error::Result;

/// Makes a role the owner of an object. An object without an owning role belongs to the built-in owner.
pub(crate) fn own(
    transaction: &mut DistributedTransaction,
    role: Option<&str>,
    object: Object,
) -> Result<()> {
    if let Some(role) = role {
        let (role, privileges) = (role.to_owned(), Privileges::ALL);
        transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    }
    Ok(())
}
