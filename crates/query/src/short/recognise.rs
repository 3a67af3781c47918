//! Recognition of statements for the short path.

use super::row_update::RowUpdate;
use super::{Action, Short, operation};
use crate::context::Frame;
use crate::dml::constants::{column_of, rows_of, values_of};
use crate::dml::{declared_column, name_of};
use catalog_views::relation_names::find_named;
use grammar::tree::{DeleteStmt, InsertStmt, Node, NodeEnum, RangeVar, SelectStmt, UpdateStmt};
use keyed::{Operand, Read, is_plain, point_of};
use planner::inputs::Inputs;
use planner::origins::field_of;
use scan::provider::plan_schema;
use scan::shipping::Shipping;
use scan::tables::Tables;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Privileges, Relation, SqlType, Table};
use table_rows::Assembly;
use table_rows::Constraints;
use table_rows::expressions;
use values::error::Result;
use values::field::Field;

impl Short {
    /// A statement on the short path, if it has one of the supported forms.
    ///
    /// # Errors
    /// Errors of the engine. The long path reports what is wrong with the statement.
    pub(crate) fn recognise(
        frame: &Frame<'_>,
        tables: &dyn Tables,
        statement: &NodeEnum,
    ) -> Result<Option<Self>> {
        Ok(match statement {
            NodeEnum::SelectStmt(query) => select(frame, tables, query),
            NodeEnum::InsertStmt(statement) => insert(frame, tables, statement)?,
            NodeEnum::UpdateStmt(statement) => update(frame, tables, statement)?,
            NodeEnum::DeleteStmt(statement) => delete(frame, tables, statement),
            _ => None,
        })
    }
}

/// A table, if it has a primary key and the role has the `needed` privileges; and its alias.
fn only_table<'a>(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    range: &'a RangeVar,
    needed: Privileges,
) -> Option<(Arc<Table>, Option<&'a str>)> {
    let alias = range.alias.as_ref();
    if alias.is_some_and(|alias| !alias.colnames.is_empty()) {
        return None;
    }
    match find_named(tables.catalog(), frame.path(), &name_of(range)) {
        Ok(Some(relation @ Relation::Table(table)))
            if !table.has_hidden_key()
                && table.columns.iter().all(|column| column.sql_type.user_type().is_none()) =>
        {
            // The long path reports missing privileges.
            frame.access(tables.catalog()).require(relation, needed).ok()?;
            let changes = needed != Privileges::SELECT;
            if changes && !tables.catalog().triggers_of(table.id).is_empty() {
                return None;
            }
            Some((Arc::clone(table), alias.map(|alias| alias.aliasname.as_str())))
        }
        _ => None,
    }
}

fn select(frame: &Frame<'_>, tables: &dyn Tables, query: &SelectStmt) -> Option<Short> {
    let [Node { node: Some(NodeEnum::RangeVar(range)) }] = &query.from_clause[..] else {
        return None;
    };
    if !is_plain(query) {
        return None;
    }
    let (table, alias) = only_table(frame, tables, range, Privileges::SELECT)?;
    let read = Read::recognise(&table, alias, query)?;
    if read.point().is_none() && frame.session.shared.store.peers().is_some() {
        return None;
    }
    let mut fields: Vec<_> = read.columns().iter().map(|index| field_of(&table, *index)).collect();
    for (field, name) in fields.iter_mut().zip(read.names()) {
        field.name.clone_from(name);
    }
    if let (true, [name]) = (read.is_count(), read.names()) {
        fields.push(Field::new(name.clone(), SqlType::BigInt));
    }
    let action = Action::Select { read: Box::new(read), fields: fields.into() };
    Some(Short { action, table })
}

