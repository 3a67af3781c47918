//! `c.tableoid` and `c.xmin`: columns of the system's tables that `*` does not show.
//!
//! The first is the id of the table that a row is from: psql's `\dd` and pg_dump ask for it. The second is the
//! transaction that wrote the row, by whose age DataGrip tells what it has to read again. Rows of the catalog are
//! computed when they are asked for: all are of the same transaction, and none is old (`age` is 0).

use super::build::{cast, last, number, take, text};
use crate::catalog_views::shape;
use crate::parser::names::fold;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor,
    VisitorMut,
};
use std::ops::ControlFlow;
use syntax::{Syntax, visit_expressions_mut, visit_mut};

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

/// The system tables that a select names.
fn system_tables(select: &Select) -> Vec<(String, i64)> {
    let relations = select.from.iter().flat_map(|from| {
        std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
    });
    relations.filter_map(system_table).collect()
}

/// A hidden column is called as it is, whatever stands in its place.
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

/// PostgreSQL's number of the first transaction that is none of its own.
const FIRST_TRANSACTION: &str = "3";

/// A column that `*` does not show.
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

/// The name by which a select knows a system table, with the table's id.
fn system_table(factor: &TableFactor) -> Option<(String, i64)> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let table = last(name);
    let shape = shape::of("pg_catalog", &table).filter(|shape| shape.kind == "r")?;
    Some((alias.as_ref().map_or(table, |alias| fold(&alias.name)), shape.oid))
}
