//! Looks up the relations of a statement: tables, views, system tables, files.

use super::Planner;
use super::deep;
use super::results::stored_type;
use super::unique_names;
use catalog_views::ViewColumns;
use catalog_views::access::{Access, FileUse};
use catalog_views::relation_names::find_named;
use datafusion::catalog::view::ViewTable;
use datafusion::datasource::TableProvider;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, col};
use parser::commands::RelationName;
use parser::nesting;
use scan::files;
use scan::provider::{BucketTable, Columns};
use std::sync::Arc;
use store::catalog::{Privileges, Relation, View};
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// How many views may be expanded within each other.
const VIEWS_DEEP: usize = 256;

impl Planner<'_> {
    /// The relation of a name in lower or mixed case, as the catalog has it. `None` if there is none.
    ///
    /// # Errors
    /// Missing privileges, views that cannot be planned.
    pub async fn relation(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(relation) = self.transition(schema, name) {
            return Ok(Some(Arc::clone(relation)));
        }
        let implicit = schema.is_none() && catalog_views::is_implicit(name);
        let catalog = self.tables.catalog();
        let named = RelationName { schema: schema.map(str::to_owned), name: name.to_owned() };
        let relation = find_named(catalog, self.search_path, &named)?;
        if let Some(relation) = relation.filter(|_| !implicit) {
            self.access.require(relation, Privileges::SELECT)?;
            return match relation {
                Relation::Table(table) => {
                    let columns = if self.row_ids { Columns::WithRowId } else { Columns::Declared };
                    let view = self.tables.table(table.id);
                    Ok(view.map(|view| Arc::new(BucketTable::new(view, columns)) as _))
                }
                Relation::View(view) if self.expanded.contains(&view.id) => {
                    Err(endless(&view.name))
                }
                Relation::View(view) => Box::pin(self.view(view)).await.map(Some),
                Relation::Sequence(sequence) => {
                    Ok(Some(catalog_views::sequence_table(self.engine, sequence)?))
                }
                Relation::Index(index) => {
                    let message = format!("cannot open relation \"{}\"", index.file.name);
                    Err(Error::new(SqlState::WrongObjectType, message)
                        .with_detail("This operation is not supported for indexes."))
                }
            };
        }
        if let Some(schema) = schema.filter(|name| catalog.schema(name).is_some()) {
            self.access.require_schema(schema, Privileges::USAGE)?;
        }
        let (engine, access, tables) = (self.engine, self.access, self.tables);
        let of_cluster = catalog_views::cluster_table(engine, access, tables, schema, name);
        let of_cluster = of_cluster.await?;
        if of_cluster.is_some() {
            return Ok(of_cluster);
        }
        let views = if catalog_views::lists_view_columns(schema, name) {
            Box::pin(self.view_columns()).await
        } else {
            ViewColumns::default()
        };
        catalog_views::table(engine, self.functions, access, tables, &views, schema, name)
    }

    /// The rows of a file, or of the files of a pattern.
    ///
    /// # Errors
    /// 42501 without the privilege to read files; a file that cannot be read.
    pub async fn file(&self, path: &str) -> Result<Arc<dyn TableProvider>> {
        self.access.require_files(FileUse::Read)?;
        files::table(self.engine, path).await
    }

    /// # Errors
    /// 54001 for a view on too many views, and as [`view_plan`](Self::view_plan).
    /// What reads a view. The user needs no privileges on the view itself.
    ///
    /// # Errors
    /// As of [`Self::view_plan`].
    pub async fn view(&self, view: &View) -> Result<Arc<dyn TableProvider>> {
        self.refuse_deep_views()?;
        let plan = self.view_plan(view).await?;
        Ok(Arc::new(ViewTable::new(plan, Some(view.sql.clone()))))
    }

    /// The logical plan of a view's query, with the column names of the view.
    ///
    /// # Errors
    /// What is wrong with the query.
    pub async fn view_plan(&self, view: &View) -> Result<LogicalPlan> {
        let planner = self.of_view(view);
        deep::Growing(Box::pin((self.plan_view)(&planner, view))).await
    }

    /// A planner for a view's query: with the privileges of its owner and its search path.
    pub fn of_view<'b>(&'b self, view: &'b View) -> Planner<'b> {
        let mut planner = Planner::new(
            self.engine,
            self.functions,
            self.access.of_view(view),
            self.tables,
            self.search_path.of_view(&view.search_path),
            &[],
            self.plan_view,
        );
        planner.user_functions = self.user_functions.clone();
        planner.shown = self.shown.clone();
        planner.row_ids = crate::names_row_ids(&view.sql);
        planner.describes_views = self.describes_views;
        planner.expanded = self.expanded.iter().copied().chain([view.id]).collect();
        planner
    }

    fn refuse_deep_views(&self) -> Result<()> {
        if self.expanded.len() < VIEWS_DEEP {
            return Ok(());
        }
        let hint = format!("Views may be defined on views {VIEWS_DEEP} levels deep.");
        Err(nesting::exceeded(hint))
    }

    /// The columns of all views that can be planned. Empty while they are being looked up, so that
    /// a view over a system table with columns of views does not recurse.
    async fn view_columns(&self) -> ViewColumns {
        let mut all = ViewColumns::default();
        if self.describes_views {
            return all;
        }
        let access = Access::unlimited(self.tables.catalog());
        let mut planner = Planner::new(
            self.engine,
            self.functions,
            access,
            self.tables,
            self.search_path,
            &[],
            self.plan_view,
        );
        planner.user_functions = self.user_functions.clone();
        planner.describes_views = true;
        for relation in self.tables.catalog().relations() {
            let Relation::View(view) = relation else { continue };
            if let Ok(plan) = planner.view_plan(view).await {
                let fields = plan.schema().fields().iter();
                let columns = fields.map(|field| {
                    let column = Field::computed(unique_names::shown(field.name()), field);
                    (column.name.clone(), stored_type(&column))
                });
                all.insert(view.id, columns.collect());
            }
        }
        all
    }
}

/// The error for a view that reads itself, directly or through other views.
pub fn endless(view: &str) -> Error {
    let message = format!("infinite recursion detected in rules for relation \"{view}\"");
    Error::new(SqlState::InvalidObjectDefinition, message)
}

/// Renames the first columns of a view's plan.
///
/// # Errors
/// 42601 if there are more names than columns.
pub fn rename_columns(plan: LogicalPlan, names: &[String]) -> Result<LogicalPlan> {
    if names.is_empty() {
        return Ok(plan);
    }
    let columns = plan.schema().columns();
    if names.len() > columns.len() {
        let message = "CREATE VIEW specifies more column names than columns";
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    let renamed = columns.into_iter().enumerate().map(|(index, column)| {
        let expr = datafusion::logical_expr::Expr::Column(column.clone());
        match names.get(index) {
            Some(name) => expr.alias(name),
            None => col(column),
        }
    });
    Ok(LogicalPlanBuilder::from(plan).project(renamed.collect::<Vec<_>>())?.build()?)
}
