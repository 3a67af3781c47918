//! Constraint triggers that wait for the end of their transaction, or for SET CONSTRAINTS.

use crate::context::Frame;
use crate::context::triggered::{Asked, TriggerCall, TriggerMemory, WaitingTrigger};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::DistributedTransaction;
use values::error::Result;

/// What is due at the end of a transaction: fires the triggers that wait, in the order of their events, and those that wait
/// because of them, and checks constraints.
///
/// # Errors
/// Those of functions and of constraints.
pub(crate) async fn settle_all(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<()> {
    fire_all(frame, transaction).await?;
    integrity::settle_all(frame, transaction).await
}

/// Fires the triggers that wait, in the order of their events, and those that wait because of them.
///
/// # Errors
/// Those of functions.
pub(crate) async fn fire_all(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<()> {
    let held = &frame.session.context.held;
    while !held.nothing_waits() {
        fire(frame, transaction, held.take(|_| false)).await?;
    }
    Ok(())
}

/// Fires the triggers that waited and are not deferred any more.
///
/// # Errors
/// Those of functions.
pub(crate) async fn fire_due(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<()> {
    let changes = transaction.row_changes();
    let due = frame.session.context.held.take(|waiting| {
        let WaitingTrigger { trigger, table, .. } = waiting;
        trigger.constraint.is_some_and(|timing| changes.waits(table.id, &trigger.name, timing))
    });
    fire(frame, transaction, due).await
}

async fn fire(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    triggers: Vec<WaitingTrigger>,
) -> Result<()> {
    let mut known: BTreeMap<_, TriggerMemory> = BTreeMap::new();
    for WaitingTrigger { trigger, table, operation, old, new } in triggers {
        let mut all = transaction.catalog().triggers_of(table.id).iter();
        if !all.any(|other| other.id == trigger.id && other.is_enabled()) {
            continue;
        }
        let call = TriggerCall {
            trigger: &trigger,
            table: &table,
            operation,
            old,
            new,
            transitions: Arc::from([]),
            asked: Asked::Function,
            depth: frame.depth,
            memory: known.entry(trigger.id).or_default(),
        };
        (frame.session.run_trigger)(frame.session, transaction, call).await?;
        tokio::task::consume_budget().await;
    }
    Ok(())
}
