//! Rewrites PostgreSQL's SQL to forms that DataFusion accepts.
//!
//! Each module is one rewrite of the syntax tree and names the clients that need it. The rewrites
//! run in the order of `of_statement`, before name resolution. Each sees the result of those
//! before.

mod array_literals;
pub(super) mod array_queries;
pub(crate) mod build;
mod cast_arguments;
mod casts;
pub mod column_names;
mod composites;
mod constant_unions;
mod fetches;
mod flag_literals;
mod intervals;
mod json_aggregates;
pub mod like_escapes;
pub(crate) mod object_names;
mod operators;
mod qualified;
mod row_stars;
mod set_functions;
mod subscripts;
mod synonyms;
mod table_oids;
mod tuples;
mod value_rows;
mod whole_numbers;

use datafusion::sql::sqlparser::ast::{Expr, Statement, VisitorMut};
use parser::walk::visit_mut;
use std::ops::ControlFlow;

/// Rewrites a statement.
pub(crate) fn of_statement(mut statement: Statement) -> Statement {
    row_stars::rewrite(&mut statement);
    column_names::rewrite(&mut statement);
    whole_numbers::rewrite(&mut statement);
    fetches::rewrite(&mut statement);
    constant_unions::rewrite(&mut statement);
    value_rows::rewrite(&mut statement);
    cast_arguments::rewrite(&mut statement);
    table_oids::rewrite(&mut statement);
    set_functions::of_tables(&mut statement);
    let _ = visit_mut(&mut statement, &mut Expressions);
    object_names::show(&mut statement);
    statement
}

/// Rewrites an expression.
pub fn of_expression(mut expr: Expr) -> Expr {
    let _ = visit_mut(&mut expr, &mut Expressions);
    expr
}

/// The rewrites of single expressions, inner expressions first.
struct Expressions;

impl VisitorMut for Expressions {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        qualified::rewrite(expr);
        casts::rewrite(expr);
        intervals::rewrite(expr);
        whole_numbers::refuse_long(expr);
        synonyms::rewrite(expr);
        tuples::rewrite(expr);
        operators::rewrite(expr);
        like_escapes::rewrite(expr);
        object_names::rewrite(expr);
        array_literals::rewrite(expr);
        flag_literals::rewrite(expr);
        subscripts::rewrite(expr);
        composites::rewrite(expr);
        set_functions::rewrite(expr);
        json_aggregates::rewrite(expr);
        array_queries::rewrite(expr);
        ControlFlow::Continue(())
    }
}
