//! SET ROLE and SET SESSION AUTHORIZATION: statements have the rights of another role from now on.
//!
//! Who that is is a setting as others are: it follows the transaction, and may be for it alone.

use super::lookup::known;
use crate::session::Inner;
use crate::session::transactions::Conversation;
use catalog_views::access::Access;
use catalog_views::session_context::SessionContext;
use catalog_views::settings::Settings;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

impl Inner {
    /// Takes on a role's rights, or one's own again.
    ///
    /// # Errors
    /// 22023 where there is no such role, 42501 where the session's user is no member of it.
    pub(crate) fn set_role(
        &self,
        conversation: &mut Conversation,
        local: bool,
        role: Option<String>,
    ) -> Result<()> {
        let role = role.map(Arc::new);
        if let Some(role) = &role {
            let own = self.context.limited(self.context.session_user());
            let allowed = |access: Access<'_>| access.is_superuser() || access.is_in(role);
            let denied = "permission denied to set role";
            self.may_become(conversation, own, role, denied, allowed)?;
        }
        let change = |settings: &mut Settings| {
            settings.role.clone_from(&role);
            Ok(())
        };
        self.change(conversation, local, change)
    }

    /// Becomes another user, or oneself again.
    ///
    /// # Errors
    /// 22023 where there is no such role, 42501 for others than superusers.
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
            self.may_become(conversation, own, &user, denied, allowed)?;
        }
        let change = |settings: &mut Settings| {
            (settings.session_user, settings.role) = (Arc::clone(&user), None);
            Ok(())
        };
        self.change(conversation, local, change)
    }

    fn may_become(
        &self,
        conversation: &mut Conversation,
        own: Option<Arc<String>>,
        role: &str,
        denied: &str,
        allowed: impl Fn(Access<'_>) -> bool,
    ) -> Result<()> {
        let catalog = match conversation.open() {
            Some(open) => Arc::clone(open.transaction.catalog()),
            None => self.shared.store.catalog(),
        };
        known(&catalog, role)
            .map_err(|error| Error::new(SqlState::InvalidParameterValue, error.message()))?;
        match allowed(Access::new(&catalog, own.as_deref().map(String::as_str))) {
            true => Ok(()),
            false => {
                let message = format!("{denied} \"{role}\"");
                Err(Error::new(SqlState::InsufficientPrivilege, message))
            }
        }
    }
}
