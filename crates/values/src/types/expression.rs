//! Types of expressions.

use super::field::of_field;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, ExprSchemable};
use store::catalog::SqlType;

/// Functions that return one of their arguments.
pub const CHOICE_FUNCTIONS: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// The type of an expression; `None` if it has none yet: a quoted constant, NULL or a parameter. The engine loses the
/// types that Arrow does not have in CASE and in [`CHOICE_FUNCTIONS`].
pub fn of_expression(expr: &Expr, schema: &DFSchema) -> Option<SqlType> {
    let of_any = |mut choices: Vec<&Expr>| {
        choices.drain(..).find_map(|choice| of_expression(choice, schema))
    };
    match expr {
        // A literal that fits is an integer; the plan is changed later.
        Expr::Literal(ScalarValue::Int64(Some(number)), None) if i32::try_from(*number).is_ok() => {
            Some(SqlType::Integer)
        }
        Expr::Literal(value, None) if value.is_null() || value.try_as_str().is_some() => None,
        Expr::Placeholder(Placeholder { field, .. }) => {
            let field = field.as_ref().filter(|field| !field.data_type().is_null())?;
            Some(of_field(field)).filter(|known| *known != SqlType::Text)
        }
        Expr::Alias(alias) => of_expression(&alias.expr, schema),
        Expr::Cast(cast) => Some(of_field(&cast.field)),
        Expr::Case(case) => {
            let thens = case.when_then_expr.iter().map(|(_, then)| &**then);
            of_any(thens.chain(case.else_expr.as_deref()).collect())
        }
        Expr::ScalarFunction(call) if CHOICE_FUNCTIONS.contains(&call.name()) => {
            of_any(call.args.iter().collect())
        }
        Expr::ScalarFunction(call) if call.name() == "array_element" => {
            match of_expression(call.args.first()?, schema)? {
                SqlType::Array(item) => Some(*item),
                _ => None,
            }
        }
        other => other.to_field(schema).ok().map(|(_, field)| of_field(&field)),
    }
}
