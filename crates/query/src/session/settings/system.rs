//! ALTER SYSTEM: settings that are the same on all servers of a cluster. The root keeps them.

use crate::context::Inner;
use crate::context::outcome::{Outcome, Tag};
use crate::context::transactions::Conversation;
use catalog_views::access::Access;
use catalog_views::session_context::SessionContext;
use catalog_views::settings::cluster::{BYTES_PER_SECOND, MOVES};
use catalog_views::settings::{known, unknown};
use parser::commands::AlterSystem;
use std::num::NonZeroU64;
use std::sync::Arc;
use store::MoveSetting;
use values::error::{Error, Result, SqlState};

/// The lowest limit, in bytes per second. Below it the destination of a move would time out waiting for a piece.
const LIMIT_MIN: u64 = 64 << 10;

/// The change of a cluster setting that a statement makes.
fn change(statement: &AlterSystem) -> Result<MoveSetting> {
    let Some(known) = known::find(&statement.name) else { return Err(unknown(&statement.name)) };
    let value = statement.value.as_deref().unwrap_or(known.default);
    let refused = |hint: &str| {
        let message = format!("invalid value for parameter \"{}\": \"{value}\"", statement.name);
        Error::new(SqlState::InvalidParameterValue, message).with_hint(hint)
    };
    match known.name {
        MOVES => match value.to_lowercase().as_str() {
            "running" => Ok(MoveSetting::IsPaused(false)),
            "paused" => Ok(MoveSetting::IsPaused(true)),
            _ => Err(refused("Available values: running, paused.")),
        },
        BYTES_PER_SECOND => match crate::bytes_of(value) {
            Some(limit) if limit == 0 || limit >= LIMIT_MIN => {
                Ok(MoveSetting::BytesPerSecond(NonZeroU64::new(limit)))
            }
            _ => Err(refused("Write it like 50MB, at least 64KiB; 0 is no limit.")),
        },
        name => {
            let message = format!("parameter \"{name}\" is not one of the whole cluster");
            let hint = "SET changes it for a session; pando serve --help lists a server's.";
            Err(Error::unsupported(message).with_hint(hint))
        }
    }
}

impl Inner {
    /// Changes a setting on all servers.
    pub(crate) async fn alter_system(
        &self,
        conversation: &mut Conversation,
        statement: &AlterSystem,
    ) -> Result<Outcome> {
        if conversation.open().is_some() && !conversation.is_implicit() {
            let message = "ALTER SYSTEM cannot run inside a transaction block";
            return Err(Error::new(SqlState::ActiveSqlTransaction, message));
        }
        let store = &self.shared.store;
        let (catalog, role) = (store.catalog(), self.context.role());
        if !Access::new(&catalog, role.as_deref().map(String::as_str)).is_superuser() {
            let message = format!("permission denied to set parameter \"{}\"", statement.name);
            return Err(Error::new(SqlState::InsufficientPrivilege, message));
        }
        let change = change(statement)?;
        let peers = Arc::clone(store.peers().ok_or_else(catalog_views::not_in_cluster)?);
        let changed = tokio::task::spawn_blocking(move || peers.change_moves(change)).await;
        changed.map_err(|_| Error::new(SqlState::InternalError, "the server stops"))??;
        Ok(Outcome::Done(Tag::plain("ALTER SYSTEM")))
    }
}
