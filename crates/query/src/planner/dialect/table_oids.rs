//! `c.tableoid`: the id of the system table that a row is from. psql's `\dd` and pg_dump ask for it.

use super::build::{last, number};
use crate::planner::relations::fold;
use crate::system::shape;
use datafusion::sql::sqlparser::ast::{
    Expr, Select, Statement, TableFactor, VisitMut, VisitorMut, visit_expressions_mut,
};
use std::ops::ControlFlow;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Selects;
    impl VisitorMut for Selects {
        type Break = ();
        fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            of_select(select);
            ControlFlow::Continue(())
        }
    }
    let _ = statement.visit(&mut Selects);
}

fn of_select(select: &mut Select) {
    let tables: Vec<(String, i64)> = select
        .from
        .iter()
        .flat_map(|from| {
            std::iter::once(&from.relation).chain(from.joins.iter().map(|j| &j.relation))
        })
        .filter_map(system_table)
        .collect();
    if tables.is_empty() {
        return;
    }
    let _ = visit_expressions_mut(select, |expr| {
        let of = match expr {
            Expr::Identifier(column) if fold(column) == "tableoid" => tables.first(),
            Expr::CompoundIdentifier(parts) => match &parts[..] {
                [table, column] if fold(column) == "tableoid" => {
                    let table = fold(table);
                    tables.iter().find(|(name, _)| *name == table)
                }
                _ => None,
            },
            _ => None,
        };
        if let Some((_, oid)) = of {
            *expr = number(*oid);
        }
        ControlFlow::<()>::Continue(())
    });
}

/// The name by which a select knows a system table, with the table's id.
fn system_table(factor: &TableFactor) -> Option<(String, i64)> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let table = last(name);
    let shape = shape::of("pg_catalog", &table)?;
    Some((alias.as_ref().map_or(table, |alias| fold(&alias.name)), shape.oid))
}
