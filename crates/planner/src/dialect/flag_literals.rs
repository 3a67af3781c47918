//! `indisprimary = 'f'`: boolean columns of system tables that are compared with text, as in Rails.

use super::build::{column, literal_text};
use catalog_views::shape;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value};
use values::cells::Form;

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

/// Whether all columns of a name in system tables are boolean, and there is one.
fn is_flag(name: &str) -> bool {
    let mut forms =
        shape::all().filter_map(|shape| Some(shape.columns[shape.position(name)?].form));
    let first = forms.next();
    first == Some(Form::Flag) && forms.all(|form| form == Form::Flag)
}
