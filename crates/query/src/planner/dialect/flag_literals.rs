//! `indisprimary = 'f'`: truth values of the system's tables that are compared with text. Rails asks so.

use super::build::{column, literal_text};
use crate::catalog_views::shape;
use crate::values::cells::Form;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value};

pub(super) fn rewrite(expr: &mut Expr) {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right } = expr
    else {
        return;
    };
    let flag = match literal_text(right) {
        Some("t" | "true") => true,
        Some("f" | "false") => false,
        _ => return,
    };
    if column(left).is_some_and(|name| is_flag(&name)) {
        **right = Expr::value(Value::Boolean(flag));
    }
}

/// Whether a name is that of a system table's column of truth values, and of no other column.
fn is_flag(name: &str) -> bool {
    let mut forms =
        shape::all().filter_map(|shape| Some(shape.columns[shape.position(name)?].form));
    let first = forms.next();
    first == Some(Form::Flag) && forms.all(|form| form == Form::Flag)
}
