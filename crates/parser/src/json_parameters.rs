//! Adds casts to parameters that a client declares as `json` or `jsonb`.
//!
//! Their values arrive as text. A parameter that is assigned to a column or compared with one takes
//! the column's type and stays as it is, so that the statement can still take the short path.
//! Elsewhere (`$1 -> 'a'`, `f($1)`, `SELECT $1`) the parameter gets a cast.

use crate::placeholders::placeholder;
use crate::statement::Statement;
use crate::walk::visit_mut;
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Select, SelectItem,
    VisitorMut,
};
use functions::json::operators;
use std::ops::ControlFlow;
use store::catalog::SqlType;

impl Statement {
    /// The statement with casts on `json` and `jsonb` parameters. `types` are the types that the
    /// client declared for `$1`, `$2`, ...; `None` if it declared none.
    pub fn with_parameters(self, types: &[Option<SqlType>]) -> Self {
        if types.iter().flatten().any(|known| name(known).is_some())
            && let Some(ast) = self.ast()
        {
            let mut ast = ast.clone();
            let _ = visit_mut(&mut ast, &mut Parameters(types));
            return self.with_ast(ast);
        }
        self
    }
}

fn name(sql_type: &SqlType) -> Option<DataType> {
    match sql_type {
        SqlType::Json => Some(DataType::JSON),
        SqlType::Jsonb => Some(DataType::JSONB),
        _ => None,
    }
}

struct Parameters<'a>(&'a [Option<SqlType>]);

impl Parameters<'_> {
    fn add_cast(&self, expr: &mut Expr) {
        let Some(number) = placeholder(expr) else { return };
        let known = self.0.get(number).and_then(|known| known.as_ref());
        let Some(data_type) = known.and_then(name) else { return };
        let (kind, inner) = (CastKind::DoubleColon, Box::new(expr.clone()));
        *expr = Expr::Cast { kind, expr: inner, data_type, array: false, format: None };
    }
}

impl VisitorMut for Parameters<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::BinaryOp { left, op, right } if operators::is_known(&op.to_string()) => {
                self.add_cast(left);
                self.add_cast(right);
            }
            Expr::Function(function) => {
                let FunctionArguments::List(list) = &mut function.args else {
                    return ControlFlow::Continue(());
                };
                for argument in &mut list.args {
                    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument {
                        self.add_cast(argument);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                self.add_cast(expr);
            }
        }
        ControlFlow::Continue(())
    }
}
