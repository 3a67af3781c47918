//! The origin of result columns: the table and the column that each returns unchanged.
//!
//! PostgreSQL reports it to clients, which use it for updatable result sets, table names and
//! nullability. A column keeps its origin through aliases, joins, subqueries and grouping.
//! Expressions and columns of a UNION have none. The columns of a view originate from the view.

use catalog_views::catalog_tables::declared;
use catalog_views::pg_catalog::class::Class;
use catalog_views::pg_catalog::oids;
use catalog_views::search_path::SearchPath;
use datafusion::common::TableReference;
use datafusion::logical_expr::{Distinct, Expr, JoinType, LogicalPlan};
use store::catalog::{Catalog, Relation, SqlType, Table};
use values::field::{Field, Origin};

/// Finds origins by the names of the tables in a plan.
pub(super) struct Origins<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) search_path: SearchPath<'a>,
}

/// The origin of a result column, and its declared type if it is a column of a user's table.
pub(super) struct Found {
    pub(super) origin: Origin,
    pub(super) sql_type: Option<SqlType>,
}

impl Origins<'_> {
    /// The origin of a column of a plan.
    pub(super) fn of(&self, plan: &LogicalPlan, column: usize) -> Option<Found> {
        match plan {
            LogicalPlan::TableScan(scan) => {
                let column = match &scan.projection {
                    Some(projection) => *projection.get(column)?,
                    None => column,
                };
                self.of_relation(&scan.table_name, column)
            }
            LogicalPlan::SubqueryAlias(alias) => match self.class(&alias.alias) {
                Some(Class::Relation(Relation::View(_))) => self.of_relation(&alias.alias, column),
                _ => self.of(&alias.input, column),
            },
            LogicalPlan::Projection(projection) => {
                self.of_expression(projection.expr.get(column)?, &projection.input)
            }
            LogicalPlan::Aggregate(aggregate) => {
                self.of_expression(aggregate.group_expr.get(column)?, &aggregate.input)
            }
            LogicalPlan::Distinct(Distinct::All(input)) => self.of(input, column),
            LogicalPlan::Distinct(Distinct::On(on)) => {
                self.of_expression(on.select_expr.get(column)?, &on.input)
            }
            LogicalPlan::Join(join) => {
                let left = join.left.schema().fields().len();
                match join.join_type {
                    JoinType::RightSemi | JoinType::RightAnti => self.of(&join.right, column),
                    _ if column < left => self.of(&join.left, column),
                    _ => self.of(&join.right, column.checked_sub(left)?),
                }
            }
            LogicalPlan::Window(window) => {
                let input = window.input.schema().fields().len();
                (column < input).then(|| self.of(&window.input, column))?
            }
            LogicalPlan::Filter(filter) => self.of(&filter.input, column),
            LogicalPlan::Sort(sort) => self.of(&sort.input, column),
            LogicalPlan::Limit(limit) => self.of(&limit.input, column),
            _ => None,
        }
    }

    fn of_expression(&self, expression: &Expr, input: &LogicalPlan) -> Option<Found> {
        match expression {
            Expr::Alias(alias) => self.of_expression(&alias.expr, input),
            Expr::Column(column) => self.of(input, input.schema().maybe_index_of_column(column)?),
            _ => None,
        }
    }

    fn of_relation(&self, name: &TableReference, column: usize) -> Option<Found> {
        let class = self.class(name)?;
        let sql_type = match class {
            Class::Relation(Relation::Table(table)) => {
                declared(table).nth(column).map(|(_, column)| column.sql_type.clone())
            }
            _ => None,
        };
        let origin = Origin {
            table: u32::try_from(class.oid()).ok()?,
            column: i16::try_from(column + 1).ok()?,
        };
        Some(Found { origin, sql_type })
    }

    fn class(&self, name: &TableReference) -> Option<Class<'_>> {
        Class::by_name(self.catalog, self.search_path, name.schema(), name.table())
    }
}

/// The description of a result column that returns a column of a table unchanged.
pub fn field_of(table: &Table, index: usize) -> Field {
    let column = &table.columns[index];
    let number = table.columns[..=index].iter().filter(|column| !column.hidden).count();
    let origin = || {
        let table = u32::try_from(oids::relation(table.id.relation())).ok()?;
        Some(Origin { table, column: i16::try_from(number).ok()? })
    };
    let origin = if column.hidden { None } else { origin() };
    Field { origin, ..Field::new(column.name.clone(), column.sql_type.clone()) }
}
