//! Set-returning functions: `generate_subscripts(indkey, 1)` in a select list, and functions in
//! FROM whose arguments are columns of preceding tables, with or without ORDINALITY.
//!
//! SQLAlchemy and Npgsql use them in select lists, psql, DBeaver and pgjdbc in FROM. In a select
//! list they become `unnest` of an array. In FROM they become a LATERAL select of `unnest`.

use super::array_queries::{query_of, select_of};
use super::build::{arguments, call, called, column, last, number};
use super::subscripts::is_vector;
use catalog_views::functions::SUBSCRIPTS;
use catalog_views::shape;
use catalog_views::shape::Shape;
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, SelectItem, Statement, TableAlias,
    TableAliasColumnDef, TableFactor, VisitorMut,
};
use functions::arrays::series::SERIES;
use functions::json::rows::{ROWS_FUNCTIONS, RowsColumn};
use parser::walk::{visit_expressions, visit_mut};
use std::ops::ControlFlow;

/// Turns a set-returning function in an expression into `unnest` of an array.
pub(super) fn rewrite(expr: &mut Expr) {
    let Some(name) = called(expr) else { return };
    let array = match name.as_str() {
        "generate_subscripts" => {
            let Some(array) = arguments(expr).into_iter().next().cloned() else { return };
            subscripts(array)
        }
        "generate_series" => call(SERIES, arguments(expr).into_iter().cloned().collect()),
        "_pg_expandarray" => expr.clone(),
        other => {
            let document = arguments(expr).into_iter().cloned().collect();
            if let [column] = &json_columns(other, document)[..] {
                *expr = column.values();
            }
            return;
        }
    };
    *expr = call("unnest", vec![array]);
}

/// The columns of a function that returns rows from JSON; empty for any other function.
fn json_columns(name: &str, document: Vec<Expr>) -> Vec<Column> {
    let function = ROWS_FUNCTIONS.iter().find(|function| function.name == name);
    let columns = function.map_or(&[][..], |function| function.columns);
    let column = |column: &RowsColumn| Column {
        name: column.name,
        array: call(column.values, document.clone()),
        marker: column.marker,
    };
    columns.iter().map(column).collect()
}

/// The names and values of the fields that a set-returning function of several columns returns;
/// empty for any other function.
pub(super) fn fields(expr: &Expr) -> Vec<(String, Expr)> {
    let Some(name) = called(expr) else { return Vec::new() };
    let arguments = arguments(expr).into_iter().cloned().collect();
    let columns = Source { name, arguments, with_ordinality: false, alias: None }.columns();
    let named = |column: Column| Some((column.name?.to_owned(), column.values()));
    columns.into_iter().flatten().filter_map(named).collect()
}

/// A column of a function in FROM.
struct Column {
    /// Its name; `None` if it has the name of the table.
    name: Option<&'static str>,
    /// The array whose elements are the values.
    array: Expr,
    /// The function that marks the type of a value.
    marker: Option<&'static str>,
}

impl Column {
    fn new(name: Option<&'static str>, array: Expr) -> Self {
        Self { name, array, marker: None }
    }

    /// The values, one per row.
    fn values(&self) -> Expr {
        let value = call("unnest", vec![self.array.clone()]);
        match self.marker {
            Some(marker) => call(marker, vec![value]),
            None => value,
        }
    }
}

/// The subscripts of an array, as an array.
fn subscripts(array: Expr) -> Expr {
    let first = i64::from(!column(&array).is_some_and(|name| is_vector(&name)));
    call(SUBSCRIPTS, vec![array, number(first)])
}

/// Rewrites the set-returning functions in FROM.
pub(super) fn of_tables(statement: &mut Statement) {
    struct Tables;
    impl VisitorMut for Tables {
        type Break = ();
        fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
            as_relation(factor);
            match derived(factor) {
                Some(derived) => *factor = derived,
                None => name_column(factor),
            }
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Tables);
}

/// A function in FROM.
struct Source {
    name: String,
    arguments: Vec<Expr>,
    with_ordinality: bool,
    alias: Option<TableAlias>,
}

