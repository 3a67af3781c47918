//! LOCK TABLE. Queries read their snapshots, also of a table that is locked.

use crate::context::Frame;
use crate::dml::named_target;
use catalog_views::relation_names::{find_named, undefined};
use catalog_views::session_context::TransactionStatus;
use parser::commands::RelationName;
use parser::commands::locking::LockTables;
use std::sync::Arc;
use store::catalog::{Privileges, Relation, Table};
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy};
use values::error::{Error, Result, SqlState};

/// The privileges to change rows.
const CHANGES: &[Privileges] =
    &[Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE, Privileges::TRUNCATE];

/// Runs a LOCK TABLE.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    lock: &LockTables,
) -> Result<()> {
    let conversation = &frame.session.conversation;
    let is_alone = conversation.status() != TransactionStatus::Open || conversation.is_implicit();
    if is_alone && !frame.is_of_function {
        let message = "LOCK TABLE can only be used in transaction blocks";
        return Err(Error::new(SqlState::NoActiveSqlTransaction, message));
    }
    let modes = &Mode::ALL[4..];
    let mode = modes.get(usize::from(lock.mode.saturating_sub(1))).copied();
    let mode = mode.unwrap_or(Mode::AccessExclusive);
    let policy = if lock.nowait { LockPolicy::Refuse } else { LockPolicy::Wait };
    for name in &lock.names {
        let table = target(frame, transaction, name, mode)?;
        transaction.lock_table(&table, mode, policy).await?;
    }
    Ok(())
}

/// The table to lock. A role needs one of the privileges for what the mode is for.
fn target(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    name: &RelationName,
    mode: Mode,
) -> Result<Arc<Table>> {
    let relation = find_named(transaction.catalog(), frame.path(), name)?;
    match relation {
        Some(Relation::View(view)) => {
            let message = format!("LOCK TABLE of the view \"{}\" is not supported", view.name);
            return Err(Error::unsupported(message).with_hint("Lock the tables that it reads."));
        }
        Some(other) if other.kind() != "table" => {
            let message = format!("cannot lock relation \"{}\"", other.name());
            let detail = format!("This operation is not supported for {}s.", other.kind());
            return Err(Error::new(SqlState::WrongObjectType, message).with_detail(detail));
        }
        _ => {}
    }
    let choices: &[Privileges] = match mode {
        Mode::AccessShare => &[Privileges::SELECT],
        Mode::RowExclusive => CHANGES,
        _ => &CHANGES[1..],
    };
    let tried = choices.iter().map(|needed| named_target(frame, transaction, name, *needed));
    tried.reduce(Result::or).unwrap_or_else(|| Err(undefined(name)))
}
