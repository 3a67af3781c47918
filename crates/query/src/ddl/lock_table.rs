//! LOCK TABLE. Queries read their snapshots, also of a table that is locked.

use crate::context::Frame;
use crate::dml::named_target;
use catalog_views::session_context::TransactionStatus;
use parser::commands::locking::LockTables;
use store::catalog::Privileges;
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy};
use values::error::{Error, Result, SqlState};

/// Runs a LOCK TABLE.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    lock: &LockTables,
) -> Result<()> {
    let conversation = &frame.session.conversation;
    if conversation.status() != TransactionStatus::Open || conversation.is_implicit() {
        let message = "LOCK TABLE can only be used in transaction blocks";
        return Err(Error::new(SqlState::NoActiveSqlTransaction, message));
    }
    let modes = &Mode::ALL[4..];
    let mode = modes.get(usize::from(lock.mode.saturating_sub(1))).copied();
    let mode = mode.unwrap_or(Mode::AccessExclusive);
    let policy = if lock.nowait { LockPolicy::Refuse } else { LockPolicy::Wait };
    for name in &lock.names {
        let needed =
            if mode == Mode::AccessShare { Privileges::SELECT } else { Privileges::UPDATE };
        let table = named_target(frame, transaction, name, needed)?;
        transaction.lock_table(&table, mode, policy).await?;
    }
    Ok(())
}