impl Source {
    fn of(factor: &TableFactor) -> Option<Self> {
        let plain = |args: &[FunctionArg]| -> Option<Vec<Expr>> {
            args.iter()
                .map(|arg| match arg {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
                    _ => None,
                })
                .collect()
        };
        let (name, arguments, with_ordinality, alias) = match factor {
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
                (last(name), plain(&args.args)?, *with_ordinality, alias.clone())
            }
            TableFactor::Function { name, args, with_ordinality, alias, .. } => {
                (last(name), plain(args)?, *with_ordinality, alias.clone())
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                ("unnest".to_owned(), array_exprs.clone(), *with_ordinality, alias.clone())
            }
            _ => return None,
        };
        Some(Self { name, arguments, with_ordinality, alias })
    }

    /// Whether an argument refers to a column.
    fn is_lateral(&self) -> bool {
        let is_column =
            |expr: &Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        self.arguments.iter().any(|argument| {
            let found = visit_expressions(argument, |expr| {
                if is_column(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            found.is_break()
        })
    }

    /// Whether an argument contains a subquery.
    fn has_subquery(&self) -> bool {
        let found = visit_expressions(&self.arguments, |expr| match expr {
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
        found.is_break()
    }

    /// A scalar function in FROM: one row with its value.
    fn as_value(&self, lateral: bool) -> TableFactor {
        let name = self.alias.as_ref().map_or(self.name.as_str(), |alias| &alias.name.value);
        let alias = Ident::with_quote('"', name);
        let expr = call(&self.name, self.arguments.clone());
        self.select(vec![SelectItem::ExprWithAlias { expr, alias }], lateral)
    }

    /// A select of some items under the alias or name of the function.
    fn select(&self, items: Vec<SelectItem>, lateral: bool) -> TableFactor {
        let subquery = Box::new(query_of(select_of(items)));
        let alias = self.alias.clone().or_else(|| {
            let name = Ident::new(self.name.clone());
            Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None })
        });
        TableFactor::Derived { lateral, subquery, alias, sample: None }
    }

    /// The columns of a set-returning function; `None` for a scalar function.
    fn columns(&self) -> Option<Vec<Column>> {
        let mut arguments = self.arguments.iter().cloned();
        let unnamed = |array| Column::new(None, array);
        Some(match self.name.as_str() {
            "unnest" => self.arguments.iter().cloned().map(unnamed).collect(),
            "generate_series" => vec![unnamed(call(SERIES, arguments.collect()))],
            "range" => vec![unnamed(call(&self.name, arguments.collect()))],
            "generate_subscripts" => vec![unnamed(subscripts(arguments.next()?))],
            "_pg_expandarray" => {
                let array = arguments.next()?;
                let numbers = numbers(array.clone());
                vec![Column::new(Some("x"), array), Column::new(Some("n"), numbers)]
            }
            other => {
                let columns = json_columns(other, arguments.collect());
                return (!columns.is_empty()).then_some(columns);
            }
        })
    }
}

/// The subscripts of an array from 1, as an array.
pub(super) fn numbers(array: Expr) -> Expr {
    call(SUBSCRIPTS, vec![array, number(1)])
}

/// Whether DataFusion's table functions accept an argument.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) | Expr::Interval(_) | Expr::TypedString(_) => true,
        Expr::UnaryOp { expr, .. } | Expr::Cast { expr, .. } => is_constant(expr),
        _ => false,
    }
}

/// Turns functions that are implemented as system tables into tables. Removes the schema of table
/// functions.
fn as_relation(factor: &mut TableFactor) {
    let TableFactor::Table { name, args, .. } = factor else { return };
    if args.is_none() {
        return;
    }
    let function = last(name);
    let in_catalog = name.0.len() == 1 || name.0[0].to_string() == "pg_catalog";
    if !in_catalog {
        return;
    }
    if shape::of("pg_catalog", &function).is_some_and(Shape::is_function) {
        *args = None;
        *name = ObjectName::from(vec![Ident::new("pg_catalog"), Ident::new(function)]);
    } else {
        *name = ObjectName::from(vec![Ident::new(function)]);
    }
}

/// Names the column of a function that stays in FROM like the table: `FROM generate_series(1, 3) n`
/// has the column `n.n`.
fn name_column(factor: &mut TableFactor) {
    let (function, alias) = match factor {
        TableFactor::Table { name, args: Some(_), alias, .. } => (last(name), alias),
        TableFactor::UNNEST { array_exprs, alias, .. } if array_exprs.len() == 1 => {
            ("unnest".to_owned(), alias)
        }
        _ => return,
    };
    if !matches!(function.as_str(), "generate_series" | "range" | "unnest") {
        return;
    }
    if let Some(alias) = alias.as_mut().filter(|alias| alias.columns.is_empty()) {
        let name = alias.name.clone();
        alias.columns = vec![TableAliasColumnDef { name, data_type: None }];
    }
}

/// The function in FROM as a select; `None` if it stays.
fn derived(factor: &TableFactor) -> Option<TableFactor> {
    let source = Source::of(factor)?;
    let lateral = source.is_lateral();
    let stays = match source.name.as_str() {
        "generate_series" => !lateral && !source.has_subquery(),
        "range" => source.arguments.iter().all(is_constant),
        "unnest" => !lateral,
        _ => false,
    };
    if stays && !source.with_ordinality {
        return None;
    }
    let Some(mut columns) = source.columns() else { return Some(source.as_value(lateral)) };
    if source.with_ordinality {
        columns.push(Column::new(Some("ordinality"), numbers(columns.first()?.array.clone())));
    }
    let default = source.alias.as_ref().map_or(source.name.as_str(), |alias| &alias.name.value);
    let item = |(index, column): (usize, Column)| {
        let name = match (column.name, index) {
            (Some(name), _) => name.to_owned(),
            (None, 0) => default.to_owned(),
            (None, index) => format!("{default}_{index}"),
        };
        let expr = column.values();
        SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) }
    };
    let items = columns.into_iter().enumerate().map(item).collect();
    Some(source.select(items, lateral))
}
