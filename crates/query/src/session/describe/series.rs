//! The types of parameters of `generate_series`: the type of the other arguments, else `integer`.

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, ObjectName, Statement, TableFactor, Value, Visitor,
};
use parser::names::fold;
use parser::placeholders::placeholder;
use parser::walk::visit;
use std::ops::ControlFlow;
use store::catalog::SqlType;
use values::types;

/// Receives the number of a parameter, from zero, and its type.
type Learn<'a> = dyn FnMut(usize, &SqlType) + 'a;

/// Reports the types of parameters of `generate_series` in FROM.
pub(super) fn look_at(ast: &Statement, learn: &mut Learn<'_>) {
    let _ = visit(ast, &mut Series(learn));
}

struct Series<'a, 'b>(&'a mut Learn<'b>);

impl Visitor for Series<'_, '_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let (name, args) = match factor {
            TableFactor::Table { name, args: Some(args), .. } => (name, &args.args),
            TableFactor::Function { name, args, .. } => (name, args),
            _ => return ControlFlow::Continue(()),
        };
        if is_series(name) {
            let plain = args.iter().filter_map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                _ => None,
            });
            self.arguments(&plain.collect::<Vec<_>>());
        }
        ControlFlow::Continue(())
    }
}

impl Series<'_, '_> {
    fn arguments(&mut self, args: &[&Expr]) {
        let known = args.iter().take(2).find_map(|arg| written_type(arg));
        let known = known.unwrap_or(SqlType::Integer);
        let is_moment = matches!(known, SqlType::Timestamp | SqlType::TimestampTz | SqlType::Date);
        for (index, arg) in args.iter().enumerate() {
            if let Some(number) = placeholder(arg) {
                let step = if is_moment { &SqlType::Interval } else { &known };
                (self.0)(number, if index == 2 { step } else { &known });
            }
        }
    }
}

fn is_series(name: &ObjectName) -> bool {
    let last = name.0.last().and_then(|part| part.as_ident()).map(fold);
    last.as_deref() == Some("generate_series")
}

/// The type of a literal or cast argument.
fn written_type(expr: &Expr) -> Option<SqlType> {
    match expr {
        Expr::Cast { data_type, .. } => types::from_ast(data_type).ok(),
        Expr::TypedString(typed) => types::from_ast(&typed.data_type).ok(),
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => written_type(inner),
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => {
                let digits = digits.to_string();
                Some(if digits.parse::<i32>().is_ok() {
                    SqlType::Integer
                } else if digits.parse::<i64>().is_ok() {
                    SqlType::BigInt
                } else {
                    SqlType::NUMERIC
                })
            }
            _ => None,
        },
        _ => None,
    }
}
