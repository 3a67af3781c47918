//! `ARRAY(SELECT x FROM ... ORDER BY y)`: an array of a query's rows. psql, SQLAlchemy and DBeaver
//! use it.
//!
//! It becomes an aggregate: `(SELECT array_agg(x ORDER BY y) FROM ...)`.

use super::build::{called, number};
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, Ident, OrderByExpr,
    OrderByKind, Query, Select, SelectItem, SetExpr, TableAlias, TableAliasColumnDef, TableFactor,
    TableWithJoins, Value,
};

pub(super) fn rewrite(expr: &mut Expr) {
    if called(expr).as_deref() != Some("array") {
        return;
    }
    let Expr::Function(Function { args: FunctionArguments::Subquery(query), .. }) = expr else {
        return;
    };
    let mut query = std::mem::replace(&mut **query, empty());
    if aggregate_in_place(&mut query).is_none() {
        query = around(query);
    }
    // Without rows the aggregate is NULL, but the array must be empty.
    let none = super::build::call("make_array", Vec::new());
    *expr = super::build::call("coalesce", vec![Expr::Subquery(Box::new(query)), none]);
}

/// A query without rows and clauses, to be filled.
pub(crate) fn empty() -> Query {
    Query {
        with: None,
        body: Box::new(SetExpr::Values(datafusion::sql::sqlparser::ast::Values {
            explicit_row: false,
            value_keyword: false,
            rows: Vec::new(),
        })),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// Puts the aggregate into the select list of a plain query; `None` if the query is not plain.
fn aggregate_in_place(query: &mut Query) -> Option<()> {
    if query.limit_clause.is_some() || query.fetch.is_some() || query.with.is_some() {
        return None;
    }
    let SetExpr::Select(select) = &mut *query.body else { return None };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    if select.distinct.is_some() || grouped || select.having.is_some() || select.from.is_empty() {
        return None;
    }
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        &mut select.projection[..]
    else {
        return None;
    };
    if matches!(called(item).as_deref(), Some("unnest" | "array_agg" | "string_agg")) {
        return None;
    }
    let element = item.clone();
    let order = match query.order_by.take().map(|order| order.kind) {
        Some(OrderByKind::Expressions(order)) => order,
        _ => Vec::new(),
    };
    let by_element = |order: OrderByExpr| match &order.expr {
        Expr::Value(value) if matches!(value.value, Value::Number(..)) => {
            OrderByExpr { expr: element.clone(), ..order }
        }
        _ => order,
    };
    let order = order.into_iter().map(by_element).collect();
    *item = aggregate(element.clone(), order);
    Some(())
}

fn aggregate(element: Expr, order: Vec<OrderByExpr>) -> Expr {
    let mut call = super::build::call("array_agg", vec![element]);
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut call
        && !order.is_empty()
    {
        list.clauses.push(FunctionArgumentClause::OrderBy(order));
    }
    call
}

/// `SELECT array_agg(element) FROM (query) AS elements(element)`
fn around(query: Query) -> Query {
    let column = TableAliasColumnDef::from_name("element");
    let alias = TableAlias {
        explicit: true,
        name: Ident::new("elements"),
        columns: vec![column],
        at: None,
    };
    let subquery = Box::new(query);
    let relation =
        TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
    let element = Expr::Identifier(Ident::new("element"));
    let item = SelectItem::UnnamedExpr(aggregate(element, Vec::new()));
    let mut outer = select_of(vec![item]);
    outer.from = vec![TableWithJoins { relation, joins: Vec::new() }];
    Query { body: Box::new(SetExpr::Select(Box::new(outer))), ..empty() }
}

/// A select of some items without FROM.
pub(crate) fn select_of(projection: Vec<SelectItem>) -> Select {
    let mut select = blank_select();
    select.projection = projection;
    select
}

/// A query that is one select.
pub(crate) fn query_of(select: Select) -> Query {
    Query { body: Box::new(SetExpr::Select(Box::new(select))), ..empty() }
}

/// A select without items. The parser creates it, because `Select` has many fields and no default.
fn blank_select() -> Select {
    use datafusion::sql::sqlparser::{dialect::PostgreSqlDialect, parser::Parser};
    let parsed = Parser::new(&PostgreSqlDialect {})
        .try_with_sql("SELECT 1")
        .and_then(|mut parser| parser.parse_query());
    match parsed.map(|query| *query.body) {
        Ok(SetExpr::Select(select)) => *select,
        _ => unreachable!("{} is a select", number(1)),
    }
}
