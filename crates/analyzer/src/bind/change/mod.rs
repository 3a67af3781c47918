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

use super::from::{self, Part};
use super::scope::Scope;
use super::{Binder, Table, names};
use crate::error::{Error, Result};
use crate::tree::{
    Change, Cte, Expr, From, Kind, Main, Output, Query, RelationId, Select, Statement,
};
use grammar::tree::{Node, NodeEnum, RangeVar, ResTarget, WithClause};

/// The table that a statement changes.
struct Target {
    table: Table,
    relation: RelationId,
    from: From,
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
    fn target(&mut self, range: Option<&RangeVar>) -> Result<Target> {
        let range = range.ok_or_else(|| Error::missing("this form"))?;
        let table = self.target_table(range)?;
        self.target_named(range, table)
    }

    fn target_table(&self, range: &RangeVar) -> Result<Table> {
        let schema = Some(range.schemaname.as_str()).filter(|schema| !schema.is_empty());
        let name = range.relname.as_str();
        let found = self.catalog.target(schema, name);
        found.map_err(|error| error.at(range.location))?.ok_or_else(|| {
            let shown = schema.map_or(name.to_owned(), |schema| format!("{schema}.{name}"));
            Error::new("42P01", format!("relation \"{shown}\" does not exist")).at(range.location)
        })
    }

    fn target_named(&mut self, range: &RangeVar, table: Table) -> Result<Target> {
        let relation = self.next_relation();
        let alias = range.alias.as_ref().map(|alias| alias.aliasname.as_str());
        let shown = alias.unwrap_or(&range.relname);
        let schema = table.schema.as_deref().filter(|_| alias.is_none());
        let Part { from, mut items, .. } = from::part_of(relation, shown, schema, &table);
        for item in &mut items {
            item.aliased = alias.map(|_| range.relname.clone());
        }
        // Items of FROM see it neither as a name nor by LATERAL.
        self.add_items(items, false)?;
        Ok(Target { table, relation, from })
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
    /// The position of the column that a statement assigns to.
    fn column(&self, assigned: &ResTarget) -> Result<usize> {
        let (name, location) = (&assigned.name, assigned.location);
        let mut columns = self.table.columns.iter().enumerate();
        let found =
            columns.find(|(at, column)| column.name == *name && !self.table.hidden.contains(at));
        let Some((at, _)) = found else {
            let table = &self.table.name;
            let message = format!("column \"{name}\" of relation \"{table}\" does not exist");
            return Err(Error::new("42703", message).at(location));
        };
        Ok(at)
    }

    /// Like [`Self::column`], for an assignment to all of the column.
    fn whole_column(&self, assigned: &ResTarget) -> Result<usize> {
        let at = self.column(assigned)?;
        match assigned.indirection.is_empty() {
            true => Ok(at),
            false => {
                let what = "an assignment to a part of a column is not supported here";
                Err(Error::new("0A000", what).at(assigned.location))
            }
        }
    }

    /// The value that a column has.
    fn value(&self, at: usize) -> Expr {
        Expr::new(Kind::Column(self.relation, at), self.table.columns[at].sql_type, -1)
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
