//! INSERT, UPDATE, DELETE and MERGE.
//!
//! Each becomes a query of rows: those to insert, or those that the table has, with their new values behind them.

mod assignment;
mod conflict;
mod insert;
mod merge;
mod modify;
mod order;
mod part;
mod returning;
mod view;

use super::from::{self, Part};
use super::scope::{Item, Scope};
use super::{Binder, Table, names};
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::tree::{
    Action, Change, Cte, Expr, From, Kind, Main, Output, Query, RelationId, Select, Statement,
    ViewCheck,
};
use grammar::tree::{Node, NodeEnum, RangeVar, ResTarget, WithClause};
use std::sync::Arc;
use view::{BoundView, Event};

pub use view::{ChangedView, CheckOption, TargetRelation};

/// The table that a statement changes, or the view through which it does.
struct Target {
    /// The table. The defaults of its columns are those of the view, if that has any.
    table: Table,
    relation: RelationId,
    from: From,
    event: Event,
    view: Option<(Arc<ChangedView>, BoundView)>,
}

impl Binder<'_> {
    /// Binds a statement, with the changes in its WITH.
    pub(super) fn statement(&mut self, node: &NodeEnum) -> Result<Statement> {
        let mut main = match node {
            NodeEnum::SelectStmt(select) => {
                let mut query = self.query(select)?;
                self.settle_outputs(&mut query)?;
                Main::Query(Box::new(query))
            }
            change => Main::Change(Box::new(self.change(change)?)),
        };
        let mut changes = std::mem::take(&mut self.changes);
        let with = match &mut main {
            Main::Query(query) => &mut query.with,
            Main::Change(change) => change.with_mut(),
        };
        // Each part has the queries in WITH that it reads.
        for (place, named) in &mut changes {
            let needed = order::reached(&[named.id], &self.reads_of);
            let earlier = with.iter().take(*place).filter(|cte| needed.contains(&cte.id));
            drop(named.change.with_mut().splice(0..0, earlier.cloned()));
        }
        if !changes.is_empty() {
            let needed = order::reached(&self.reads, &self.reads_of);
            with.retain(|cte| needed.contains(&cte.id));
        }
        let changes = changes.into_iter().map(|(_, change)| change).collect();
        let (changes, before) = order::of_execution(changes, &self.reads, &self.reads_of);
        Ok(Statement { changes, before, main })
    }

    /// Binds a statement that changes rows.
    pub(super) fn change(&mut self, statement: &NodeEnum) -> Result<Change> {
        let select = self.next_select();
        self.scopes.push(Scope::new(select));
        let change = grammar::growing(|| match statement {
            NodeEnum::InsertStmt(insert) => self.insert(insert),
            NodeEnum::UpdateStmt(update) => self.update(update),
            NodeEnum::DeleteStmt(delete) => self.delete(delete),
            NodeEnum::MergeStmt(merge) => self.merge(merge),
            _ => Err(Error::missing("this statement")),
        });
        self.scopes.pop();
        change
    }

    fn with_of_change(&mut self, clause: Option<&WithClause>) -> Result<Vec<Cte>> {
        clause.map_or(Ok(Vec::new()), |clause| self.with_clause(clause))
    }

    /// Looks up the target of a statement, and adds its name to the level.
    fn target(&mut self, range: Option<&RangeVar>, event: Event) -> Result<Target> {
        let range = range.ok_or_else(|| Error::missing("this form"))?;
        let relation = self.target_relation(range)?;
        self.target_named(range, relation, event)
    }

    fn target_relation(&self, range: &RangeVar) -> Result<TargetRelation> {
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        let name = range.relname.as_str();
        let found = self.catalog.target(schema, name);
        found.map_err(|error| error.at(range.location))?.ok_or_else(|| {
            let shown = schema.map_or(name.to_owned(), |schema| format!("{schema}.{name}"));
            Error::new("42P01", format!("relation \"{shown}\" does not exist")).at(range.location)
        })
    }

    fn target_named(
        &mut self,
        range: &RangeVar,
        target: TargetRelation,
        event: Event,
    ) -> Result<Target> {
        let relation = self.next_relation();
        let alias = range.alias.as_ref().map(|alias| alias.aliasname.as_str());
        let shown = alias.unwrap_or(&range.relname);
        let (table, view) = match target {
            TargetRelation::Table(table) => (table, None),
            TargetRelation::View(view) => {
                let bound = self.bind_view(&view, relation, event, false)?;
                (bound.table(&view)?, Some((view, bound)))
            }
        };
        let schema = table.schema.as_deref().filter(|_| alias.is_none());
        let Part { from, mut items, .. } = from::part_of(relation, shown, schema, &table);
        if view.is_none() {
            self.note_rows_of(relation, &table);
            self.tables.insert(relation, false);
            let has_address = matches!(event, Event::Update | Event::Delete);
            let address = table.address().filter(|_| has_address);
            self.addresses.extend(address.map(|address| (relation, address)));
        }
        if let Some((view, bound)) = &view {
            let schema = alias.is_none().then(|| view.schema.clone());
            items = vec![bound.item(shown, schema)];
        }
        for item in &mut items {
            item.aliased = alias.map(|_| range.relname.clone());
        }
        // Items of FROM see it neither as a name nor by LATERAL.
        self.add_items(items, false)?;
        Ok(Target { table, relation, from, event, view })
    }

    /// The row that an INSERT had to insert, as a name of ON CONFLICT.
    fn excluded_item(&mut self, target: &Target, relation: RelationId) -> Result<Vec<Item>> {
        const NAME: &str = "excluded";
        Ok(match &target.view {
            None => from::part_of(relation, NAME, None, &target.table).items,
            Some((view, _)) => {
                vec![self.bind_view(view, relation, target.event, false)?.item(NAME, None)]
            }
        })
    }

    /// The level's query of rows.
    fn rows(
        &mut self,
        with: Vec<Cte>,
        from: Vec<From>,
        filter: Option<Expr>,
        output: Vec<Output>,
    ) -> Result<Query> {
        let scope = self.scopes.last_mut().ok_or_else(|| Error::missing("this statement"))?;
        let sets = std::mem::take(&mut scope.sets);
        let select = Select { filter, sets, ..Select::plain(scope.select, from, output) };
        Ok(Query { with: self.finish_with(with), ..Query::from(select) })
    }
}

