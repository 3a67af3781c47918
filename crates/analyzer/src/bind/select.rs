//! SELECT.

use super::Binder;
use super::comparable::comparable;
use super::group::Grouping;
use super::names;
use super::scope::Clause;
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::tree::{Body, Column, Distinct, Expr, Kind, Limit, Output, Query, Select, SortKey};
use grammar::tree::{NodeEnum, SelectStmt};

impl Binder<'_> {
    pub(super) fn select(&mut self, statement: &SelectStmt) -> Result<Query> {
        self.window_names(statement)?;
        let from = self.bind_from(&statement.from_clause)?;
        let output =
            self.in_clause(Clause::Targets, |binder| binder.targets(&statement.target_list))?;
        let filter = self.condition(statement.where_clause.as_deref(), Clause::Where, "WHERE")?;
        let having =
            self.condition(statement.having_clause.as_deref(), Clause::Having, "HAVING")?;
        let mut output = output;
        let order_by = self.in_clause(Clause::OrderBy, |binder| {
            binder.sort_keys(&statement.sort_clause, &mut output)
        })?;
        let grouping = self.in_clause(Clause::GroupBy, |binder| {
            binder.group_by(&statement.group_clause, statement.group_distinct, &output)
        })?;
        let distinct = self.in_clause(Clause::DistinctOn, |binder| {
            binder.distinct_clause(statement, &mut output)
        })?;
        self.check_windows()?;
        let Some(scope) = self.scopes.last_mut() else { return Err(Error::missing("this query")) };
        let is_grouped = !statement.group_clause.is_empty()
            || having.is_some()
            || !scope.aggregates.is_empty()
            || !scope.groupings.is_empty();
        let mut select = Select {
            id: scope.select,
            from,
            filter,
            is_grouped,
            group_by: Vec::new(),
            grouping_sets: None,
            aggregates: std::mem::take(&mut scope.aggregates),
            having,
            windows: std::mem::take(&mut scope.windows),
            sets: std::mem::take(&mut scope.sets),
            output: std::mem::take(&mut output),
            distinct,
        };
        let mut order_by = order_by;
        self.check_distinct(&mut select, &order_by)?;
        if is_grouped {
            self.group(&mut select, &mut order_by, grouping)?;
        }
        let columns = select
            .output
            .iter()
            .map(|output| Column { name: output.name.clone(), sql_type: output.expr.sql_type });
        let columns = columns.collect();
        let limit = Limit::default();
        Ok(Query {
            with: Vec::new(),
            body: Body::Select(Box::new(select)),
            order_by,
            limit,
            columns,
        })
    }

    fn window_names(&mut self, statement: &SelectStmt) -> Result<()> {
        for node in &statement.window_clause {
            let NodeEnum::WindowDef(definition) = names::node(Some(node))? else { continue };
            let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
            if scope.window_definitions.iter().any(|known| known.name == definition.name) {
                let message = format!("window \"{}\" is already defined", definition.name);
                return Err(Error::new("42P20", message).at(definition.location));
            }
            scope.window_definitions.push((**definition).clone());
        }
        Ok(())
    }

    /// WHERE or HAVING.
    pub(super) fn condition(
        &mut self,
        node: Option<&grammar::tree::Node>,
        clause: Clause,
        name: &str,
    ) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let expr = self.in_clause(clause, |binder| binder.required(Some(node)))?;
        self.coerce_to_bool(expr, name).map(Some)
    }

    fn distinct_clause(
        &mut self,
        statement: &SelectStmt,
        output: &mut [Output],
    ) -> Result<Option<Distinct>> {
        let Some(first) = statement.distinct_clause.first() else { return Ok(None) };
        // Plain DISTINCT is a list of one empty node.
        if first.node.is_none() {
            for item in output {
                if item.expr.sql_type.oid == Oid::UNKNOWN {
                    item.expr = self.coerce_implicitly(item.expr.clone(), Oid::TEXT)?;
                }
                comparable("=", item.expr.sql_type.oid, item.expr.location.0)?;
            }
            return Ok(Some(Distinct::All));
        }
        let mut keys: Vec<Expr> = Vec::new();
        for node in &statement.distinct_clause {
            let key = self.output_or_expression(names::node(Some(node))?, output, "DISTINCT ON")?;
            comparable("=", self.type_of_key(&key, output), key.location.0)?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(Some(Distinct::On(keys)))
    }

    fn type_of_key(&self, key: &Expr, output: &[Output]) -> Oid {
        match key.kind {
            Kind::Output(at) => output.get(at).map_or(Oid::TEXT, |item| item.expr.sql_type.oid),
            _ => key.sql_type.oid,
        }
    }

    /// ORDER BY of a DISTINCT query sorts what the query shows.
    fn check_distinct(&self, select: &mut Select, order_by: &[SortKey]) -> Result<()> {
        match &select.distinct {
            None => Ok(()),
            Some(Distinct::All) => {
                match order_by.iter().find(|key| !matches!(key.expr.kind, Kind::Output(_))) {
                    None => Ok(()),
                    Some(key) => {
                        let message =
                            "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                        Err(Error::new("42P10", message).at(key.expr.location.0))
                    }
                }
            }
            Some(Distinct::On(keys)) => {
                // The first keys of ORDER BY are those of DISTINCT ON, in any order.
                let is_first = |key: &&SortKey| keys.contains(&key.expr);
                let (first, others) =
                    order_by.split_at(order_by.iter().take_while(is_first).count());
                let in_first = |on: &Expr| first.iter().any(|key| key.expr == *on);
                let is_later = |on: &&Expr| others.iter().any(|key| key.expr == **on);
                let unmatched = || keys.iter().filter(|on| !in_first(on));
                let misplaced = unmatched().find(is_later).or_else(|| unmatched().next());
                match misplaced.filter(|_| !others.is_empty()) {
                    Some(on) => {
                        let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
                        Err(Error::new("42P10", message).at(on.location.0))
                    }
                    None => Ok(()),
                }
            }
        }
    }

    pub(super) fn group(
        &mut self,
        select: &mut Select,
        order_by: &mut [SortKey],
        grouping: Grouping,
    ) -> Result<()> {
        let groupings = match self.scopes.last_mut() {
            Some(scope) => std::mem::take(&mut scope.groupings),
            None => Vec::new(),
        };
        self.replace_keys(select, order_by, grouping, groupings)
    }
}
