//! INSERT of VALUES.

use super::returning_of;
use crate::context::Frame;
use crate::dml::constants::{columns, rows_of};
use crate::dml::name_of;
use crate::short::insertion::{Cell, Insertion};
use crate::short::{Action, Short};
use catalog_views::relation_names::find_named;
use datafusion::common::DFSchema;
use grammar::tree::{InsertStmt, Node, NodeEnum, RangeVar};
use keyed::{Operand, has_one_type_each};
use planner::Planner;
use planner::inputs::Inputs;
use scan::provider::plan_schema;
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Privileges, Relation, SqlType, Table};
use table_rows::constants::values_of;
use table_rows::default_values::{DefaultValue, accepts_default_only};
use table_rows::{Assembly, expressions};
use values::error::Result;

pub(super) fn insert(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    insert: &InsertStmt,
) -> Result<Option<Short>> {
    let (Some(range), Some(values), None) =
        (&insert.relation, rows_of(insert), &insert.on_conflict_clause)
    else {
        return Ok(None);
    };
    let Some(table) = insert_target(frame, tables, range, insert.returning_clause.is_some()) else {
        return Ok(None);
    };
    let alias = range.alias.as_ref().map(|alias| alias.aliasname.as_str());
    let Some(returning) = returning_of(&table, alias, insert.returning_clause.as_ref()) else {
        return Ok(None);
    };
    let planner = frame.planner(tables);
    let Some((given, rows, (inputs, of_expressions))) = cells(&planner, &table, insert, values)?
    else {
        return Ok(None);
    };
    let store = &frame.session.shared.store;
    let assembly = Assembly::new(&planner, store, &table, &given)?;
    if !assembly.is_lasting() || frame.site.needs_driver() {
        return Ok(None);
    }
    let schema = Arc::new(plan_schema(&table, &given));
    let insertion = Insertion { rows, inputs, of_expressions, assembly, schema };
    if !has_one_type_each(insertion.parameters(&table)) {
        return Ok(None);
    }
    let is_watched = !table.foreign_keys.is_empty();
    let action = Action::Insert(Box::new(insertion));
    Ok(Some(Short { table, action, returning, is_watched, computed: None }))
}

/// The table of an INSERT, if nothing but foreign keys looks at its rows.
fn insert_target(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    range: &RangeVar,
    returns: bool,
) -> Option<Arc<Table>> {
    if range.alias.as_ref().is_some_and(|alias| !alias.colnames.is_empty()) {
        return None;
    }
    let catalog = tables.catalog();
    let found = find_named(catalog, frame.path(), &name_of(range)).ok()?;
    let Some(relation @ Relation::Table(table)) = found else { return None };
    let needed = if returns { Privileges::SELECT } else { Privileges::INSERT };
    let needed = needed.union(Privileges::INSERT);
    frame.access(catalog).require(relation, needed).ok()?;
    let is_plain = catalog.triggers_of(table.id).is_empty()
        && !catalog.has_deferrable(table.id)
        && table.materialized.is_none();
    is_plain.then(|| Arc::clone(table))
}

/// The columns that get values, the values of each row, and what expressions among them get: also parameters, with the types
/// that their places say.
type Cells = (Vec<usize>, Vec<Vec<Cell>>, (Inputs, Vec<(usize, SqlType)>));

/// The values of an INSERT: those that it has, and defaults that use the time. `None` if one is not for the short path.
fn cells(
    planner: &Planner<'_>,
    table: &Table,
    insert: &InsertStmt,
    values: &[Node],
) -> Result<Option<Cells>> {
    let Some(mut given) = columns(table, &insert.cols) else { return Ok(None) };
    let (mut inputs, mut parameters) = (Inputs::with_moment(), Vec::new());
    let mut rows = Vec::with_capacity(values.len());
    let mut defaults = Vec::new();
    for row in values {
        let row = values_of(row);
        if row.len() != given.len() {
            return Ok(None);
        }
        let mut cells = Vec::with_capacity(row.len());
        for (place, value) in row.iter().enumerate() {
            let Some(value) = &value.node else { return Ok(None) };
            if let NodeEnum::SetToDefault(_) = value {
                defaults.push(place);
                continue;
            }
            let got = (&mut inputs, &mut parameters);
            match cell(planner, table, (given[place], value), got)? {
                Some(cell) => cells.push(cell),
                None => return Ok(None),
            }
        }
        rows.push(cells);
    }
    // Rows that differ in their defaults differ in their columns.
    if !defaults.is_empty() && rows.len() > 1 {
        return Ok(None);
    }
    let mut place = 0..;
    given.retain(|_| place.next().is_none_or(|place| !defaults.contains(&place)));
    if given.iter().any(|index| accepts_default_only(&table.columns[*index])) {
        return Ok(None);
    }
    let with_default = table.columns.iter().enumerate().filter(|(index, column)| {
        column.default.is_some() && !column.hidden && !given.contains(index)
    });
    let mut of_moment = Vec::new();
    for (index, _) in with_default {
        if DefaultValue::of(planner, table, index)?.is_lasting {
            continue;
        }
        match DefaultValue::of_moment(planner, table, index, &mut inputs)? {
            Some(value) => of_moment.push((index, value)),
            None => return Ok(None),
        }
    }
    for (index, value) in of_moment {
        given.push(index);
        rows.iter_mut().for_each(|row| row.push(Cell::Computed(Arc::clone(&value))));
    }
    Ok(Some((given, rows, (inputs, parameters))))
}

/// A value of a column in an INSERT; `None` if it is not for the short path.
fn cell(
    planner: &Planner<'_>,
    table: &Table,
    assigned: (usize, &NodeEnum),
    (inputs, parameters): (&mut Inputs, &mut Vec<(usize, SqlType)>),
) -> Result<Option<Cell>> {
    if let Some(operand) = Operand::of(assigned.1) {
        return Ok(Some(Cell::Operand(operand)));
    }
    let row = expressions::plan_assigned(planner, table, &[assigned], false);
    let Some(row) = row else { return Ok(None) };
    parameters.extend(row.parameters);
    let Some(value) = row.exprs.into_iter().next() else { return Ok(None) };
    let value = planner.physical_with_inputs(value, &DFSchema::empty(), inputs)?;
    Ok(value.map(Cell::Computed))
}
