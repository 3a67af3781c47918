//! SECURITY DEFINER and SET: whose privileges and which settings the body of a function has.

use crate::context::Inner;
use catalog_views::access::owner;
use catalog_views::session_context::SessionContext;
use catalog_views::settings::Settings;
use std::sync::Arc;
use store::catalog::{Catalog, Function, Object};
use values::error::{Error, Result};

/// The settings of a session, changed for a function until it is dropped.
pub(crate) struct Identity<'a> {
    session: &'a Inner,
    before: Arc<Settings>,
}

impl<'a> Identity<'a> {
    /// That of a function. `None` if it is the caller's.
    ///
    /// # Errors
    /// A setting has a value that it cannot have.
    pub(crate) fn of(
        session: &'a Inner,
        catalog: &Catalog,
        function: &Function,
    ) -> Result<Option<Self>> {
        if !procedural::changes_settings(function) {
            return Ok(None);
        }
        let before = session.settings.load_full();
        let mut settings = Settings::clone(&before);
        for (name, value) in &function.settings {
            settings.set(name, &routines::setting_values(name, value))?;
        }
        if function.is_security_definer && session.context.role().is_some() {
            let login = Arc::clone(&settings.session_user);
            settings.role = match owner(catalog, &Object::Relation(function.id)) {
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
        session.settings.store(Arc::new(settings));
        Ok(Some(Self { session, before }))
    }
}

impl Drop for Identity<'_> {
    fn drop(&mut self) {
        self.session.settings.store(Arc::clone(&self.before));
    }
}
