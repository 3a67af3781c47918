//! Recognition of statements for the short path.

use super::chosen::Chosen;
use super::computed::Computed;
use super::insertion::{Cell, Insertion};
use super::returning::Returning;
use super::row_update::RowUpdate;
use super::{Action, Short, operation};
use crate::context::Frame;
use crate::dml::constants::{column_of, rows_of, values_of};
use crate::dml::{declared_column, name_of};
use catalog_views::relation_names::find_named;
use datafusion::common::DFSchema;
use grammar::tree::{
    DeleteStmt, InsertStmt, Node, NodeEnum, RangeVar, ReturningClause, SelectStmt, UpdateStmt,
};
use keyed::{Operand, Read, is_plain, point_of};
use parser::commands::locking::{self, LockingClause, Strength, Wait};
use planner::Planner;
use planner::inputs::Inputs;
use planner::origins::field_of;
use scan::provider::plan_schema;
use scan::shipping::Shipping;
use scan::tables::Tables;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::{Index, Privileges, Relation, SqlType, Table};
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy};
use table_rows::default_values::{DefaultValue, accepts_default_only};
use table_rows::{Assembly, Constraints, expressions};
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
        if let Some(short) = Self::of(frame, tables, statement)? {
            return Ok(Some(short));
        }
        Self::with_computed_condition(frame, tables, statement)
    }

    fn of(frame: &Frame<'_>, tables: &dyn Tables, statement: &NodeEnum) -> Result<Option<Self>> {
        Ok(match statement {
            NodeEnum::SelectStmt(query) => select(frame, tables, query),
            NodeEnum::InsertStmt(statement) => insert(frame, tables, statement)?,
            NodeEnum::UpdateStmt(statement) => update(frame, tables, statement)?,
            NodeEnum::DeleteStmt(statement) => delete(frame, tables, statement),
            _ => None,
        })
    }

    /// A statement that is on the short path once the expressions of its condition are computed.
    fn with_computed_condition(
        frame: &Frame<'_>,
        tables: &dyn Tables,
        statement: &NodeEnum,
    ) -> Result<Option<Self>> {
        let (range, has_condition) = match statement {
            NodeEnum::SelectStmt(query) => match &query.from_clause[..] {
                [Node { node: Some(NodeEnum::RangeVar(range)) }] => {
                    (Some(range), query.where_clause.is_some())
                }
                _ => return Ok(None),
            },
            NodeEnum::UpdateStmt(update) => {
                (update.relation.as_ref(), update.where_clause.is_some())
            }
            NodeEnum::DeleteStmt(delete) => {
                (delete.relation.as_ref(), delete.where_clause.is_some())
            }
            _ => return Ok(None),
        };
        let Some(range) = range.filter(|_| has_condition) else { return Ok(None) };
        let Some((table, _)) = only_table(frame, tables, range, Privileges::SELECT) else {
            return Ok(None);
        };
        let mut simple = statement.clone();
        let condition = match &mut simple {
            NodeEnum::SelectStmt(query) => query.where_clause.as_deref_mut(),
            NodeEnum::UpdateStmt(update) => update.where_clause.as_deref_mut(),
            NodeEnum::DeleteStmt(delete) => delete.where_clause.as_deref_mut(),
            _ => None,
        };
        let planner = frame.planner(tables);
        let computed = Computed::take(&planner, &table, statement, condition)?;
        let Some(computed) = computed.filter(|_| !frame.site.needs_driver()) else {
            return Ok(None);
        };
        let Some(short) = Self::of(frame, tables, &simple)? else { return Ok(None) };
        let parameters = computed.own_parameters(short.all_parameters());
        let is_known = parameters.is_some_and(|all| has_one_type_a_parameter(&all));
        Ok(is_known.then_some(Self { computed: Some(computed), ..short }))
    }

    /// A statement whose changes nobody looks at.
    fn unwatched(table: Arc<Table>, action: Action) -> Self {
        Self { table, action, returning: None, is_watched: false, computed: None }
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

/// The indexes of a table. None if calls in conditions could mean functions of users that have the names of those in indexes.
fn indexes_of<'a>(tables: &'a dyn Tables, table: &Table) -> &'a [Arc<Index>] {
    let catalog = tables.catalog();
    match catalog.functions().any(|function| matches!(&*function.name, "lower" | "upper")) {
        true => &[],
        false => catalog.indexes_of(table.id),
    }
}

fn select(frame: &Frame<'_>, tables: &dyn Tables, query: &SelectStmt) -> Option<Short> {
    let [Node { node: Some(NodeEnum::RangeVar(range)) }] = &query.from_clause[..] else {
        return None;
    };
    if !query.locking_clause.is_empty() {
        return lock(frame, tables, query, range);
    }
    if !is_plain(query) {
        return None;
    }
    let (table, alias) = only_table(frame, tables, range, Privileges::SELECT)?;
    let read = Read::recognise((&table, indexes_of(tables, &table)), alias, query)?;
    if read.point().is_none() && frame.session.shared.store.peers().is_some() {
        return None;
    }
    let mut fields = fields_of(&table, read.columns(), read.names());
    if let (true, [name]) = (read.is_count(), read.names()) {
        fields.push(Field::new(name.clone(), SqlType::BigInt));
    }
    let action = Action::Select { read: Box::new(read), fields: fields.into() };
    Some(Short::unwatched(table, action))
}