fn insert(frame: &Frame<'_>, tables: &dyn Tables, insert: &InsertStmt) -> Result<Option<Short>> {
    let has_clauses = insert.on_conflict_clause.is_some() || insert.returning_clause.is_some();
    let (Some(range), Some(values), false) = (&insert.relation, rows_of(insert), has_clauses)
    else {
        return Ok(None);
    };
    if range.alias.is_some() {
        return Ok(None);
    }
    let table = match find_named(tables.catalog(), frame.path(), &name_of(range)) {
        Ok(Some(relation @ Relation::Table(table))) => {
            let access = frame.access(tables.catalog());
            let has_triggers = !tables.catalog().triggers_of(table.id).is_empty();
            if has_triggers || access.require(relation, Privileges::INSERT).is_err() {
                return Ok(None);
            }
            Arc::clone(table)
        }
        _ => return Ok(None),
    };
    let is_watched = !table.foreign_keys.is_empty() || tables.catalog().has_deferrable(table.id);
    if is_watched
        || table.materialized.is_some()
        || table.columns.iter().any(|column| column.identity.is_some())
    {
        return Ok(None);
    }
    let mut given = Vec::new();
    for target in &insert.cols {
        let column = column_of(target).and_then(|name| declared_column(&table, name).ok());
        let Some(column) = column else { return Ok(None) };
        if given.contains(&column) {
            return Ok(None);
        }
        given.push(column);
    }
    if given.is_empty() {
        given = (0..table.columns.len()).filter(|index| !table.columns[*index].hidden).collect();
    }
    if given.iter().any(|index| table.columns[*index].generated.is_some()) {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for row in values {
        let operands = values_of(row).iter().map(|value| Operand::of(value.node.as_ref()?));
        match operands.collect::<Option<Vec<_>>>() {
            Some(row) if row.len() == given.len() => rows.push(row),
            _ => return Ok(None),
        }
    }
    let planner = frame.planner(tables);
    let store = &frame.session.shared.store;
    let assembly = Box::new(Assembly::new(&planner, store, &table, &given)?);
    if !assembly.is_lasting() || frame.site.needs_driver() {
        return Ok(None);
    }
    let schema = Arc::new(plan_schema(&table, &given));
    Ok(Some(Short { table, action: Action::Insert { rows, assembly, schema } }))
}

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

fn update(frame: &Frame<'_>, tables: &dyn Tables, update: &UpdateStmt) -> Result<Option<Short>> {
    let is_more = !update.from_clause.is_empty()
        || update.returning_clause.is_some()
        || update.with_clause.is_some();
    let (Some(range), false) = (&update.relation, is_more) else { return Ok(None) };
    let needed = Privileges::UPDATE.union(Privileges::SELECT);
    let Some((table, None)) = only_table(frame, tables, range, needed) else { return Ok(None) };
    let Some(key) = key_of(&table, update.where_clause.as_deref()) else { return Ok(None) };
    let Some((set, values)) = assigned(&table, &update.target_list) else { return Ok(None) };
    let targets = set.iter().map(|(at, _)| *at).chain(values.iter().map(|(at, _)| *at));
    let targets: Vec<usize> = targets.collect();
    if DistributedTransaction::watches(tables.catalog(), table.id, &targets) {
        return Ok(None);
    }
    let planner = frame.planner(tables);
    let (given, operands): (Vec<_>, Vec<_>) = set.into_iter().unzip();
    let (mut inputs, mut computed) = (Inputs::default(), Vec::new());
    if !values.is_empty() {
        let row = expressions::plan_assigned(&planner, &table, &values);
        let Some(row) = row else { return Ok(None) };
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
        Some(_) if is_portable(frame, &row)? => Some(operation::form_of(&row)?),
        _ => None,
    };
    let (given, update) = (operands, Arc::new(row));
    Ok(Some(Short { table, action: Action::Update { key, given, update, form } }))
}

/// The values of the key columns of the only row of a condition.
fn key_of(table: &Table, condition: Option<&Node>) -> Option<Vec<Operand>> {
    point_of(table, Some(condition?.node.as_ref()?))
}

/// Whether all expressions of an UPDATE have the same meaning on every server.
fn is_portable(frame: &Frame<'_>, update: &RowUpdate) -> Result<bool> {
    let shipping = Shipping::of(frame.engine().config())?;
    let values = update.computed.iter().map(|(_, value)| value);
    let of_table = update.constraints.expressions();
    Ok(values.chain(&of_table).all(|expression| shipping.portable.expression(expression)))
}

fn delete(frame: &Frame<'_>, tables: &dyn Tables, delete: &DeleteStmt) -> Option<Short> {
    let is_more = !delete.using_clause.is_empty()
        || delete.returning_clause.is_some()
        || delete.with_clause.is_some();
    let range = delete.relation.as_ref().filter(|_| !is_more)?;
    let needed = Privileges::DELETE.union(Privileges::SELECT);
    let (table, None) = only_table(frame, tables, range, needed)? else { return None };
    if DistributedTransaction::watches_deletion(tables.catalog(), table.id) {
        return None;
    }
    let key = key_of(&table, delete.where_clause.as_deref())?;
    Some(Short { table, action: Action::Delete { key } })
}
