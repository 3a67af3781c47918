//! Functions that give rows: `generate_subscripts(indkey, 1)` in a select list, and in FROM those whose arguments
//! come from the tables beside them, with or without ORDINALITY.
//!
//! SQLAlchemy and Npgsql use them in select lists, psql, DBeaver and pgjdbc in FROM. The engine has `unnest`,
//! which takes any array, in select lists; a function in FROM becomes a LATERAL select of it.

use super::array_queries::{query_of, select_of};
use super::build::{arguments, call, called, column, last, number};
use super::subscripts::is_vector;
use crate::functions::catalog::SUBSCRIPTS;
use crate::system::shape::{self, Shape};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, SelectItem, Statement, TableAlias,
    TableFactor, VisitMut, VisitorMut, visit_expressions,
};
use std::ops::ControlFlow;

/// In an expression: the functions that give rows become `unnest` of an array.
pub(super) fn rewrite(expr: &mut Expr) {
    let name = called(expr);
    let array = match name.as_deref() {
        Some("generate_subscripts") => {
            let Some(array) = arguments(expr).into_iter().next().cloned() else { return };
            subscripts(array)
        }
        Some("_pg_expandarray") => expr.clone(),
        _ => return,
    };
    *expr = call("unnest", vec![array]);
}

/// The subscripts of an array, as an array.
fn subscripts(array: Expr) -> Expr {
    let first = i64::from(!column(&array).is_some_and(|name| is_vector(&name)));
    call(SUBSCRIPTS, vec![array, number(first)])
}

/// In FROM.
pub(super) fn of_tables(statement: &mut Statement) {
    struct Tables;
    impl VisitorMut for Tables {
        type Break = ();
        fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
            as_relation(factor);
            if let Some(derived) = derived(factor) {
                *factor = derived;
            }
            ControlFlow::Continue(())
        }
    }
    let _ = statement.visit(&mut Tables);
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

    /// Whether the arguments come from other tables.
    fn is_lateral(&self) -> bool {
        let is_column =
            |expr: &Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        self.arguments.iter().any(|argument| {
            let found = visit_expressions(argument, |expr| match is_column(expr) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
            found.is_break()
        })
    }

    /// A function of one value, in FROM: a row with it.
    fn as_value(&self, lateral: bool) -> TableFactor {
        let name = self.alias.as_ref().map_or(self.name.as_str(), |alias| &alias.name.value);
        let alias = Ident::with_quote('"', name);
        let expr = call(&self.name, self.arguments.clone());
        self.select(vec![SelectItem::ExprWithAlias { expr, alias }], lateral)
    }

    /// A select of some items under the function's name.
    fn select(&self, items: Vec<SelectItem>, lateral: bool) -> TableFactor {
        let subquery = Box::new(query_of(select_of(items)));
        let alias = self.alias.clone().or_else(|| {
            let name = Ident::new(self.name.clone());
            Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None })
        });
        TableFactor::Derived { lateral, subquery, alias, sample: None }
    }

    /// The arrays whose elements are the rows, and what each column is called where nobody says.
    fn arrays(&self) -> Option<Vec<Expr>> {
        let mut arguments = self.arguments.iter().cloned();
        match self.name.as_str() {
            "unnest" => Some(self.arguments.clone()),
            "generate_series" | "range" => Some(vec![call(&self.name, arguments.collect())]),
            "generate_subscripts" => Some(vec![subscripts(arguments.next()?)]),
            "_pg_expandarray" => {
                let array = arguments.next()?;
                let numbers = numbers(array.clone());
                Some(vec![array, numbers])
            }
            _ => None,
        }
    }
}

/// The numbers of an array's elements, from 1.
pub(super) fn numbers(array: Expr) -> Expr {
    call(SUBSCRIPTS, vec![array, number(1)])
}

/// Whether the engine's own table functions take an argument.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) | Expr::Interval(_) | Expr::TypedString(_) => true,
        Expr::UnaryOp { expr, .. } | Expr::Cast { expr, .. } => is_constant(expr),
        _ => false,
    }
}

/// A function that gives rows, without arguments that matter: kept as a system table. The schema in front
/// of the engine's own table functions goes.
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

/// The function in FROM as a select; `None` where it can stay.
fn derived(factor: &TableFactor) -> Option<TableFactor> {
    let source = Source::of(factor)?;
    let lateral = source.is_lateral();
    let constant = source.arguments.iter().all(is_constant);
    let stays = match source.name.as_str() {
        "generate_series" | "range" => constant,
        "unnest" => !lateral,
        _ => false,
    };
    if stays && !source.with_ordinality {
        return None;
    }
    let Some(mut arrays) = source.arrays() else { return Some(source.as_value(lateral)) };
    if source.with_ordinality {
        arrays.push(numbers(arrays.first()?.clone()));
    }
    let default = source.alias.as_ref().map_or(source.name.as_str(), |alias| &alias.name.value);
    let ordinality = source.with_ordinality.then(|| arrays.len() - 1);
    let item = |(index, array): (usize, Expr)| {
        let name = match (source.name.as_str(), index) {
            (_, index) if Some(index) == ordinality => "ordinality".to_owned(),
            ("_pg_expandarray", 0) => "x".to_owned(),
            ("_pg_expandarray", _) => "n".to_owned(),
            (_, 0) => default.to_owned(),
            (_, index) => format!("{default}_{index}"),
        };
        let expr = call("unnest", vec![array]);
        SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) }
    };
    let items = arrays.into_iter().enumerate().map(item).collect();
    Some(source.select(items, lateral))
}
