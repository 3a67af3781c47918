//! Long chains of UNION over constants: `SELECT 1 UNION ALL SELECT 2 ...`.
//!
//! They become one VALUES, which the engine plans faster than as many queries. Runs after [`column_names`](super::column_names),
//! which gives the columns of the first query their names.

use super::build::take;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement,
    TableFactor, Value, VisitorMut,
};
use parser::chains::SHORT;
use parser::walk::visit_mut;
use std::ops::ControlFlow;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Queries;
    impl VisitorMut for Queries {
        type Break = ();

        fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            if let Some(body) = as_values(&mut query.body) {
                *query.body = body;
            }
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Queries);
}

/// The VALUES of a long chain of constants. A body that is not one is left unchanged.
fn as_values(body: &mut SetExpr) -> Option<SetExpr> {
    let SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, .. } = body else {
        return None;
    };
    let quantifier = *set_quantifier;
    let names = names(&operands(body, quantifier)?)?;
    let rows: Vec<Vec<Expr>> = operands_mut(body, quantifier).into_iter().map(row).collect();
    selected(&names, rows, quantifier == SetQuantifier::All)
}

/// The names of the columns, if all queries of a long chain are constants in as many columns.
fn names(selects: &[&Select]) -> Option<Vec<Ident>> {
    let first = selects.first()?;
    let width = first.projection.len();
    let is_row = |select: &&Select| is_constant(select) && select.projection.len() == width;
    if selects.len() <= SHORT || width == 0 || !selects.iter().all(is_row) {
        return None;
    }
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        _ => None,
    };
    first.projection.iter().map(name).collect()
}

/// The queries of a chain, from left to right; `None` unless all are plain.
fn operands(body: &SetExpr, quantifier: SetQuantifier) -> Option<Vec<&Select>> {
    let (mut selects, mut open) = (Vec::new(), vec![body]);
    while let Some(part) = open.pop() {
        match part {
            SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, left, right }
                if *set_quantifier == quantifier =>
            {
                open.extend([&**right, &**left]);
            }
            SetExpr::Select(select) => selects.push(&**select),
            _ => return None,
        }
    }
    Some(selects)
}

fn operands_mut(body: &mut SetExpr, quantifier: SetQuantifier) -> Vec<&mut Select> {
    let (mut selects, mut open) = (Vec::new(), vec![body]);
    while let Some(part) = open.pop() {
        match part {
            SetExpr::SetOperation { op: SetOperator::Union, set_quantifier, left, right }
                if *set_quantifier == quantifier =>
            {
                open.extend([&mut **right, &mut **left]);
            }
            SetExpr::Select(select) => selects.push(&mut **select),
            _ => {}
        }
    }
    selects
}

/// Whether a query is a list of constants and nothing else.
fn is_constant(select: &Select) -> bool {
    let constants = select.projection.iter().all(|item| match item {
        SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => is_literal(expr),
        _ => false,
    });
    let written = Select { projection: Vec::new(), ..select.clone() };
    constants && written.to_string() == "SELECT"
}

fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => !matches!(value.value, Value::Placeholder(_)),
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => is_literal(inner),
        Expr::Cast { expr: inner, .. } => is_literal(inner),
        _ => false,
    }
}

fn row(select: &mut Select) -> Vec<Expr> {
    let value = |item: &mut SelectItem| match item {
        SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => Some(take(expr)),
        _ => None,
    };
    select.projection.iter_mut().filter_map(value).collect()
}

/// `SELECT column1 AS name ... FROM (VALUES ...)`
fn selected(names: &[Ident], rows: Vec<Vec<Expr>>, is_all: bool) -> Option<SetExpr> {
    let columns = (1..).zip(names).map(|(number, name)| format!("column{number} AS {name}"));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let distinct = if is_all { "" } else { "DISTINCT" };
    let text = format!("SELECT {distinct} {columns} FROM (VALUES (NULL)) AS \"?union\"");
    let Ok(Statement::Query(query)) = parser::parse_sql(&text) else { return None };
    let mut body = *query.body;
    let SetExpr::Select(select) = &mut body else { return None };
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else {
        return None;
    };
    let SetExpr::Values(values) = &mut *subquery.body else { return None };
    let template = values.rows.pop()?;
    values.rows.extend(rows.into_iter().map(|content| {
        let mut row = template.clone();
        row.content = content;
        row
    }));
    Some(body)
}
