//! Relation names as values: `row_to_json(t)`, `json_agg(t)`.
//!
//! As an argument of a JSON function, the name of a relation denotes its row. The name of a
//! function in FROM that returns one value per row denotes the value: `e -> 'a'` with
//! `jsonb_array_elements(j) e`. A field of a row, `(t).a`, is the column.
//!
//! DataFusion has no row values of relations. The row is replaced by its columns, by name, after
//! the relations have been looked up.

use super::dialect::build::{arguments, call, literal_text, text};
use super::scopes::Scopes;
use super::unique_names;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Select, SelectItem,
};
use functions::json::build::ROW;
use functions::json::gather::{ITEM, ROW_ITEM};
use parser::names::fold;

/// Replaces select items that name a function in FROM by its value, and keeps their names.
pub(super) fn of_items(select: &mut Select, scopes: &Scopes<'_>) {
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(Expr::Identifier(name)) = item
            && let Some(expr) = value(scopes, &fold(name))
        {
            *item = SelectItem::ExprWithAlias { expr, alias: name.clone() };
        }
    }
}

/// Replaces the rows in an expression by their columns.
pub(super) fn rewrite(expr: &mut Expr, scopes: &Scopes<'_>) {
    if let Expr::Identifier(name) = expr
        && let Some(value) = value(scopes, &fold(name))
    {
        *expr = value;
    }
    if let Some(column) = field(expr, scopes) {
        *expr = column;
    }
    if let Expr::Function(function) = expr
        && is_about_json(function)
    {
        expand(function, scopes);
    }
}

/// The column for a field of a relation's row: `(t).a`.
fn field(expr: &Expr, scopes: &Scopes<'_>) -> Option<Expr> {
    let Expr::Function(function) = expr else { return None };
    let is_field = function.name.to_string() == "get_field";
    let [Expr::Identifier(row), field] = &arguments(expr)[..] else { return None };
    let (row, field) = (fold(row), literal_text(field)?.to_owned());
    let columns = scopes.relation(&row).filter(|_| is_field && !scopes.is_column(&row))?;
    columns.may_have(&field).then(|| column_of(&row, &field))
}

fn is_about_json(function: &Function) -> bool {
    let name = function.name.0.last().and_then(|part| part.as_ident()).map(fold);
    name.is_some_and(|name| {
        name.starts_with("json") || matches!(name.as_str(), "to_json" | "to_jsonb" | "row_to_json")
    })
}

/// Replaces rows in the arguments of a function by their columns.
fn expand(function: &mut Function, scopes: &Scopes<'_>) {
    let is_item = function.name.to_string() == ITEM;
    let FunctionArguments::List(list) = &mut function.args else { return };
    for argument in &mut list.args {
        let FunctionArg::Unnamed(argument) = argument else { continue };
        let Some(row) = row(argument, scopes) else { continue };
        if is_item {
            let Expr::Function(item) = call(ROW_ITEM, row) else { continue };
            *function = item;
            return;
        }
        *argument = FunctionArgExpr::Expr(call(ROW, row));
    }
}

/// The names and values of an argument that is a row.
fn row(argument: &FunctionArgExpr, scopes: &Scopes<'_>) -> Option<Vec<Expr>> {
    let pair = |name: String, value: Expr| [text(unique_names::shown(&name)), value];
    match argument {
        FunctionArgExpr::Expr(Expr::Function(row))
            if row.name.to_string().eq_ignore_ascii_case("row") =>
        {
            let FunctionArguments::List(list) = &row.args else { return None };
            let values = list.args.iter().zip(1..).map(|(value, number)| match value {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => {
                    Some(pair(format!("f{number}"), value.clone()))
                }
                _ => None,
            });
            Some(values.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
        }
        FunctionArgExpr::Expr(Expr::Tuple(values)) => {
            let values = values.iter().cloned().zip(1..);
            Some(values.flat_map(|(value, n)| pair(format!("f{n}"), value)).collect())
        }
        FunctionArgExpr::Expr(Expr::Identifier(name)) => {
            let name = fold(name);
            if scopes.is_column(&name) { None } else { row_of(scopes, &name) }
        }
        FunctionArgExpr::QualifiedWildcard(name) => {
            row_of(scopes, &fold(name.0.last()?.as_ident()?))
        }
        _ => None,
    }
}

fn row_of(scopes: &Scopes<'_>, name: &str) -> Option<Vec<Expr>> {
    let columns = scopes.relation(name)?.columns.as_ref()?;
    let pair = |column: &String| [text(unique_names::shown(column)), column_of(name, column)];
    Some(columns.iter().flat_map(pair).collect())
}

/// The value of a function in FROM, by its name.
fn value(scopes: &Scopes<'_>, name: &String) -> Option<Expr> {
    let relation = scopes.relation(name).filter(|relation| relation.is_value)?;
    let column = relation.columns.as_ref()?.first()?;
    (!scopes.is_column(name)).then(|| column_of(name, column))
}

fn column_of(relation: &str, column: &str) -> Expr {
    let parts = [relation, column].map(|part| Ident::with_quote('"', part));
    Expr::CompoundIdentifier(parts.to_vec())
}
