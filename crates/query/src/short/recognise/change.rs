//! UPDATE and DELETE.

use super::locked::locked;
use super::{indexes_of, only_table, returning_of};
use crate::context::Frame;
use crate::dml::constants::column_of;
use crate::dml::declared_column;
use crate::short::chosen::Chosen;
use crate::short::row_update::RowUpdate;
use crate::short::{Action, Short, operation};
use grammar::tree::{DeleteStmt, Node, NodeEnum, UpdateStmt};
use keyed::{Operand, Read, point_of};
use planner::inputs::Inputs;
use scan::shipping::Shipping;
use scan::tables::Tables;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Privileges, Table};
use table_rows::{Constraints, expressions};
use values::error::Result;

/// What an UPDATE sets: columns to operands, and columns to other expressions.
type Assigned<'a> = (Vec<(usize, Operand)>, Vec<(usize, &'a NodeEnum)>);

/// The assignments of an UPDATE; `None` if one is not for the short path.
fn assigned<'a>(table: &Table, targets: &'a [Node]) -> Option<Assigned<'a>> {
    let (mut given, mut computed) = (Vec::<(usize, Operand)>::new(), Vec::new());
    for target in targets {
        let (name, value) = (column_of(target)?, value_of(target)?);
        let column = declared_column(table, name).ok()?;
        let definition = &table.columns[column];
        let is_set = given.iter().any(|(set, _)| *set == column)
            || computed.iter().any(|(set, _)| *set == column);
        if is_set
            || table.key.contains(&definition.id)
            || definition.identity.is_some()
            || definition.generated.is_some()
        {
            return None;
        }
        match Operand::of(value) {
            Some(operand) => given.push((column, operand)),
            None => computed.push((column, value)),
        }
    }
    Some((given, computed))
}

fn value_of(target: &Node) -> Option<&NodeEnum> {
    match &target.node {
        Some(NodeEnum::ResTarget(target)) => target.val.as_deref()?.node.as_ref(),
        _ => None,
    }
}

pub(super) fn update(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    update: &UpdateStmt,
) -> Result<Option<Short>> {
    let is_more = !update.from_clause.is_empty() || update.with_clause.is_some();
    let (Some(range), false) = (&update.relation, is_more) else { return Ok(None) };
    let needed = Privileges::UPDATE.union(Privileges::SELECT);
    let Some((table, alias)) = only_table(frame, tables, range, needed) else { return Ok(None) };
    let condition = update.where_clause.as_deref();
    let Some(chosen) = chosen(frame, tables, (&table, alias), condition) else { return Ok(None) };
    let Some(returning) = returning_of(&table, alias, update.returning_clause.as_ref()) else {
        return Ok(None);
    };
    let Some((set, values)) = assigned(&table, &update.target_list) else { return Ok(None) };
    let targets = set.iter().map(|(at, _)| *at).chain(values.iter().map(|(at, _)| *at));
    let targets: Vec<usize> = targets.collect();
    let catalog = tables.catalog();
    let is_watched = DistributedTransaction::watches(catalog, table.id, &targets);
    // Its own foreign keys only look other rows up. Those of other tables may change rows.
    let may_act = DistributedTransaction::watches_deletion(catalog, table.id);
    if is_watched && (may_act || catalog.has_deferrable(table.id)) {
        return Ok(None);
    }
    let planner = frame.planner(tables);
    let (given, operands): (Vec<_>, Vec<_>) = set.into_iter().unzip();
    let (mut inputs, mut computed) = (Inputs::with_moment(), Vec::new());
    let mut of_expressions = Vec::new();
    if !values.is_empty() {
        // Columns are called by the table's own name here.
        let row = match alias {
            None => expressions::plan_assigned(&planner, &table, &values, true),
            Some(_) => None,
        };
        let Some(row) = row else { return Ok(None) };
        of_expressions = row.parameters;
        for ((column, _), value) in values.iter().zip(row.exprs) {
            match planner.physical_with_inputs(value, &row.schema, &mut inputs)? {
                Some(physical) => computed.push((*column, physical)),
                None => return Ok(None),
            }
        }
    }
    let constraints = Constraints::new(&planner, &table)?;
    if !constraints.is_lasting() || frame.site.needs_driver() {
        return Ok(None);
    }
    let row = RowUpdate { table: Arc::clone(&table), given, inputs, computed, constraints };
    let form = match frame.session.shared.store.peers() {
        Some(_) if is_portable(frame, &row)? => operation::form_of(&row)?,
        _ => None,
    };
    let (given, update) = (operands, Arc::new(row));
    let action = Action::Update { chosen, given, update, of_expressions, form };
    Ok(Some(Short { table, action, returning, is_watched, computed: None }))
}

/// The rows of the condition of a change; `None` if that is not for the short path.
fn chosen(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    (table, alias): (&Arc<Table>, Option<&str>),
    condition: Option<&Node>,
) -> Option<Chosen> {
    let condition = condition?.node.as_ref()?;
    if let (Some(key), None) = (point_of(table, Some(condition)), alias) {
        return Some(Chosen::Key(key));
    }
    if frame.session.shared.store.peers().is_some() {
        return None;
    }
    let called = alias.unwrap_or(&table.name);
    if let Some(locked) = locked(frame, tables, (table, called), condition) {
        return Some(Chosen::Locked(Box::new(locked)));
    }
    Read::of_rows((table, indexes_of(tables, table)), alias, condition)
        .map(|read| Chosen::Found(Box::new(read)))
}

/// Whether all expressions of an UPDATE have the same meaning on every server.
fn is_portable(frame: &Frame<'_>, update: &RowUpdate) -> Result<bool> {
    let shipping = Shipping::of(frame.engine().config())?;
    let values = update.computed.iter().map(|(_, value)| value);
    let of_table = update.constraints.expressions();
    Ok(values.chain(&of_table).all(|expression| shipping.portable.expression(expression)))
}

pub(super) fn delete(frame: &Frame<'_>, tables: &dyn Tables, delete: &DeleteStmt) -> Option<Short> {
    let is_more = !delete.using_clause.is_empty() || delete.with_clause.is_some();
    let range = delete.relation.as_ref().filter(|_| !is_more)?;
    let needed = Privileges::DELETE.union(Privileges::SELECT);
    let (table, alias) = only_table(frame, tables, range, needed)?;
    if DistributedTransaction::watches_deletion(tables.catalog(), table.id) {
        return None;
    }
    let chosen = chosen(frame, tables, (&table, alias), delete.where_clause.as_deref())?;
    let returning = returning_of(&table, alias, delete.returning_clause.as_ref())?;
    let action = Action::Delete(chosen);
    Some(Short { table, action, returning, is_watched: false, computed: None })
}
