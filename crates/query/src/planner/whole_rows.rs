//! `row_to_json(t)`, `json_agg(t)`: a relation's name stands for its row, where a function makes JSON of it. The name of a
//! function in FROM that gives one value a row stands for the value: `e -> 'a'` with `jsonb_array_elements(j) e`.
//!
//! The engine has no values that are rows of a relation. So the row becomes its columns here, by name, which can be known
//! only after the statement's relations have been looked up.

use super::dialect::build::{call, text};
use super::relations::{fold, spelled};
use super::unique_names;
use crate::functions::json::build::ROW;
use crate::functions::json::gather::{ITEM, ROW_ITEM};
use crate::walk::visit_mut;
use datafusion::logical_expr::TableSource;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query, Select,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Statement, TableAlias, TableFactor,
    VisitorMut,
};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The relations that a statement names, with their columns.
type Sources = HashMap<String, Arc<dyn TableSource>>;

/// The statement with rows as the columns in them.
pub(super) fn of_statement(mut statement: Statement, sources: &Sources) -> Statement {
    let mut rows = Rows { sources, tables: Vec::new(), selects: Vec::new() };
    let _ = visit_mut(&mut statement, &mut rows);
    statement
}

/// What is known at a place of the statement.
struct Rows<'a> {
    sources: &'a Sources,
    /// What each WITH around the place defines.
    tables: Vec<Vec<Relation>>,
    /// What the selects around it read, innermost last.
    selects: Vec<Vec<Relation>>,
}

/// A relation by the name that it has there, and its columns; none where they are not known.
#[derive(Debug, Clone)]
struct Relation {
    name: String,
    columns: Option<Vec<String>>,
    /// It is a function that gives one value a row.
    is_value: bool,
}

impl VisitorMut for Rows<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.tables.push(Vec::new());
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let relation = self.aliased(&table.alias, self.of_query(&table.query));
            if let Some(defined) = self.tables.last_mut() {
                defined.push(relation);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.tables.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let read = self.read_by(select);
        self.selects.push(read);
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(Expr::Identifier(name)) = item
                && let Some(expr) = self.value(&fold(name))
            {
                *item = SelectItem::ExprWithAlias { expr, alias: name.clone() };
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.selects.pop();
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && let Some(value) = self.value(&fold(name))
        {
            *expr = value;
        }
        if let Expr::Function(function) = expr
            && is_about_json(function)
        {
            self.expand(function);
        }
        ControlFlow::Continue(())
    }
}

fn is_about_json(function: &Function) -> bool {
    let name = function.name.0.last().and_then(|part| part.as_ident()).map(fold);
    name.is_some_and(|name| {
        name.starts_with("json") || matches!(name.as_str(), "to_json" | "to_jsonb" | "row_to_json")
    })
}

