//! Queries: WITH, the body, ORDER BY and LIMIT.

use super::scope::{Clause, Scope};
use super::{Binder, names};
use crate::error::{Error, Result};
use crate::system::Oid;
use crate::tree::{Body, Expr, Limit, Query};
use grammar::tree::{LimitOption, Node, NodeEnum, SelectStmt, SetOperation};

/// The most queries within each other, also as sides of set operations.
const LEVELS_MAX: usize = 100;

impl Binder<'_> {
    /// Binds a query on a level of its own.
    pub(super) fn query(&mut self, statement: &SelectStmt) -> Result<Query> {
        if self.scopes.len() >= LEVELS_MAX {
            return Err(super::expression::too_deep());
        }
        let select = self.next_select();
        self.scopes.push(Scope::new(select));
        let bound = grammar::growing(|| self.query_here(statement));
        self.scopes.pop();
        bound
    }

    fn query_here(&mut self, statement: &SelectStmt) -> Result<Query> {
        if statement.into_clause.is_some() {
            return Err(Error::missing("INTO here"));
        }
        let with = match &statement.with_clause {
            Some(clause) => self.with_clause(clause)?,
            None => Vec::new(),
        };
        let mut query = if statement.op() != SetOperation::SetopNone
            && statement.op() != SetOperation::Undefined
        {
            match super::long_union::queries(statement) {
                Some(queries) => self.long_union(statement, &queries)?,
                None => self.set_operation(statement)?,
            }
        } else if !statement.values_lists.is_empty() {
            self.values(statement)?
        } else {
            self.select(statement)?
        };
        query.limit = self.limit(statement)?;
        if query.limit.with_ties && query.order_by.is_empty() {
            let message = "WITH TIES cannot be specified without ORDER BY clause";
            return Err(Error::new("42601", message));
        }
        query.with = self.finish_with(with);
        self.check_locking(statement, &query)?;
        Ok(query)
    }

    fn limit(&mut self, statement: &SelectStmt) -> Result<Limit> {
        let with_ties = statement.limit_option() == LimitOption::WithTies;
        let count = self.limit_bound(statement.limit_count.as_deref(), Clause::Limit, with_ties)?;
        let offset = self.limit_bound(statement.limit_offset.as_deref(), Clause::Offset, false)?;
        Ok(Limit { count, offset, with_ties })
    }

    fn limit_bound(
        &mut self,
        node: Option<&Node>,
        clause: Clause,
        with_ties: bool,
    ) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        // LIMIT ALL is a null constant.
        if let NodeEnum::AConst(constant) = names::node(Some(node))?
            && constant.isnull
        {
            return match with_ties {
                true => {
                    let message = "row count cannot be null in FETCH FIRST ... WITH TIES clause";
                    Err(Error::new("2201W", message))
                }
                false => Ok(None),
            };
        }
        let bound = self.in_clause(clause, |binder| binder.required(Some(node)))?;
        let location = bound.location.0;
        let own = self.scopes.len().saturating_sub(1);
        if self.deepest(&bound) == Some(own) {
            let message = format!("argument of {} must not contain variables", clause.name());
            return Err(Error::new("42P10", message).at(location));
        }
        self.coerce_to_int8(bound, clause.name()).map(Some)
    }

    /// Gives literals of unknown type in a select list their type, text.
    pub(super) fn settle_outputs(&mut self, query: &mut Query) -> Result<()> {
        let Body::Select(select) = &mut query.body else { return Ok(()) };
        for (output, column) in select.output.iter_mut().zip(&mut query.columns) {
            if output.expr.sql_type.oid == Oid::UNKNOWN {
                let expr = output.expr.clone();
                output.expr = self.coerce_implicitly(expr, Oid::TEXT)?;
                column.sql_type = output.expr.sql_type;
            }
        }
        Ok(())
    }
}
