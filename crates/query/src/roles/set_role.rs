//! SET ROLE and SET SESSION AUTHORIZATION.
//!
//! The role and the session user are settings: a rollback restores them, and SET LOCAL sets them
//! for one transaction.

use super::lookup::known;
use crate::context::Inner;
use crate::context::transactions::Conversation;
use catalog_views::access::Access;
use catalog_views::session_context::SessionContext;
use catalog_views::settings::Settings;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

impl Inner {
    /// Runs a SET ROLE. `None` resets the role to the session user, who is always allowed, even in a database without roles.
    ///
    /// # Errors
    /// 22023 if the role does not exist; 42501 if the session user is not a member of it.
    pub(crate) fn set_role(
        &self,
        conversation: &mut Conversation,
        local: bool,
        role: Option<String>,
    ) -> Result<()> {
        let role = role.map(Arc::new);
        let user = self.context.session_user();
        if let Some(role) = role.as_ref().filter(|role| **role != user) {
            let own = self.context.limited(user);
            let allowed = |access: Access<'_>| access.is_superuser() || access.is_in(role);
            let denied = "permission denied to set role";
            self.check_role(conversation, own, role, denied, allowed)?;
        }
        let change = |settings: &mut Settings| {
            settings.role.clone_from(&role);
            Ok(())
        };
        self.change(conversation, local, change)
    }

    /// Runs a SET SESSION AUTHORIZATION. `None` resets the session user to the user that logged in.
    ///
    /// # Errors
    /// 22023 if the role does not exist; 42501 if the user that logged in is not a superuser.
    pub(crate) fn set_session_user(
        &self,
        conversation: &mut Conversation,
        local: bool,
        user: Option<String>,
    ) -> Result<()> {
        let login = self.context.login_user.load_full();
        let user = user.map_or_else(|| Arc::clone(&login), Arc::new);
        if *user != *login {
            let own = self.context.limited(login);
            let denied = "permission denied to set session authorization";
            let allowed = |access: Access<'_>| access.is_superuser();
            self.check_role(conversation, own, &user, denied, allowed)?;
        }
        let change = |settings: &mut Settings| {
            (settings.session_user, settings.role) = (Arc::clone(&user), None);
            Ok(())
        };
        self.change(conversation, local, change)
    }

    /// Checks that a role exists and that `allowed` holds for the rights of `own`. `denied` is the
    /// beginning of the error message.
    fn check_role(
        &self,
        conversation: &mut Conversation,
        own: Option<Arc<String>>,
        role: &str,
        denied: &str,
        allowed: impl Fn(Access<'_>) -> bool,
    ) -> Result<()> {
        let catalog = conversation.catalog(&self.shared.store);
        known(&catalog, role)
            .map_err(|error| Error::new(SqlState::InvalidParameterValue, error.message()))?;
        if allowed(Access::new(&catalog, own.as_deref().map(String::as_str))) {
            return Ok(());
        }
        Err(Error::new(SqlState::InsufficientPrivilege, format!("{denied} \"{role}\"")))
    }
}
