//! `indkey[0]`: subscripts of vectors begin at 0, those of arrays at 1. SQLAlchemy, DBeaver and
//! Rails use them.

use super::build::{column, number, take};
use catalog_views::shape;
use datafusion::sql::sqlparser::ast::{AccessExpr, BinaryOperator, Expr, Subscript};

pub(super) fn rewrite(expr: &mut Expr) {
    let (of, access) = match expr {
        Expr::CompoundFieldAccess { root, access_chain } => (column(root), access_chain),
        _ => return,
    };
    let dotted = access_chain_name(access);
    let Some(AccessExpr::Subscript(Subscript::Index { index })) = access.last_mut() else { return };
    if dotted.or(of).is_some_and(|name| is_vector(&name)) {
        let old = take(index);
        *index = Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(old))),
            op: BinaryOperator::Plus,
            right: Box::new(number(1)),
        };
    }
}

/// The column in `i.indkey[0]`, in which the parser reads `.indkey` as a field access.
fn access_chain_name(chain: &[AccessExpr]) -> Option<String> {
    match chain {
        [.., AccessExpr::Dot(name), AccessExpr::Subscript(_)] => column(name),
        _ => None,
    }
}

/// Whether a system table has a vector column of this name.
pub(super) fn is_vector(name: &str) -> bool {
    shape::all().any(|shape| {
        let column = shape.position(name).map(|position| &shape.columns[position]);
        column.is_some_and(|column| matches!(column.type_name, "int2vector" | "oidvector"))
    })
}
