//! The relations and columns in scope at a point of a statement.
//!
//! A walk over the statement reports each query and select that it enters and leaves. Columns whose
//! names only planning determines (expressions without an alias, functions in FROM) are unknown.

use super::relations::spelled;
use datafusion::logical_expr::TableSource;
use datafusion::sql::sqlparser::ast::{
    Expr, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias,
    TableFactor,
};
use parser::names::fold;
use std::collections::HashMap;
use std::sync::Arc;

/// The relations of a statement, by [`spelled`] name.
pub(super) type Sources = HashMap<String, Arc<dyn TableSource>>;

/// The scopes at a point of the statement.
pub(super) struct Scopes<'a> {
    sources: &'a Sources,
    /// The common table expressions of each enclosing query.
    tables: Vec<Vec<Relation>>,
    /// The relations that each enclosing select reads, innermost last.
    selects: Vec<Vec<Relation>>,
    /// For each enclosing query, the number of selects around it and whether its body is a single
    /// select, whose relations are in scope in ORDER BY.
    queries: Vec<(usize, bool)>,
}

/// A relation in scope.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    /// Its alias or name.
    pub(super) name: String,
    /// The qualifier of its name in FROM: a schema, or a database and a schema.
    pub(super) qualifier: Vec<String>,
    /// The names of its columns; `None` if unknown.
    pub(super) columns: Option<Vec<String>>,
    /// Whether it is a function in FROM that returns one value per row.
    pub(super) is_value: bool,
}

impl Relation {
    /// Whether it has a column of a name, or its columns are unknown.
    pub(super) fn may_have(&self, column: &String) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.contains(column))
    }
}

impl<'a> Scopes<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self { sources, tables: Vec::new(), selects: Vec::new(), queries: Vec::new() }
    }

    /// The walk enters a query.
    pub(super) fn enter_query(&mut self, query: &Query) {
        self.queries.push((self.selects.len(), matches!(&*query.body, SetExpr::Select(_))));
        self.tables.push(Vec::new());
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let relation = self.aliased(&table.alias, self.of_query(&table.query));
            if let Some(defined) = self.tables.last_mut() {
                defined.push(relation);
            }
        }
    }

    /// Whether the query that the walk has just entered has no columns. DataFusion panics if a
    /// value is taken from one.
    pub(super) fn has_no_columns(&self, query: &Query) -> bool {
        self.of_query(query).is_some_and(|columns| columns.is_empty())
    }

    /// The walk leaves the innermost query.
    pub(super) fn leave_query(&mut self) {
        self.tables.pop();
        let around = self.queries.pop().map_or(0, |(around, _)| around);
        self.selects.truncate(around);
    }

    /// The walk enters a select.
    pub(super) fn enter_select(&mut self, select: &Select) {
        let read = self.read_by(select);
        self.selects.push(read);
    }

    /// The walk leaves the innermost select.
    pub(super) fn leave_select(&mut self) {
        let depth = self.selects.len();
        let is_whole = |(around, is_select): &(usize, bool)| *is_select && around + 1 == depth;
        if !self.queries.last().is_some_and(is_whole) {
            self.selects.pop();
        }
    }

    /// The relations of the innermost select.
    pub(super) fn innermost(&self) -> &[Relation] {
        self.selects.last().map_or(&[], Vec::as_slice)
    }

    /// Whether an enclosing select reads a column of a name.
    pub(super) fn is_column(&self, name: &String) -> bool {
        let relations = self.selects.iter().flatten();
        relations.flat_map(|relation| &relation.columns).any(|columns| columns.contains(name))
    }

    /// The relation of a name in the innermost select that reads one.
    pub(super) fn relation(&self, name: &str) -> Option<&Relation> {
        self.selects.iter().rev().flatten().find(|relation| relation.name == name)
    }

    /// The relations in FROM of a select.
    pub(super) fn read_by(&self, select: &Select) -> Vec<Relation> {
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
                vec![match alias {
                    Some(alias) => self.aliased(alias, columns),
                    None => {
                        let mut parts: Vec<String> =
                            name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
                        let own = parts.pop().unwrap_or_default();
                        Relation { name: own, qualifier: parts, columns, is_value: false }
                    }
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

    /// A relation under an alias, which may also rename its first columns.
    fn aliased(&self, alias: &TableAlias, columns: Option<Vec<String>>) -> Relation {
        let given: Vec<String> = alias.columns.iter().map(|column| fold(&column.name)).collect();
        let columns = match columns {
            Some(columns) => {
                let rest = columns.into_iter().skip(given.len());
                Some(given.into_iter().chain(rest).collect())
            }
            None => (!given.is_empty()).then_some(given),
        };
        Relation { name: fold(&alias.name), qualifier: Vec::new(), columns, is_value: false }
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

/// Whether a query is the rewritten form of a function in FROM that returns one value per row.
fn gives_a_value(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    select.from.is_empty()
        && matches!(
            &select.projection[..],
            [SelectItem::ExprWithAlias { expr: Expr::Function(_), .. }]
        )
}
