//! CREATE VIEW. A view of a temporary table is temporary, as in PostgreSQL.

use super::{dependents, place};
use crate::analysis;
use crate::context::Frame;
use catalog_views::relation_names::find_named;
use catalog_views::search_path::SearchPath;
use catalog_views::updatable_views;
use datafusion::arrow::datatypes::Schema;
use parser::commands::{CheckScope, CreateView, ViewOptions as Given};
use planner::relations::rename_columns;
use planner::results::{stored_type, with_types};
use planner::unique_names;
use std::collections::HashSet;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, CheckOption, Object, Privileges, Relation, View, ViewOptions,
    is_temporary_schema,
};
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// Runs a CREATE VIEW. The query is planned once to check it. The view stores its text, which is
/// planned with each use.
///
/// A view that would read itself is refused. PostgreSQL makes it and refuses its use.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateView,
) -> Result<()> {
    let temporary = create.is_temporary || uses_temporary(frame, transaction.catalog(), create)?;
    let (schema, name) = place::of_new(frame, transaction, &create.name, temporary)?;
    let catalog = Arc::clone(transaction.catalog());
    let is_temporary = is_temporary_schema(&schema);
    if is_temporary && !create.is_temporary {
        let message = format!("view \"{name}\" will be a temporary view");
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    refuse_temporary_functions(frame, create, is_temporary)?;
    let existing = catalog.relation(&schema, &name);
    let columns = create.columns.clone();
    let replaced = existing.filter(|_| create.replaces).map(Relation::id);
    let planner = frame.planner(transaction).within(replaced);
    let (plan, fields) = analysis::plan_source(frame, &planner).await?;
    fields.iter().try_for_each(|of| parser::types::refuse_record(&of.name, &of.sql_type))?;
    let plan = rename_columns(with_types(plan, &fields)?, &columns)?;
    refuse_repeated(plan.schema().as_arrow())?;
    let sql = analysis::without_stars(&planner, &create.query).await?;
    let mut options = with_options(ViewOptions::default(), create.options);
    options.reads = dependents::reads(frame, &catalog, &create.relations);
    let (id, comment) = match existing {
        Some(Relation::View(known)) if create.replaces => {
            let view = &Relation::View(Arc::clone(known));
            options.defaults.clone_from(&known.options.defaults);
            options.comments.clone_from(&known.options.comments);
            frame.access(&catalog).require(view, Privileges::OWNER)?;
            let planner = frame.planner(transaction);
            let before = planner.relation(Some(view.schema()), view.name()).await?;
            if let Some(before) = before {
                keep_columns(&before.schema(), plan.schema().as_arrow())?;
            }
            (known.id, known.comment.clone())
        }
        Some(other) if create.replaces => {
            let message = format!("\"{name}\" is a {}, not a view", other.kind());
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        _ => (frame.session.shared.store.next_relation_id(), None),
    };
    let view = View {
        id,
        schema,
        name,
        sql,
        columns,
        search_path: search_path(frame, is_temporary),
        comment,
        options,
    };
    if view.options.check.is_some() {
        refuse_unchecked(&catalog, frame.path(), &view)?;
    }
    let view = Relation::View(Arc::new(view));
    transaction.change_catalog(match existing {
        Some(_) if create.replaces => CatalogChange::Replace(view),
        _ => CatalogChange::Create(view),
    })?;
    if existing.is_none() {
        frame.own(transaction, Object::Relation(id))?;
    }
    Ok(())
}

/// Refuses temporary functions in a view that other sessions use.
fn refuse_temporary_functions(
    frame: &Frame<'_>,
    create: &CreateView,
    is_temporary: bool,
) -> Result<()> {
    let mut calls = grammar::calls(&create.query).into_iter().filter_map(|(schema, ..)| schema);
    if !is_temporary && calls.any(|schema| is_temporary_schema(frame.path().resolve(&schema))) {
        return Err(Error::unsupported("views of temporary functions are not supported"));
    }
    Ok(())
}

/// The schemas in which a view looks names up.
fn search_path(frame: &Frame<'_>, is_temporary: bool) -> Vec<String> {
    match is_temporary {
        true => frame.path().schemas().map(str::to_owned).collect(),
        false => frame.path().named().map(str::to_owned).collect(),
    }
}

/// Options that a statement has set.
pub(super) fn with_options(mut options: ViewOptions, given: Given) -> ViewOptions {
    if let Some(check) = given.check {
        options.check = check.map(|check| match check {
            CheckScope::Local => CheckOption::Local,
            CheckScope::Cascaded => CheckOption::Cascaded,
        });
    }
    options.security_invoker = given.security_invoker.unwrap_or(options.security_invoker);
    options
}

/// Refuses WITH CHECK OPTION of a view that is not updatable.
///
/// # Errors
/// 0A000.
pub(super) fn refuse_unchecked(catalog: &Catalog, path: SearchPath<'_>, view: &View) -> Result<()> {
    let Some(why) = updatable_views::obstacle(catalog, path, view) else { return Ok(()) };
    let message = "WITH CHECK OPTION is supported only on automatically updatable views";
    Err(Error::unsupported(message).with_hint(why))
}

/// Refuses columns of one name.
fn refuse_repeated(schema: &Schema) -> Result<()> {
    let mut names = HashSet::new();
    for field in schema.fields() {
        let name = unique_names::shown(field.name());
        if !names.insert(name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
    }
    Ok(())
}

/// Refuses a query that lacks columns of the view that it replaces, which queries may read.
fn keep_columns(before: &Schema, after: &Schema) -> Result<()> {
    let refused = |message: String| Error::new(SqlState::InvalidTableDefinition, message);
    if after.fields().len() < before.fields().len() {
        return Err(refused("cannot drop columns from view".to_owned()));
    }
    for (old, new) in before.fields().iter().zip(after.fields()) {
        let (name, new_name) = (unique_names::shown(old.name()), unique_names::shown(new.name()));
        if name != new_name {
            let message = format!("cannot change name of view column \"{name}\" to \"{new_name}\"");
            return Err(refused(message).with_hint(
                "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
            ));
        }
        let [from, to] = [old, new].map(|of| stored_type(&Field::computed(name, of)));
        if from != to {
            return Err(refused(format!(
                "cannot change data type of view column \"{name}\" from {from} to {to}"
            )));
        }
    }
    Ok(())
}

/// Whether the query of a view reads a temporary relation.
fn uses_temporary(frame: &Frame<'_>, catalog: &Catalog, create: &CreateView) -> Result<bool> {
    for name in &create.relations {
        if find_named(catalog, frame.path(), name)?.is_some_and(Relation::is_temporary) {
            return Ok(true);
        }
    }
    Ok(false)
}
