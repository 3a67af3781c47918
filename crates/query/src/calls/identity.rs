//! SECURITY DEFINER and SET: whose privileges and which settings the body of a function has.

use crate::context::{Inner, Loan};
use catalog_views::access::owner;
use catalog_views::session_context::SessionContext;
use catalog_views::settings::Settings;
use std::sync::Arc;
use store::catalog::{Catalog, Function, Object};
use values::error::{Error, Result};

/// The settings of a function that a statement of this number calls, until they are dropped. `None` if they are the
/// caller's.
///
/// # Errors
/// A setting has a value that it cannot have; nobody owns the function; 57014.
pub(crate) fn identity<'a>(
    session: &'a Inner,
    statement: u64,
    catalog: &Catalog,
    function: &Function,
) -> Result<Option<Loan<'a>>> {
    if !procedural::changes_settings(function) {
        return Ok(None);
    }
    let mut settings = Settings::clone(&session.settings.load());
    for (name, value) in &function.settings {
        settings.set(name, &routines::setting_values(name, value))?;
    }
    let is_limited = session.context.role().is_some();
    let owner = owner(catalog, &Object::Relation(function.id));
    // A caller who may do everything stays who it is, if the owner may, too.
    let changes = is_limited || owner.is_some_and(|owner| !owner.superuser);
    if function.is_security_definer && changes {
        let login = Arc::clone(&settings.session_user);
        settings.role = match owner {
            Some(owner) => Some(Arc::new(owner.name.clone())),
            // The first user owns it, who may do everything.
            None if session.context.limited(login).is_none() => None,
            None => {
                return Err(Error::unsupported(
                    "a SECURITY DEFINER function that no user owns is not supported",
                ));
            }
        };
    }
    session.borrowed.lend(&session.settings, statement, settings).map(Some)
}
