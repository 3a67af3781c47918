//! The relations that a statement names: tables, views, system tables, files.

use super::Planner;
use super::files;
use super::unique_names;
use crate::access::{Access, FileUse};
use crate::error::{Error, Result, SqlState};
use crate::planner::search_path::SearchPath;
use crate::scan::provider::{BucketTable, Columns};
use crate::system;
use crate::system::pg_catalog::world::ViewColumns;
use crate::types;
use datafusion::catalog::view::ViewTable;
use datafusion::datasource::{TableProvider, provider_as_source};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, col};
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Statement};
use std::ops::ControlFlow;
use std::sync::Arc;
use store::catalog::{Catalog, Privileges, Relation, TableId, View};
use store::{DistributedTransaction, Reading, Snapshot, TableView};
use syntax::visit_relations;

/// Where a statement reads: what is committed, or a transaction with its own writes.
pub(crate) trait Tables: Send + Sync {
    /// The catalog that names are looked up in.
    fn catalog(&self) -> &Arc<Catalog>;
    /// A table as the statement sees it.
    fn table(&self, id: TableId) -> Option<TableView>;
}

/// This server's alone: for looking at definitions.
impl Tables for Snapshot {
    fn catalog(&self) -> &Arc<Catalog> {
        Snapshot::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        Snapshot::table(self, id)
    }
}

impl Tables for Reading {
    fn catalog(&self) -> &Arc<Catalog> {
        Reading::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        Reading::table(self, id)
    }
}

impl Tables for DistributedTransaction {
    fn catalog(&self) -> &Arc<Catalog> {
        DistributedTransaction::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        DistributedTransaction::table(self, id)
    }
}

/// A name as SQL means it: lower case, unless it is quoted.
pub(crate) fn fold(ident: &Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The schema (if any) and the name of an object; a database name in front is passed over.
pub(crate) fn split_name(name: &ObjectName) -> Result<(Option<String>, String)> {
    let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
    match &parts[..] {
        [name] => Ok((None, name.clone())),
        [schema, name] | [_, schema, name] => Ok((Some(schema.clone()), name.clone())),
        _ => Err(Error::new(SqlState::InvalidName, format!("improper relation name: {name}"))),
    }
}

/// The relation of a name, by the search path where the name has no schema.
pub(crate) fn find<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    name: &ObjectName,
) -> Result<Option<&'a Relation>> {
    let (schema, name) = split_name(name)?;
    if let Some(schema) = &schema {
        path.refuse_others(schema)?;
    }
    Ok(find_in(catalog, path, schema.as_deref(), &name))
}

fn find_in<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    schema: Option<&str>,
    name: &str,
) -> Option<&'a Relation> {
    match schema {
        Some(schema) => catalog.relation(path.resolve(schema), name),
        None => path.schemas().find_map(|schema| catalog.relation(schema, name)),
    }
}

/// The relation of a name in parts, the database's name in front passed over.
pub(crate) fn find_parts<'a>(
    catalog: &'a Catalog,
    path: SearchPath<'_>,
    parts: &[String],
) -> Option<&'a Relation> {
    match parts {
        [name] => find_in(catalog, path, None, name),
        [schema, name] | [_, schema, name] => find_in(catalog, path, Some(schema), name),
        _ => None,
    }
}

/// What a relation that does not exist is answered with.
pub(crate) fn undefined(name: &ObjectName) -> Error {
    let message = format!("relation \"{}\" does not exist", name.to_string().replace('"', ""));
    Error::new(SqlState::UndefinedTable, message)
}

