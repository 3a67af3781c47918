//! UPDATE and DELETE of functions with a plan of before ([`plan_cache::plans`]).
//!
//! A plan is kept if it is of few rows of one table on this server, and has nothing but tables and values in it. Privileges
//! and targets were checked when it was made: it holds for its catalog and settings.

use super::delete::Delete;
use super::triggered::Firings;
use super::update::Update;
use super::writer::Writer;
use crate::analysis::changes::{self, Planned, PlannedAction};
use crate::analysis::{ChangeTarget, targets};
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::row_locks;
use crate::triggers::Firing;
use analyzer::tree::Main;
use grammar::tree::NodeEnum;
use plan_cache::Basis;
use plan_cache::plans::{KeptPlan, Known, Query};
use scan::parameters::Parameters;
use scan::renewal::{Emptied, emptied, renewed};
use std::sync::Arc;
use store::catalog::{TableId, TriggerEvent};
use store::{DistributedTransaction, Reading};
use table_rows::Constraints;
use values::error::Result;

/// What a kept plan changes.
struct Change {
    table: TableId,
    /// The columns that an UPDATE assigns, and what new rows must fulfil; `None` of DELETE.
    update: Option<(Vec<usize>, Arc<Constraints>)>,
}

/// Runs the statement of a frame with a plan of before, or plans it to be executed again. `None` if it has to be planned for
/// this time.
///
/// # Errors
/// Those of the change. The transaction may then contain part of it.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    node: &NodeEnum,
) -> Result<Option<Outcome>> {
    let session = frame.session;
    let is_kept = frame.is_of_function
        && matches!(node, NodeEnum::UpdateStmt(_) | NodeEnum::DeleteStmt(_))
        && frame.transitions.is_empty()
        && session.shared.store.peers().is_none()
        && !session.borrowed.is_lent()
        && !frame.statement.is_some_and(row_locks::are_in);
    if !is_kept {
        return Ok(None);
    }
    let reading = transaction.reading();
    let basis = Basis::new(reading.catalog(), &frame.settings);
    let given = (frame.parameters, frame.names);
    let Some(query) = Query::of(frame.text, given, frame.parameter_types(), basis) else {
        return Ok(None);
    };
    let plan = match session.plans.take(&query, frame.parameters) {
        Known::Kept(plan) => Some(plan),
        // What cannot be planned is planned again, for its error.
        Known::Repeated => planned(frame, &reading, node).await.unwrap_or_default(),
        Known::New => {
            session.plans.keep(query, Known::Repeated);
            return Ok(None);
        }
        Known::Refused | Known::Computed(_) => return Ok(None),
    };
    let Some(plan) = plan else {
        session.plans.keep(query, Known::Refused);
        return Ok(None);
    };
    plan.parameters.set(frame.parameters);
    let outcome = execute(frame, transaction, &reading, &plan).await;
    if !matches!(outcome, Ok(None)) {
        session.plans.keep(query, Known::Kept(plan));
    }
    outcome
}

/// Plans a change to be executed again. `None` if it has to be planned each time.
async fn planned(
    frame: &Frame<'_>,
    reading: &Reading,
    node: &NodeEnum,
) -> Result<Option<Box<KeptPlan>>> {
    let mut planner = frame.planner(reading);
    planner.parameters = &[];
    planner.shown = targets::shown(reading.catalog(), node);
    let statement = changes::bind(frame, &planner, node).await?;
    let Main::Change(change) = &statement.tree.main else { return Ok(None) };
    if !statement.tree.changes.is_empty() {
        return Ok(None);
    }
    let planned = statement.planned(change, &[], false)?;
    let Planned { target: ChangeTarget::Table(view), rows, action, returning, checks } = planned
    else {
        return Ok(None);
    };
    let update = match action {
        PlannedAction::Update { targets, joins: false } => {
            let constraints = Constraints::new(&planner, view.table())?;
            if !constraints.is_lasting() {
                return Ok(None);
            }
            Some((super::update::assigned(view.table(), &targets)?, Arc::new(constraints)))
        }
        PlannedAction::Delete { joins: false } => None,
        _ => return Ok(None),
    };
    if returning.is_some() || checks.is_some() {
        return Ok(None);
    }
    let parameters = Parameters::new(frame.parameters);
    let Some(physical) = planner.reusable(&rows, &parameters, true).await? else {
        return Ok(None);
    };
    let Some(emptied) = emptied(&physical)?.filter(Emptied::is_small) else { return Ok(None) };
    let (fields, task) = (Arc::from([]), frame.engine().task_ctx());
    let change = Some(Arc::new(Change { table: view.table().id, update }) as _);
    Ok(Some(Box::new(KeptPlan { emptied, parameters, fields, task, has_joins: false, change })))
}

/// Executes a change. `None` if it has to be planned for its values.
async fn execute(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    reading: &Reading,
    plan: &KeptPlan,
) -> Result<Option<Outcome>> {
    let change = plan.change.as_ref().and_then(|change| change.downcast_ref::<Change>());
    let view = change.and_then(|change| reading.table(change.table));
    let (Some(Change { update, .. }), Some(view)) = (change, view) else { return Ok(None) };
    let Some(query) = renewed(&plan.emptied, reading, plan.task.session_config())? else {
        return Ok(None);
    };
    let task = Some(Arc::clone(&plan.task));
    let firing =
        |event, assigned: &[usize]| Firing::of(reading.catalog(), view.table(), event, assigned);
    let (mut writer, mut firings) = (Writer::new(transaction, false), Firings::default());
    let (command, count) = match update {
        Some((targets, constraints)) => {
            firings.update = firing(TriggerEvent::Update, targets);
            firings.before(frame, &mut writer).await?;
            let given = (targets.clone(), Arc::clone(constraints));
            let update = Update::again(view, (query, task), given);
            let done = update.run(frame, &mut writer, (false, &mut firings.update)).await?;
            ("UPDATE", done.count)
        }
        None => {
            firings.delete = firing(TriggerEvent::Delete, &[]);
            firings.before(frame, &mut writer).await?;
            let delete = Delete { view, query, task, joins: false, is_watched: false };
            let done = delete.run(frame, &mut writer, (false, &mut firings.delete)).await?;
            ("DELETE", done.count)
        }
    };
    firings.after(frame);
    Ok(Some(Outcome::Done(Tag::counted(command, count))))
}
