//! The rewrites of a statement that need its relations. They run after name resolution.

use super::scopes::{Scopes, Sources};
use super::{asterisks, ordered, outer_names, whole_rows};
use datafusion::sql::sqlparser::ast::{
    Expr, Query, Select, SetExpr, SetOperator, SetQuantifier, Statement, TableFactor, VisitorMut,
};
use parser::walk::visit_mut;
use std::ops::ControlFlow;
use values::error::{Error, Result, SqlState};

/// Rewrites the names of a statement to a form that DataFusion accepts.
///
/// # Errors
/// 42703 if a qualified name refers to a column that its table does not have; 42601 for a scalar
/// subquery without columns; 0A000 for TABLESAMPLE, INTERSECT ALL and EXCEPT ALL.
pub(super) fn of_statement(mut statement: Statement, sources: &Sources) -> Result<Statement> {
    match visit_mut(&mut statement, &mut Rewrites(Scopes::new(sources), None)) {
        ControlFlow::Continue(()) => Ok(statement),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The rewrites, and the message if the next query has no columns but must return one.
struct Rewrites<'a>(Scopes<'a>, Option<&'static str>);

impl VisitorMut for Rewrites<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.0.enter_query(query);
        match self.1.take().filter(|_| self.0.has_no_columns(query)) {
            Some(message) => ControlFlow::Break(Error::new(SqlState::SyntaxError, message)),
            None => ControlFlow::Continue(()),
        }
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Err(error) = refuse_repeated(&query.body) {
            return ControlFlow::Break(error);
        }
        ordered::rewrite(query, &self.0);
        self.0.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        match factor {
            TableFactor::Table { sample: Some(_), .. }
            | TableFactor::Derived { sample: Some(_), .. } => {
                let error = Error::unsupported("TABLESAMPLE is not supported");
                ControlFlow::Break(
                    error.with_hint("WHERE random() < 0.1 selects about a tenth of the rows."),
                )
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        self.0.enter_select(select);
        asterisks::rewrite(select, &self.0);
        whole_rows::of_items(select, &self.0);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<Error> {
        self.0.leave_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        self.1 = match expr {
            Expr::Subquery(_) => Some("subquery must return only one column"),
            _ => None,
        };
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        if let Err(error) = outer_names::rewrite(expr, &self.0) {
            return ControlFlow::Break(error);
        }
        whole_rows::rewrite(expr, &self.0);
        ControlFlow::Continue(())
    }
}

/// Rejects INTERSECT ALL and EXCEPT ALL: DataFusion does not count equal rows.
fn refuse_repeated(body: &SetExpr) -> Result<()> {
    let SetExpr::SetOperation { op, set_quantifier, left, right } = body else { return Ok(()) };
    if *set_quantifier == SetQuantifier::All && *op != SetOperator::Union {
        let hint = "Number equal rows with row_number() OVER (PARTITION BY ...) and omit ALL.";
        return Err(Error::unsupported(format!("{op} ALL is not supported")).with_hint(hint));
    }
    refuse_repeated(left)?;
    refuse_repeated(right)
}
