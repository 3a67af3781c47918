//! Parameters that a client sends as `json` or `jsonb`: their values are text, so the statement has to say what they are.
//!
//! Where a value goes into a column or is compared with one, the column says so, and the statement may be a short one:
//! those stay as they are. Elsewhere (`$1 -> 'a'`, `f($1)`, `SELECT $1`) a cast says it.

use super::Statement;
use crate::functions::json::operators;
use crate::parser::placeholders::placeholder;
use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Select, SelectItem,
    VisitorMut,
};
use std::ops::ControlFlow;
use store::catalog::SqlType;
use syntax::visit_mut;

impl Statement {
    /// The statement for parameters of these types, as far as the client says them.
    pub fn with_parameters(mut self, types: &[Option<SqlType>]) -> Self {
        if types.iter().flatten().any(|known| name(known).is_some()) {
            if let Some(ast) = self.ast_mut() {
                let _ = visit_mut(ast, &mut Parameters(types));
            }
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
    fn say(&self, expr: &mut Expr) {
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
                self.say(left);
                self.say(right);
            }
            Expr::Function(function) => {
                let FunctionArguments::List(list) = &mut function.args else {
                    return ControlFlow::Continue(());
                };
                for argument in &mut list.args {
                    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument {
                        self.say(argument);
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
                self.say(expr);
            }
        }
        ControlFlow::Continue(())
    }
}
