//! COMMENT ON DATABASE and COMMENT ON ROLE: who may make a comment.

use crate::access::{Access, must_own};
use crate::names::{BOOTSTRAP_SUPERUSER, DATABASE, unknown_role};
use store::catalog::{CatalogChange, Shared};
use values::error::{Error, Result, SqlState};

/// A comment on the database of a name; `None` if it is another one.
///
/// # Errors
/// 42501.
pub fn on_database(
    access: Access<'_>,
    name: &str,
    comment: Option<String>,
) -> Result<Option<CatalogChange>> {
    if name != DATABASE {
        return Ok(None);
    }
    if !access.is_superuser() {
        return Err(must_own("database", DATABASE));
    }
    Ok(Some(CatalogChange::PutComment { on: Shared::Database, comment }))
}

/// A comment on a role.
///
/// # Errors
/// 42704 if it does not exist; 42501.
pub fn on_role(access: Access<'_>, name: &str, comment: Option<String>) -> Result<CatalogChange> {
    let role = access.known(name);
    if role.is_none() && name != BOOTSTRAP_SUPERUSER {
        return Err(unknown_role(name));
    }
    let needed = match role.is_none_or(|role| role.superuser) {
        true if !access.is_superuser() => Some("must be superuser"),
        false if !access.makes_roles() => Some("must have CREATEROLE privilege"),
        _ => None,
    };
    match needed {
        Some(needed) => Err(Error::new(SqlState::InsufficientPrivilege, needed)),
        None => Ok(CatalogChange::PutComment { on: Shared::Role(name.to_owned()), comment }),
    }
}
