//! The tables that a statement changes, and the privileges that it needs for them.

use crate::context::Frame;
use catalog_views::relation_names::find_in;
use grammar::tree::{CmdType, Node, NodeEnum, OnConflictAction, RangeVar, WithClause};
use planner::Planner;
use std::sync::Arc;
use store::catalog::{
    Catalog, Privileges, RESERVED_SCHEMAS, Relation, Table, TableId, TriggerEvent, View,
};
use values::error::{Error, Result, SqlState};

/// The privileges that a change needs, and what it does; `None` for MERGE, and INSERT with ON CONFLICT.
type Needed = (Privileges, Option<TriggerEvent>);

/// The relations that a statement and the changes in its WITH change, as they are written, with the privileges that they
/// need.
pub(crate) fn of(statement: &NodeEnum) -> Vec<(&RangeVar, Needed)> {
    let mut found: Vec<_> = own(statement).into_iter().collect();
    let with = with_of(statement).map_or(&[][..], |with| &with.ctes);
    for node in with {
        if let Some(NodeEnum::CommonTableExpr(cte)) = &node.node {
            let query = cte.ctequery.as_ref().and_then(|query| query.node.as_ref());
            found.extend(query.and_then(own));
        }
    }
    found
}

fn with_of(statement: &NodeEnum) -> Option<&WithClause> {
    match statement {
        NodeEnum::SelectStmt(select) => select.with_clause.as_ref(),
        NodeEnum::InsertStmt(insert) => insert.with_clause.as_ref(),
        NodeEnum::UpdateStmt(update) => update.with_clause.as_ref(),
        NodeEnum::DeleteStmt(delete) => delete.with_clause.as_ref(),
        NodeEnum::MergeStmt(merge) => merge.with_clause.as_ref(),
        _ => None,
    }
}

/// The table that a statement itself changes. Conditions, RETURNING, and values other than constants need SELECT.
fn own(statement: &NodeEnum) -> Option<(&RangeVar, Needed)> {
    let reading = |needed: Privileges, reads: bool| match reads {
        true => needed.union(Privileges::SELECT),
        false => needed,
    };
    let (relation, needed, event) = match statement {
        NodeEnum::InsertStmt(insert) => {
            let updates = insert
                .on_conflict_clause
                .as_ref()
                .is_some_and(|on| on.action() == OnConflictAction::OnconflictUpdate);
            let reads = updates || insert.returning_clause.is_some();
            let needed = match updates {
                true => Privileges::INSERT.union(Privileges::UPDATE),
                false => Privileges::INSERT,
            };
            let event = match insert.on_conflict_clause {
                Some(_) => None,
                None => Some(TriggerEvent::Insert),
            };
            (&insert.relation, reading(needed, reads), event)
        }
        NodeEnum::UpdateStmt(update) => {
            let reads = update.where_clause.is_some()
                || update.returning_clause.is_some()
                || !update.target_list.iter().all(is_constant);
            (&update.relation, reading(Privileges::UPDATE, reads), Some(TriggerEvent::Update))
        }
        NodeEnum::DeleteStmt(delete) => {
            let reads = delete.where_clause.is_some() || delete.returning_clause.is_some();
            (&delete.relation, reading(Privileges::DELETE, reads), Some(TriggerEvent::Delete))
        }
        NodeEnum::MergeStmt(merge) => {
            let needed =
                merge.merge_when_clauses.iter().fold(Privileges::SELECT, |needed, when| {
                    let Some(NodeEnum::MergeWhenClause(when)) = &when.node else { return needed };
                    needed.union(match when.command_type() {
                        CmdType::CmdInsert => Privileges::INSERT,
                        CmdType::CmdUpdate => Privileges::UPDATE,
                        CmdType::CmdDelete => Privileges::DELETE,
                        _ => Privileges::default(),
                    })
                });
            (&merge.relation, needed, None)
        }
        _ => return None,
    };
    Some((relation.as_ref()?, (needed, event)))
}

/// Whether a trigger fires instead of a change of a view.
fn fires_instead(catalog: &Catalog, view: &View, event: Option<TriggerEvent>) -> bool {
    let mut triggers = catalog.triggers_of(TableId(view.id.0)).iter();
    event.is_some_and(|event| triggers.any(|of| of.is_instead && of.is_fired_by(event, &[])))
}

/// Whether an assignment is of a constant.
fn is_constant(assignment: &Node) -> bool {
    let Some(NodeEnum::ResTarget(target)) = &assignment.node else { return false };
    let value = target.val.as_ref().and_then(|value| value.node.as_ref());
    matches!(value, Some(NodeEnum::AConst(_) | NodeEnum::ParamRef(_) | NodeEnum::SetToDefault(_)))
}

/// What a statement changes.
pub(super) enum Named {
    /// A table.
    Table(Arc<Table>),
    /// A view with triggers that fire instead of the change.
    View(Arc<View>),
}

/// The table or view of a name. `None` if there is no such relation.
///
/// # Errors
/// It cannot be changed, or the role lacks a privilege.
pub(super) fn named(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    range: &RangeVar,
    (needed, event): Needed,
) -> Result<Option<Named>> {
    let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
    let (catalog, name) = (planner.tables.catalog(), range.relname.as_str());
    let wrong = |message: String| Err(Error::new(SqlState::WrongObjectType, message));
    let Some(relation) = find_in(catalog, planner.search_path, schema, name) else {
        let is_system = match schema {
            Some(schema) => RESERVED_SCHEMAS.contains(&schema),
            None => catalog_views::is_implicit(name),
        };
        return match (is_system, schema) {
            (false, _) => Ok(None),
            (true, None) => wrong(format!("\"{name}\" is a system table and cannot be changed")),
            (true, Some(schema)) => {
                wrong(format!("\"{schema}.{name}\" is a system table and cannot be changed"))
            }
        };
    };
    frame.access(catalog).require(relation, needed)?;
    match relation {
        Relation::Table(table) if table.materialized.is_none() => {
            Ok(Some(Named::Table(Arc::clone(table))))
        }
        Relation::View(view) if fires_instead(catalog, view, event) => {
            Ok(Some(Named::View(Arc::clone(view))))
        }
        Relation::View(_) => {
            let error = format!("changing the view \"{name}\" is not supported");
            let before = usize::try_from(range.location).ok();
            let before = before.and_then(|byte| frame.text.get(..byte)).unwrap_or_default();
            Err(Error::unsupported(error).at(before.chars().count() + 1))
        }
        other => wrong(format!("cannot change {} \"{name}\"", other.kind())),
    }
}