/// A query of the row of a key with a locking clause.
fn lock(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    query: &SelectStmt,
    range: &RangeVar,
) -> Option<Short> {
    let [LockingClause { strength, wait, of }] = &locking::clauses(query)[..] else { return None };
    let mut plain = query.clone();
    plain.locking_clause.clear();
    if !is_plain(&plain) {
        return None;
    }
    let needed = Privileges::SELECT.union(Privileges::UPDATE);
    let (table, alias) = only_table(frame, tables, range, needed)?;
    if of.iter().any(|name| name != alias.unwrap_or(&table.name)) || table.materialized.is_some() {
        return None;
    }
    let read = Read::recognise((&table, &[]), alias, &plain)?;
    read.point()?;
    let mode = match strength {
        Strength::KeyShare => Mode::ForKeyShare,
        Strength::Share => Mode::ForShare,
        Strength::NoKeyUpdate => Mode::ForNoKeyUpdate,
        Strength::Update => Mode::ForUpdate,
    };
    let policy = match wait {
        Wait::Block => LockPolicy::Wait,
        Wait::Skip => LockPolicy::Skip,
        Wait::Error => LockPolicy::Refuse,
    };
    let fields = fields_of(&table, read.columns(), read.names()).into();
    let action = Action::Lock { read: Box::new(read), fields, mode, policy };
    Some(Short::unwatched(table, action))
}

/// Columns of a table with other names.
pub(super) fn fields_of(table: &Table, columns: &[usize], names: &[String]) -> Vec<Field> {
    let named = |(index, name): (&usize, &String)| {
        let mut field = field_of(table, *index);
        field.name.clone_from(name);
        field
    };
    columns.iter().zip(names).map(named).collect()
}

fn insert(frame: &Frame<'_>, tables: &dyn Tables, insert: &InsertStmt) -> Result<Option<Short>> {
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
    let Some((given, rows, inputs)) = cells(&planner, &table, insert, values)? else {
        return Ok(None);
    };
    let store = &frame.session.shared.store;
    let assembly = Assembly::new(&planner, store, &table, &given)?;
    if !assembly.is_lasting() || frame.site.needs_driver() {
        return Ok(None);
    }
    let schema = Arc::new(plan_schema(&table, &given));
    let insertion = Insertion { rows, inputs, assembly, schema };
    if !has_one_type_a_parameter(&insertion.parameters(&table)) {
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
    let needed = match returns {
        true => Privileges::INSERT.union(Privileges::SELECT),
        false => Privileges::INSERT,
    };
    frame.access(catalog).require(relation, needed).ok()?;
    let is_plain = catalog.triggers_of(table.id).is_empty()
        && !catalog.has_deferrable(table.id)
        && table.materialized.is_none();
    is_plain.then(|| Arc::clone(table))
}

/// What a change returns: nothing without the clause. `None` if that is not for the short path.
fn returning_of(
    table: &Table,
    alias: Option<&str>,
    clause: Option<&ReturningClause>,
) -> Option<Option<Returning>> {
    let Some(clause) = clause else { return Some(None) };
    let is_of_user = |at: usize| table.columns[at].sql_type.user_type().is_some();
    if (0..table.columns.len()).any(is_of_user) {
        return None;
    }
    Returning::recognise(table, alias, clause).map(Some)
}

/// The columns that get values, the values of each row, and what expressions among them get.
type Cells = (Vec<usize>, Vec<Vec<Cell>>, Inputs);

/// The values of an INSERT: those that it has, and defaults that use the time. `None` if one is not for the short path.
fn cells(
    planner: &Planner<'_>,
    table: &Table,
    insert: &InsertStmt,
    values: &[Node],
) -> Result<Option<Cells>> {
    let Some(mut given) = targets(table, &insert.cols) else { return Ok(None) };
    let mut inputs = Inputs::with_moment();
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
            match cell(planner, table, (given[place], value), &mut inputs)? {
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
    Ok(Some((given, rows, inputs)))
}

/// The target columns of an INSERT, in the order of its values.
fn targets(table: &Table, named: &[Node]) -> Option<Vec<usize>> {
    if named.is_empty() {
        return Some((0..table.columns.len()).filter(|at| !table.columns[*at].hidden).collect());
    }
    let mut given = Vec::with_capacity(named.len());
    for target in named {
        let column = declared_column(table, column_of(target)?).ok()?;
        if given.contains(&column) {
            return None;
        }
        given.push(column);
    }
    Some(given)
}

/// A value of a column in an INSERT; `None` if it is not for the short path.
fn cell(
    planner: &Planner<'_>,
    table: &Table,
    assigned: (usize, &NodeEnum),
    inputs: &mut Inputs,
) -> Result<Option<Cell>> {
    if let Some(operand) = Operand::of(assigned.1) {
        return Ok(Some(Cell::Operand(operand)));
    }
    let row = expressions::plan_assigned(planner, table, &[assigned], false);
    let Some(value) = row.and_then(|row| row.exprs.into_iter().next()) else { return Ok(None) };
    let value = planner.physical_with_inputs(value, &DFSchema::empty(), inputs)?;
    Ok(value.map(Cell::Computed))
}

/// What a parameter means is decided by its first place, and its other places would convert it.
fn has_one_type_a_parameter(parameters: &[(usize, SqlType)]) -> bool {
    let mut known = HashMap::new();
    parameters.iter().all(|(number, of)| *known.entry(number).or_insert(of) == of)
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
    if !values.is_empty() {
        // Columns are called by the table's own name here.
        let row = match alias {
            None => expressions::plan_assigned(&planner, &table, &values, true),
            Some(_) => None,
        };
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
        Some(_) if is_portable(frame, &row)? => operation::form_of(&row)?,
        _ => None,
    };
    let (given, update) = (operands, Arc::new(row));
    let action = Action::Update { chosen, given, update, form };
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

fn delete(frame: &Frame<'_>, tables: &dyn Tables, delete: &DeleteStmt) -> Option<Short> {
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