impl Planner<'_> {
    /// Looks up every relation that a statement names. Names that are not found may still be those of
    /// common table expressions; the SQL planner tells.
    pub(crate) async fn resolve(&mut self, statement: &Statement) -> Result<()> {
        let mut names: Vec<ObjectName> = Vec::new();
        let _ = visit_relations(statement, |name| {
            names.push(name.clone());
            ControlFlow::<()>::Continue(())
        });
        for name in names {
            let spelled = spelled(&name);
            if self.sources.contains_key(&spelled) {
                continue;
            }
            if let Some(provider) = self.provider(&name).await? {
                self.sources.insert(spelled, provider_as_source(provider));
            }
        }
        Ok(())
    }

    async fn provider(&self, name: &ObjectName) -> Result<Option<Arc<dyn TableProvider>>> {
        if let Some(path) = file_name(name) {
            self.access.require_files(FileUse::Read)?;
            return files::table(self.engine, path).await.map(Some);
        }
        let (schema, bare) = split_name(name)?;
        let implicit = schema.is_none() && system::is_implicit(&bare);
        let catalog = self.tables.catalog();
        let relation = find(catalog, self.search_path, name)?;
        if let Some(relation) = relation.filter(|_| !implicit) {
            self.access.require(relation, Privileges::SELECT)?;
            return match relation {
                Relation::Table(table) => match self.tables.table(table.id) {
                    Some(view) => Ok(Some(Arc::new(BucketTable::new(view, Columns::Declared)))),
                    None => Ok(None),
                },
                Relation::View(view) => Box::pin(self.view(view)).await.map(Some),
                Relation::Sequence(sequence) => {
                    Ok(Some(system::sequence_table(self.engine, sequence)?))
                }
            };
        }
        if let Some(schema) = schema.as_ref().filter(|name| catalog.schema(name).is_some()) {
            self.access.require_schema(schema, Privileges::USAGE)?;
        }
        let of_cluster =
            system::cluster_table(self.engine, self.access, self.tables, schema.as_deref(), &bare);
        let of_cluster = of_cluster.await?;
        if of_cluster.is_some() {
            return Ok(of_cluster);
        }
        let views = match system::lists_view_columns(schema.as_deref(), &bare) {
            true => Box::pin(self.view_columns()).await,
            false => ViewColumns::default(),
        };
        system::table(
            self.engine,
            self.functions,
            self.access,
            self.tables,
            &views,
            schema.as_deref(),
            &bare,
        )
    }

    async fn view(&self, view: &View) -> Result<Arc<dyn TableProvider>> {
        let plan = self.view_plan(view).await?;
        Ok(Arc::new(ViewTable::new(plan, Some(view.sql.clone()))))
    }

    /// The plan of a view's query, with the view's names for columns.
    pub(crate) async fn view_plan(&self, view: &View) -> Result<LogicalPlan> {
        let statement = crate::parse::parse(&view.sql)?.remove(0);
        let mut planner = Planner::new(
            self.engine,
            self.functions,
            self.access.of_owner(view.id),
            self.tables,
            self.search_path.of_view(&view.search_path),
            self.parameters,
        );
        planner.describes_views = self.describes_views;
        let plan = planner.plan_statement(statement.into_ast()).await?;
        rename_columns(plan, &view.columns)
    }

    /// The columns of all views that can be planned. A view over what lists columns is not asked for the
    /// columns of views again: there would be no end.
    async fn view_columns(&self) -> ViewColumns {
        let mut all = ViewColumns::default();
        if self.describes_views {
            return all;
        }
        let access = Access::unlimited(self.tables.catalog());
        let mut planner =
            Planner::new(self.engine, self.functions, access, self.tables, self.search_path, &[]);
        planner.describes_views = true;
        for relation in self.tables.catalog().relations() {
            let Relation::View(view) = relation else { continue };
            if let Ok(plan) = planner.view_plan(view).await {
                let fields = plan.schema().fields().iter();
                let columns = fields.map(|field| {
                    (unique_names::shown(field.name()).to_owned(), types::of_field(field))
                });
                all.insert(view.id, columns.collect());
            }
        }
        all
    }
}

/// A plan whose first columns have other names.
pub(crate) fn rename_columns(plan: LogicalPlan, names: &[String]) -> Result<LogicalPlan> {
    if names.is_empty() {
        return Ok(plan);
    }
    let columns = plan.schema().columns();
    if names.len() > columns.len() {
        let message = format!("{} column names for {} columns", names.len(), columns.len());
        return Err(Error::new(SqlState::InvalidTableDefinition, message));
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

fn file_name(name: &ObjectName) -> Option<&str> {
    match &name.0[..] {
        [part] => part.as_ident().filter(|i| i.quote_style == Some('\'')).map(|i| i.value.as_str()),
        _ => None,
    }
}

/// A name as keys of the statement's relations spell it.
pub(super) fn spelled(name: &ObjectName) -> String {
    let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(fold).collect();
    let last_two = parts.len().saturating_sub(2);
    parts[last_two..].join(".")
}
