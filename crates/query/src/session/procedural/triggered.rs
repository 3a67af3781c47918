//! Functions of triggers, in the transaction of the statement that fires them.

use super::in_transaction::InTransaction;
use crate::calls::identity;
use crate::context::Inner;
use crate::context::call_site::{DEPTH_MAX, STATEMENT_DEPTH};
use crate::context::triggered::{Asked, RowValues, TriggerAnswer, TriggerCall};
use futures::FutureExt;
use futures::future::BoxFuture;
use plpgsql::tree::Block;
use plpgsql::{TriggerRow, Triggered};
use procedural::trigger_rows::{NEW, OLD, written_out_in_function};
use procedural::{Fired, RowPair, StatementHost, deep};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Function;
use values::error::{Error, Result, SqlState};

/// Runs the function of a trigger.
pub(crate) fn run_trigger<'a>(
    inner: &'a Inner,
    transaction: &'a mut DistributedTransaction,
    call: TriggerCall<'a>,
) -> BoxFuture<'a, Result<TriggerAnswer>> {
    deep(run(inner, transaction, call).boxed())
}

async fn run(
    inner: &Inner,
    transaction: &mut DistributedTransaction,
    call: TriggerCall<'_>,
) -> Result<TriggerAnswer> {
    if call.depth >= DEPTH_MAX {
        return Err(Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded"));
    }
    let gone = || Error::new(SqlState::UndefinedFunction, "the function of a trigger is gone");
    let function = transaction.catalog().function_by_id(call.trigger.function);
    let function = Arc::clone(function.ok_or_else(gone)?);
    let (catalog, settings) = (Arc::clone(transaction.catalog()), inner.settings.load_full());
    let id = call.trigger.id;
    // Settings of a call are not those of the next one.
    let is_kept = !inner.borrowed.is_lent();
    let _identity = identity(inner, inner.borrowed.statement(), &catalog, &function)?;
    if is_kept {
        *call.memory = inner.functions.trigger(&catalog, &settings, id);
    }
    let memory = std::mem::take(&mut call.memory.texts);
    let (operation, known) = (call.operation, call.memory.fired.take());
    let fired = match known.filter(|(of, _)| *of == operation) {
        Some((_, fired)) => fired,
        None => Arc::new(Fired::of(call.trigger, call.table, operation, &function.body)),
    };
    call.memory.fired = Some((operation, Arc::clone(&fired)));
    let transitions = Arc::clone(&call.transitions);
    let depth = call.depth + 1 + STATEMENT_DEPTH;
    let inside = InTransaction { inner, transaction, transitions, depth };
    let mut host = StatementHost::resume(inside, memory);
    let answer = answer(&mut host, &function, &call, &fired).await;
    call.memory.texts = host.into_memory();
    let (answer, tree) = answer?;
    call.memory.function = tree;
    if is_kept {
        inner.functions.keep_trigger(&catalog, &settings, id, std::mem::take(call.memory));
    }
    Ok(answer)
}

type Answer = (TriggerAnswer, Option<Arc<Block>>);

async fn answer(
    host: &mut StatementHost<InTransaction<'_>>,
    function: &Function,
    call: &TriggerCall<'_>,
    fired: &Fired,
) -> Result<Answer> {
    let known = call.memory.function.clone();
    let rows = RowPair { old: call.old.as_deref(), new: call.new.as_deref() };
    if call.asked != Asked::Function && !fired.holds(host, rows).await? {
        return Ok((TriggerAnswer::NotCalled, known));
    }
    if call.asked == Asked::Condition {
        return Ok((TriggerAnswer::Holds, known));
    }
    let tree = match known {
        Some(tree) => tree,
        None => {
            let source = plpgsql::with_usual_subscripts(&function.body);
            let source = written_out_in_function(call.table, &source);
            Arc::new(plpgsql::parse(&source).map_err(Error::without_position)?)
        }
    };
    // A table of changed rows may have the name of a row that a statement has not.
    let is_table = |name: &str| call.transitions.iter().any(|(known, _)| known == name);
    let row = |name: &str, values: &Option<RowValues>| TriggerRow {
        fields: (!is_table(name)).then(|| fired.row(values.as_ref())),
        is_absent: values.is_none(),
    };
    let (new, old) = (row(NEW, &call.new), row(OLD, &call.old));
    let (variables, row_type) = (fired.variables(), fired.row_type());
    let triggered = Triggered { variables, new, old, row_type };
    let inner = host.statements_mut().inner;
    let _around = inner.context.held.running.trigger(call.table.id);
    let signature = procedural::signature(function);
    let of = procedural::called(function, &signature);
    let returned = plpgsql::run_trigger(&tree, of, triggered, host).await?;
    Ok((TriggerAnswer::Row(returned), Some(tree)))
}