impl Target {
    /// The position in the table of the column that a statement assigns to.
    fn column(&self, assigned: &ResTarget) -> Result<usize> {
        let at = self.named(assigned)?;
        self.place(at)
    }

    /// The value that a column has.
    fn value(&self, at: usize) -> Expr {
        Expr::new(Kind::Column(self.relation, at), self.table.columns[at].sql_type, -1)
    }

    /// The position in the table or the view of a named column.
    fn named(&self, assigned: &ResTarget) -> Result<usize> {
        let (name, location) = (&assigned.name, assigned.location);
        let found = match &self.view {
            Some((_, bound)) => bound.position(name),
            None => {
                let mut columns = self.table.columns.iter().enumerate();
                let is_meant = |at: &usize, known: &str| {
                    known == name.as_str() && !self.table.hidden.contains(at)
                };
                columns.find(|(at, column)| is_meant(at, &column.name)).map(|(at, _)| at)
            }
        };
        found.ok_or_else(|| {
            let relation = self.view.as_ref().map_or(&self.table.name, |(view, _)| &view.name);
            let message = format!("column \"{name}\" of relation \"{relation}\" does not exist");
            Error::new("42703", message).at(location)
        })
    }

    /// The position in the table of a column of the table or the view.
    fn place(&self, at: usize) -> Result<usize> {
        match &self.view {
            Some((_, bound)) => bound.place(at, self.event),
            None => Ok(at),
        }
    }

    /// The positions of all columns that names find, in the table or the view.
    fn positions(&self) -> Vec<usize> {
        match &self.view {
            Some((_, bound)) => (0..bound.width()).collect(),
            None => {
                let all = 0..self.table.columns.len();
                all.filter(|at| !self.table.hidden.contains(at)).collect()
            }
        }
    }

    /// The name by which a statement knows a column of the table.
    fn name_of(&self, column: usize) -> &str {
        let of_view = self.view.as_ref().and_then(|(_, bound)| bound.name_of(column));
        of_view.unwrap_or(&self.table.columns[column].name)
    }

    /// The error for a column that gets two values.
    fn assigned_twice(&self, column: usize) -> Error {
        let name = &self.table.columns[column].name;
        Error::new("42601", format!("multiple assignments to same column \"{name}\""))
    }

    /// Whether DEFAULT of a column is that of the table.
    fn has_own_default(&self, column: usize) -> bool {
        !self.view.as_ref().is_some_and(|(_, bound)| bound.has_default(column))
    }

    /// The conditions of the views through which rows are changed, and a condition of the statement.
    fn filter(&self, filter: Option<Expr>) -> Option<Expr> {
        let of_views = self.view.iter().flat_map(|(_, bound)| bound.filters.iter().cloned());
        let mut all: Vec<Expr> = of_views.chain(filter).collect();
        match all.len() {
            0 | 1 => all.pop(),
            _ => Some(Expr::new(Kind::And(all), Oid::BOOL, -1)),
        }
    }

    /// What new rows must fulfil.
    fn checks(&self) -> Vec<ViewCheck> {
        self.view.as_ref().map_or_else(Vec::new, |(_, bound)| bound.checks.clone())
    }

    /// The change, with what every change has.
    fn change(self, action: Action, returning: Option<Vec<Output>>) -> Change {
        let checks = match &action {
            Action::Insert(_) | Action::Update { .. } => self.checks(),
            Action::Delete { .. } | Action::Merge(_) => Vec::new(),
        };
        Change { table: self.table.handle, relation: self.relation, action, returning, checks }
    }

    /// All columns of the table, as a query returns them.
    fn output(&self) -> impl Iterator<Item = Output> {
        let columns = self.table.columns.iter().enumerate();
        columns.map(|(at, column)| Output { name: column.name.clone(), expr: self.value(at) })
    }
}

/// An assignment, or the name of a column that gets values.
fn assigned(node: &Node) -> Result<&ResTarget> {
    match names::node(Some(node))? {
        NodeEnum::ResTarget(target) => Ok(target),
        _ => Err(Error::missing("this form")),
    }
}
