//! Recognition of statements for the short path.

use super::row_update::RowUpdate;
use super::{Action, Short, arithmetic, operation};
use crate::context::Frame;
use crate::dml::assembly::Assembly;
use crate::dml::assignment::assigned_column;
use crate::dml::constraints::Constraints;
use crate::dml::declared_column;
use crate::dml::default_values::is_default;
use catalog_views::relation_names::find;
use datafusion::common::DFSchema;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, Delete, FromTable, Insert, Query, SetExpr, Statement, TableFactor,
    TableObject, TableWithJoins, Update,
};
use keyed::{Operand, Read, point_of, select_of};
use parser::names::fold;
use planner::inputs::Inputs;
use planner::is_lasting;
use planner::origins::field_of;
use scan::provider::{plan_schema, row_schema};
use scan::shipping::Shipping;
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Privileges, Relation, SqlType, Table};
use values::error::Result;
use values::field::Field;

impl Short {
    /// A statement on the short path, if it has one of the supported forms.
    ///
    /// # Errors
    /// Those that the long path would return, too.
    pub(crate) fn recognise(
        frame: &Frame<'_>,
        tables: &dyn Tables,
        statement: &Statement,
    ) -> Result<Option<Self>> {
        Ok(match statement {
            Statement::Query(query) => select(frame, tables, query),
            Statement::Insert(statement) => insert(frame, tables, statement)?,
            Statement::Update(statement) => update(frame, tables, statement)?,
            Statement::Delete(statement) => delete(frame, tables, statement),
            _ => None,
        })
    }
}

/// The table of a FROM clause with a single table, if it has a primary key and the role has the
/// `needed` privileges; and its alias.
fn only_table(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    from: &TableWithJoins,
    needed: Privileges,
) -> Option<(Arc<Table>, Option<String>)> {
    let TableFactor::Table { name, alias, args: None, sample: None, .. } = &from.relation else {
        return None;
    };
    let is_renamed = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
    if !from.joins.is_empty() || is_renamed {
        return None;
    }
    match find(tables.catalog(), frame.path(), name) {
        Ok(Some(relation @ Relation::Table(table))) if !table.has_hidden_key() => {
            // The long path reports missing privileges.
            frame.access(tables.catalog()).require(relation, needed).ok()?;
            Some((Arc::clone(table), alias.as_ref().map(|alias| fold(&alias.name))))
        }
        _ => None,
    }
}

fn select(frame: &Frame<'_>, tables: &dyn Tables, query: &Query) -> Option<Short> {
    let [from] = &select_of(query)?.from[..] else { return None };
    let (table, alias) = only_table(frame, tables, from, Privileges::SELECT)?;
    let read = Read::recognise(&table, alias.as_deref(), query)?;
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

fn insert(frame: &Frame<'_>, tables: &dyn Tables, insert: &Insert) -> Result<Option<Short>> {
    let plain = insert.on.is_none() && insert.returning.is_none() && insert.table_alias.is_none();
    let (TableObject::TableName(name), Some(source), true) = (&insert.table, &insert.source, plain)
    else {
        return Ok(None);
    };
    let SetExpr::Values(values) = &*source.body else { return Ok(None) };
    let table = match find(tables.catalog(), frame.path(), name)? {
        Some(relation @ Relation::Table(table)) => {
            frame.access(tables.catalog()).require(relation, Privileges::INSERT)?;
            Arc::clone(table)
        }
        _ => return Ok(None),
    };
    if table.columns.iter().any(|column| column.identity.is_some()) {
        return Ok(None);
    }
    let mut given = Vec::new();
    for name in &insert.columns {
        let Some(name) = name.0.last().and_then(|part| part.as_ident()) else { return Ok(None) };
        let column = declared_column(&table, &fold(name))?;
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
    for row in &values.rows {
        let operands = row.content.iter().filter(|value| !is_default(value)).map(Operand::of);
        match operands.collect::<Option<Vec<_>>>() {
            Some(row) if row.len() == given.len() => rows.push(row),
            _ => return Ok(None),
        }
    }
    let planner = frame.planner(tables);
    let store = &frame.session.shared.store;
    let assembly = Box::new(Assembly::new(&planner, store, &table, &given)?);
    if !assembly.is_lasting() {
        return Ok(None);
    }
    let schema = Arc::new(plan_schema(&table, &given));
    Ok(Some(Short { table, action: Action::Insert { rows, assembly, schema } }))
}

fn update(frame: &Frame<'_>, tables: &dyn Tables, update: &Update) -> Result<Option<Short>> {
    if update.from.is_some() || update.returning.is_some() {
        return Ok(None);
    }
    let needed = Privileges::UPDATE.union(Privileges::SELECT);
    let Some((table, None)) = only_table(frame, tables, &update.table, needed) else {
        return Ok(None);
    };
    let Some(key) = point_of(&table, update.selection.as_ref()) else { return Ok(None) };
    let planner = frame.planner(tables);
    let schema = DFSchema::try_from_qualified_schema(&table.name, &row_schema(&table))?;
    let (mut columns, mut operands, mut computed) = (Vec::new(), Vec::new(), Vec::new());
    let mut inputs = Inputs::default();
    for assignment in &update.assignments {
        if matches!(assignment.target, AssignmentTarget::Tuple(_)) {
            return Ok(None);
        }
        let column = assigned_column(&table, &assignment.target)?;
        let definition = &table.columns[column];
        let is_set = columns.contains(&column) || computed.iter().any(|(set, _)| *set == column);
        if is_set
            || table.key.contains(&definition.id)
            || definition.identity.is_some()
            || definition.generated.is_some()
            || is_default(&assignment.value)
        {
            return Ok(None);
        }
        match Operand::of(&assignment.value) {
            Some(operand) => {
                columns.push(column);
                operands.push(operand);
            }
            None if !arithmetic::is_known(&assignment.value, &table, definition) => {
                return Ok(None);
            }
            None => {
                let value = assignment.value.clone();
                match planner.plan_with_inputs(value, &schema, &mut inputs)? {
                    Some((value, physical)) if is_lasting(&value) => {
                        computed.push((column, physical));
                    }
                    _ => return Ok(None),
                }
            }
        }
    }
    let constraints = Constraints::new(&planner, &table)?;
    if !constraints.is_lasting() {
        return Ok(None);
    }
    let given = columns;
    let row = RowUpdate { table: Arc::clone(&table), given, inputs, computed, constraints };
    let form = match frame.session.shared.store.peers() {
        Some(_) if is_portable(frame, &row)? => Some(operation::form_of(&row)?),
        _ => None,
    };
    let (given, update) = (operands, Arc::new(row));
    Ok(Some(Short { table, action: Action::Update { key, given, update, form } }))
}

/// Whether all expressions of an UPDATE have the same meaning on every server.
fn is_portable(frame: &Frame<'_>, update: &RowUpdate) -> Result<bool> {
    let shipping = Shipping::of(frame.engine().config())?;
    let values = update.computed.iter().map(|(_, value)| value);
    let of_table = update.constraints.expressions();
    Ok(values.chain(&of_table).all(|expression| shipping.portable.expression(expression)))
}

fn delete(frame: &Frame<'_>, tables: &dyn Tables, delete: &Delete) -> Option<Short> {
    if delete.using.is_some() || delete.returning.is_some() {
        return None;
    }
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [from] = &from[..] else { return None };
    let needed = Privileges::DELETE.union(Privileges::SELECT);
    let (table, None) = only_table(frame, tables, from, needed)? else { return None };
    let key = point_of(&table, delete.selection.as_ref())?;
    Some(Short { table, action: Action::Delete { key } })
}