impl Rows<'_> {
    /// Puts columns in the place of rows among a function's arguments.
    fn expand(&self, function: &mut Function) {
        let is_item = function.name.to_string() == ITEM;
        let FunctionArguments::List(list) = &mut function.args else { return };
        for argument in &mut list.args {
            let FunctionArg::Unnamed(argument) = argument else { continue };
            let Some(row) = self.row(argument) else { continue };
            if is_item {
                let Expr::Function(item) = call(ROW_ITEM, row) else { continue };
                *function = item;
                return;
            }
            *argument = FunctionArgExpr::Expr(call(ROW, row));
        }
    }

    /// The names and values of the row that an argument is.
    fn row(&self, argument: &FunctionArgExpr) -> Option<Vec<Expr>> {
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
                if self.is_column(&name) { None } else { self.row_of(&name) }
            }
            FunctionArgExpr::QualifiedWildcard(name) => {
                self.row_of(&fold(name.0.last()?.as_ident()?))
            }
            _ => None,
        }
    }

    fn is_column(&self, name: &String) -> bool {
        let relations = self.selects.iter().flatten();
        relations.flat_map(|relation| &relation.columns).any(|columns| columns.contains(name))
    }

    fn relation(&self, name: &str) -> Option<&Relation> {
        self.selects.iter().rev().flatten().find(|relation| relation.name == name)
    }

    fn row_of(&self, name: &str) -> Option<Vec<Expr>> {
        let columns = self.relation(name)?.columns.as_ref()?;
        let pair = |column: &String| [text(unique_names::shown(column)), column_of(name, column)];
        Some(columns.iter().flat_map(pair).collect())
    }

    /// The value that the name of a function in FROM stands for.
    fn value(&self, name: &String) -> Option<Expr> {
        let relation = self.relation(name).filter(|relation| relation.is_value)?;
        let column = relation.columns.as_ref()?.first()?;
        (!self.is_column(name)).then(|| column_of(name, column))
    }

    /// The relations in a select's FROM.
    fn read_by(&self, select: &Select) -> Vec<Relation> {
        let factors = select.from.iter().flat_map(|from| {
            std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
        });
        factors.flat_map(|factor| self.of_factor(factor)).collect()
    }

    fn of_factor(&self, factor: &TableFactor) -> Vec<Relation> {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let spelled = spelled(name);
                let defined = self.tables.iter().rev().flatten().find(|t| t.name == spelled);
                let columns = match defined {
                    Some(table) => table.columns.clone(),
                    None => self.sources.get(&spelled).map(|source| {
                        let schema = source.schema();
                        schema.fields().iter().map(|field| field.name().clone()).collect()
                    }),
                };
                let own = spelled.rsplit('.').next().unwrap_or_default().to_owned();
                vec![match alias {
                    Some(alias) => self.aliased(alias, columns),
                    None => Relation { name: own, columns, is_value: false },
                }]
            }
            TableFactor::Derived { subquery, alias: Some(alias), .. } => {
                let relation = self.aliased(alias, self.of_query(subquery));
                vec![Relation { is_value: gives_a_value(subquery), ..relation }]
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                let joined = table_with_joins.joins.iter().map(|join| &join.relation);
                let factors = std::iter::once(&table_with_joins.relation).chain(joined);
                factors.flat_map(|factor| self.of_factor(factor)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A relation under another name, its first columns too where the alias names some.
    fn aliased(&self, alias: &TableAlias, columns: Option<Vec<String>>) -> Relation {
        let given: Vec<String> = alias.columns.iter().map(|column| fold(&column.name)).collect();
        let columns = match columns {
            Some(columns) => {
                let rest = columns.into_iter().skip(given.len());
                Some(given.into_iter().chain(rest).collect())
            }
            None => (!given.is_empty()).then_some(given),
        };
        Relation { name: fold(&alias.name), columns, is_value: false }
    }

    /// The names of a query's columns.
    fn of_query(&self, query: &Query) -> Option<Vec<String>> {
        self.of_set(&query.body)
    }

    fn of_set(&self, body: &SetExpr) -> Option<Vec<String>> {
        match body {
            SetExpr::Select(select) => self.of_select(select),
            SetExpr::Query(query) => self.of_query(query),
            SetExpr::SetOperation { left, .. } => self.of_set(left),
            SetExpr::Values(values) => {
                let count = values.rows.first()?.content.len();
                Some((1..=count).map(|number| format!("column{number}")).collect())
            }
            _ => None,
        }
    }

    fn of_select(&self, select: &Select) -> Option<Vec<String>> {
        let read = self.read_by(select);
        let mut names = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::ExprWithAlias { alias, .. } => names.push(fold(alias)),
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => names.push(fold(name)),
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                    names.push(fold(parts.last()?));
                }
                SelectItem::Wildcard(_) => {
                    for relation in &read {
                        names.extend(relation.columns.clone()?);
                    }
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let name = fold(name.0.last()?.as_ident()?);
                    let relation = read.iter().find(|relation| relation.name == name)?;
                    names.extend(relation.columns.clone()?);
                }
                _ => return None,
            }
        }
        Some(names)
    }
}

fn column_of(relation: &str, column: &str) -> Expr {
    let parts = [relation, column].map(|part| Ident::with_quote('"', part));
    Expr::CompoundIdentifier(parts.to_vec())
}

/// Whether a query is what a function in FROM has become, one that gives one value a row.
fn gives_a_value(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    select.from.is_empty()
        && matches!(
            &select.projection[..],
            [SelectItem::ExprWithAlias { expr: Expr::Function(_), .. }]
        )
}
