//! UPDATE and DELETE.

use super::returning::OtherColumns;
use super::view::Event;
use crate::bind::Binder;
use crate::bind::scope::Clause;
use crate::error::Result;
use crate::tree::{Action, Change, Expr, From, Output};
use grammar::tree::{DeleteStmt, Node, UpdateStmt};

impl Binder<'_> {
    pub(super) fn update(&mut self, statement: &UpdateStmt) -> Result<Change> {
        let with = self.with_of_change(statement.with_clause.as_ref())?;
        let target = self.target(statement.relation.as_ref(), Event::Update)?;
        let (from, joins) = self.joined(target.from.clone(), &statement.from_clause)?;
        let (targets, values) = self.set_clause(&statement.target_list, &target)?;
        let filter = self.condition(statement.where_clause.as_deref(), Clause::Where, "WHERE")?;
        let mut returning = self.returning(statement.returning_clause.as_ref())?;
        let mut output: Vec<Output> = target.output().collect();
        let width = output.len();
        let new = |(at, expr): (usize, Expr)| Output { name: format!("?new{at}"), expr };
        output.extend(values.into_iter().enumerate().map(new));
        let mut others = OtherColumns::new(&from, target.relation, width);
        returning.iter_mut().flatten().for_each(|output| others.replace(&mut output.expr));
        output.extend(others.outputs);
        let rows = self.rows(with, from, target.filter(filter), output)?;
        let action = Action::Update { targets, rows, joins };
        Ok(target.change(action, returning))
    }

    pub(super) fn delete(&mut self, statement: &DeleteStmt) -> Result<Change> {
        let with = self.with_of_change(statement.with_clause.as_ref())?;
        let target = self.target(statement.relation.as_ref(), Event::Delete)?;
        let (from, joins) = self.joined(target.from.clone(), &statement.using_clause)?;
        let filter = self.condition(statement.where_clause.as_deref(), Clause::Where, "WHERE")?;
        let mut returning = self.returning(statement.returning_clause.as_ref())?;
        let mut output: Vec<Output> = target.output().collect();
        let mut others = OtherColumns::new(&from, target.relation, output.len());
        returning.iter_mut().flatten().for_each(|output| others.replace(&mut output.expr));
        output.extend(others.outputs);
        let rows = self.rows(with, from, target.filter(filter), output)?;
        let action = Action::Delete { rows, joins };
        Ok(target.change(action, returning))
    }

    /// The target with the other relations, and whether there are any.
    fn joined(&mut self, target: From, others: &[Node]) -> Result<(Vec<From>, bool)> {
        let mut from = vec![target];
        from.extend(self.bind_from(others)?);
        let joins = from.len() > 1;
        Ok((from, joins))
    }
}
