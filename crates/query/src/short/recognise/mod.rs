//! Recognition of statements for the short path.

mod change;
mod insert;
mod join;
mod locked;
mod select;

use super::computed::Computed;
use super::returning::Returning;
use super::{Action, Short};
use crate::context::Frame;
use crate::dml::name_of;
use catalog_views::relation_names::find_named;
use change::{delete, update};
use grammar::tree::{Node, NodeEnum, RangeVar, ReturningClause};
use insert::insert;
use join::join;
use keyed::has_one_type_each;
use scan::tables::Tables;
use select::select;
use std::sync::Arc;
use store::catalog::{Index, Privileges, Relation, SqlType, Table};
use values::error::Result;

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
            NodeEnum::SelectStmt(query) => {
                select(frame, tables, query).or_else(|| join(frame, tables, query))
            }
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
        let computed = Computed::take(&planner, &table, statement, condition);
        let Some(computed) = computed.filter(|_| !frame.site.needs_driver()) else {
            return Ok(None);
        };
        let Some(short) = Self::of(frame, tables, &simple)? else { return Ok(None) };
        let parameters = computed.own_parameters(short.all_parameters());
        let is_known = parameters.is_some_and(has_one_type_each);
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
                && table.columns.iter().all(|column| is_plain(&column.sql_type)) =>
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

/// Whether values of a type are read, compared and shown as they are held.
fn is_plain(sql_type: &SqlType) -> bool {
    sql_type.user_type().is_none() && sql_type.system_type().is_none()
}

/// The indexes of a table. There are none where users have functions `lower` or `upper`: calls in conditions may mean these.
fn indexes_of<'a>(tables: &'a dyn Tables, table: &Table) -> &'a [Arc<Index>] {
    let catalog = tables.catalog();
    match catalog.functions().any(|function| matches!(&*function.name, "lower" | "upper")) {
        true => &[],
        false => catalog.indexes_of(table.id),
    }
}

/// What a change returns: nothing without the clause. `None` if that is not for the short path.
fn returning_of(
    table: &Table,
    alias: Option<&str>,
    clause: Option<&ReturningClause>,
) -> Option<Option<Returning>> {
    let Some(clause) = clause else { return Some(None) };
    if !table.columns.iter().all(|column| is_plain(&column.sql_type)) {
        return None;
    }
    Returning::recognise(table, alias, clause).map(Some)
}
