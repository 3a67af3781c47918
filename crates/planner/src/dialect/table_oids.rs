//! `c.tableoid` and `c.xmin`: columns of system tables that `*` does not include.
//!
//! `tableoid` is the id of the table, used by psql's `\dd` and pg_dump. `xmin` is the transaction
//! that wrote the row. DataGrip uses its age to decide what to read again. Catalog rows are
//! computed on demand, so all have the same transaction, and `age` is 0.

use super::build::{cast, last, number, take, text};
use catalog_views::shape;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor,
    VisitorMut,
};
use parser::names::fold;
use parser::walk::{Syntax, visit_expressions_mut, visit_mut};
use std::ops::ControlFlow;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Selects;
    impl VisitorMut for Selects {
        type Break = ();
        fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            let tables = system_tables(select);
            if !tables.is_empty() {
                select.projection.iter_mut().for_each(keep_name);
                replace(select, &tables);
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            if let (SetExpr::Select(select), Some(order)) = (&*query.body, &mut query.order_by) {
                replace(order, &system_tables(select));
            }
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Selects);
}

/// The system tables in FROM, by name or alias, with their ids.
fn system_tables(select: &Select) -> Vec<(String, i64)> {
    let relations = select.from.iter().flat_map(|from| {
        std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
    });
    relations.filter_map(system_table).collect()
}

/// Gives a hidden column an alias, because its expression is replaced.
fn keep_name(item: &mut SelectItem) {
    let SelectItem::UnnamedExpr(expr) = item else { return };
    let name = match expr {
        Expr::Identifier(name) => Some(&*name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    if let Some(alias) = name.filter(|name| Hidden::named(name).is_some()).cloned() {
        *item = SelectItem::ExprWithAlias { expr: take(expr), alias };
    }
}

fn replace<T: Syntax>(node: &mut T, tables: &[(String, i64)]) {
    let _ = visit_expressions_mut(node, |expr| {
        let of = match expr {
            Expr::Identifier(column) => tables.first().zip(Hidden::named(column)),
            Expr::CompoundIdentifier(parts) => match &parts[..] {
                [table, column] => {
                    let table = fold(table);
                    let table = tables.iter().find(|(name, _)| *name == table);
                    table.zip(Hidden::named(column))
                }
                _ => None,
            },
            _ => None,
        };
        match of {
            Some(((_, oid), Hidden::TableId)) => *expr = number(*oid),
            Some((_, Hidden::Writer)) => *expr = cast(text(FIRST_TRANSACTION), xid()),
            None => {}
        }
        ControlFlow::<()>::Continue(())
    });
}

/// PostgreSQL's first normal transaction id.
const FIRST_TRANSACTION: &str = "3";

/// A column that `*` does not include.
#[derive(Clone, Copy)]
enum Hidden {
    TableId,
    Writer,
}

impl Hidden {
    fn named(column: &Ident) -> Option<Self> {
        match fold(column).as_str() {
            "tableoid" => Some(Self::TableId),
            "xmin" => Some(Self::Writer),
            _ => None,
        }
    }
}

fn xid() -> DataType {
    DataType::Custom(ObjectName::from(vec![Ident::new("xid")]), Vec::new())
}

/// The alias or name of a system table in FROM, with its id.
fn system_table(factor: &TableFactor) -> Option<(String, i64)> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let table = last(name);
    let shape = shape::of("pg_catalog", &table).filter(|shape| shape.kind == "r")?;
    Some((alias.as_ref().map_or(table, |alias| fold(&alias.name)), shape.oid))
}
