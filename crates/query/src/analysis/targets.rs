//! The tables that a statement changes, and the privileges that it needs for them.

use crate::context::Frame;
use catalog_views::access::Access;
use catalog_views::relation_names::find_in;
use catalog_views::search_path::SearchPath;
use grammar::tree::{CmdType, Node, NodeEnum, OnConflictAction, RangeVar, SelectStmt, WithClause};
use parser::nesting;
use planner::relations::endless;
use planner::{Planner, Shown};
use std::sync::Arc;
use store::catalog::{
    Catalog, Privileges, RESERVED_SCHEMAS, Relation, RelationId, Table, TableId, TriggerEvent,
    View, is_temporary_schema,
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

/// What the functions that a statement calls see of its changes.
pub(crate) fn shown(catalog: &Catalog, statement: &NodeEnum) -> Shown {
    if catalog.functions().next().is_none() {
        return Shown::Nothing;
    }
    let names: Vec<String> = of(statement).iter().map(|(name, _)| name.relname.clone()).collect();
    // Triggers may change other tables, as may the functions.
    let is_alone = |of: &Relation| match of {
        Relation::Table(table) => catalog.triggers_of(table.id).is_empty(),
        _ => false,
    };
    let mut changed = catalog.relations().filter(|of| names.iter().any(|name| *name == *of.name()));
    match changed.all(is_alone) && !procedural::may_change(catalog, statement) {
        true => Shown::Tables(names.into()),
        false => Shown::Everything,
    }
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
pub(super) enum Resolved {
    /// A table.
    Table(Arc<Table>),
    /// A view with triggers that fire instead of the change.
    Instead(Arc<View>),
    /// A table through a view.
    View {
        view: Arc<View>,
        /// Its query.
        query: Box<SelectStmt>,
        /// The only relation in its FROM, if that is a table or a view.
        base: Option<Box<Resolved>>,
    },
}

impl Resolved {
    /// Whether it is a temporary table in the end.
    fn is_temporary(&self) -> bool {
        match self {
            Self::Table(table) => is_temporary_schema(&table.schema),
            Self::Instead(view) => is_temporary_schema(&view.schema),
            Self::View { base, .. } => base.as_ref().is_some_and(|base| base.is_temporary()),
        }
    }
}

/// Whether a target is a temporary table, or leads to one through views.
pub(crate) fn is_temporary(frame: &Frame<'_>, catalog: &Catalog, range: &RangeVar) -> bool {
    match find_in(catalog, frame.path(), schema_of(range), &range.relname) {
        Some(Relation::View(view)) => {
            let (path, needed) = (frame.path(), Privileges::default());
            let access = Access::unlimited(catalog);
            let reached = Reached { catalog, path, needed, event: None };
            let reached = reached.through(view, access, &mut Vec::new());
            reached.is_ok_and(|reached| reached.is_temporary())
        }
        found => found.is_some_and(Relation::is_temporary),
    }
}

/// How many views may lead to a table.
const VIEWS_DEEP: usize = 256;

/// The table or view of a name. `None` if there is no such relation.
///
/// # Errors
/// It is neither, or the role lacks a privilege, or the owner of a view lacks it on what the view selects from.
pub(super) fn resolved(
    frame: &Frame<'_>,
    planner: &Planner<'_>,
    range: &RangeVar,
    (needed, event): Needed,
) -> Result<Option<Resolved>> {
    let (schema, name) = (schema_of(range), range.relname.as_str());
    let catalog = planner.tables.catalog();
    let wrong = |message: String| Err(Error::new(SqlState::WrongObjectType, message));
    let Some(relation) = find_in(catalog, planner.search_path, schema, name) else {
        let is_system = match schema {
            Some(schema) => RESERVED_SCHEMAS.contains(&schema),
            None => catalog_views::is_implicit(name),
        };
        return match is_system {
            true => Err(frame.access(catalog).no_change_of_system(name)),
            false => Ok(None),
        };
    };
    let access = frame.access(catalog);
    access.require(relation, needed)?;
    match relation {
        Relation::Table(table) if table.materialized.is_none() => {
            Ok(Some(Resolved::Table(Arc::clone(table))))
        }
        Relation::View(view) => {
            let reached = Reached { catalog, path: planner.search_path, needed, event };
            reached.through(view, access, &mut Vec::new()).map(Some)
        }
        other => wrong(format!("cannot change {} \"{name}\"", other.kind())),
    }
}

fn schema_of(range: &RangeVar) -> Option<&str> {
    Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty())
}

/// What views lead to.
struct Reached<'a> {
    catalog: &'a Catalog,
    path: SearchPath<'a>,
    needed: Privileges,
    event: Option<TriggerEvent>,
}

impl<'a> Reached<'a> {
    /// What a view leads to. `above` are the views that lead to it.
    fn through(
        &self,
        view: &'a Arc<View>,
        access: Access<'a>,
        above: &mut Vec<RelationId>,
    ) -> Result<Resolved> {
        if fires_instead(self.catalog, view, self.event) {
            return Ok(Resolved::Instead(Arc::clone(view)));
        }
        if above.contains(&view.id) {
            return Err(endless(&view.name));
        }
        if above.len() >= VIEWS_DEEP {
            let hint = format!("Views may be defined on views {VIEWS_DEEP} levels deep.");
            return Err(nesting::exceeded(hint));
        }
        above.push(view.id);
        let query = query_of(view)?;
        let access = access.of_view(view);
        let relation = match query.from_clause.as_slice() {
            [Node { node: Some(NodeEnum::RangeVar(range)) }] => self.named(view, range),
            _ => None,
        };
        if let Some(relation) = relation {
            access.require(relation, self.needed)?;
        }
        let base = match relation {
            Some(Relation::Table(table)) if table.materialized.is_none() => {
                Some(Resolved::Table(Arc::clone(table)))
            }
            Some(Relation::View(inner)) => {
                Some(grammar::growing(|| self.through(inner, access, above))?)
            }
            _ => None,
        };
        Ok(Resolved::View { view: Arc::clone(view), query, base: base.map(Box::new) })
    }

    fn named(&self, view: &'a View, range: &'a RangeVar) -> Option<&'a Relation> {
        let path = self.path.of_view(&view.search_path);
        match schema_of(range) {
            None if catalog_views::is_implicit(&range.relname) => None,
            schema => find_in(self.catalog, path, schema, &range.relname),
        }
    }
}

/// The parse tree of a view's query.
fn query_of(view: &View) -> Result<Box<SelectStmt>> {
    let wrong = || Error::new(SqlState::InternalError, "the text of a view is no query");
    let script = grammar::parse(&view.sql).map_err(|_| wrong())?;
    let statement = script.statements().first().and_then(|raw| raw.stmt.as_ref()?.node.as_ref());
    match statement {
        Some(NodeEnum::SelectStmt(query)) => Ok(query.clone()),
        _ => Err(wrong()),
    }
}
