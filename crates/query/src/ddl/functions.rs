//! CREATE, ALTER, DROP and COMMENT ON of functions.

mod aggregate;
mod source;

use super::dependents::needed;
use super::set_schema::may_move;
use super::{dependents, follow, place, sql_procedure, triggers, uses};
use crate::analysis;
use crate::context::Frame;
use crate::context::named_functions::{find, owned, require_owner, undefined};
use catalog_views::relation_names::find_named;
use catalog_views::settings::Settings;
use foreign::Language;
use parser::commands::{
    AlterFunction, CreateFunction, DropFunctions, RelationName, RoutineDefinition,
};
use parser::errors::of_analyzer;
use routines::NewFunction;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, Function, FunctionId, Object, PUBLIC, Privileges, RESERVED_SCHEMAS,
    Relation, UserType,
};
use values::error::{Error, Result, SqlState};

/// Runs a statement about functions.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    definition: &RoutineDefinition,
) -> Result<()> {
    match definition {
        RoutineDefinition::Create(create) => self::create(frame, transaction, create).await,
        RoutineDefinition::CreateAggregate(create) => {
            aggregate::create(frame, transaction, create).await
        }
        RoutineDefinition::Drop(drop) => drop_all(frame, transaction, drop),
        RoutineDefinition::Alter(alter) => self::alter(frame, transaction, alter),
        RoutineDefinition::Rename { routine, to } => {
            let function = owned(frame, transaction.catalog(), routine)?;
            let access = frame.access(transaction.catalog());
            access.require_schema(&function.schema, Privileges::CREATE)?;
            let name = to.clone();
            let changed = put_of(Function { name, ..Function::clone(&function) });
            follow::change(frame, transaction, vec![changed], None).await
        }
        RoutineDefinition::SetSchema { routine, to } => {
            let function = owned(frame, transaction.catalog(), routine)?;
            let schema = frame.path().resolve(to).to_owned();
            may_move(frame, transaction.catalog(), (&function.schema, &schema))?;
            let changed = put_of(Function { schema, ..Function::clone(&function) });
            follow::change(frame, transaction, vec![changed], None).await
        }
        RoutineDefinition::Comment { routine, text } => {
            let function = owned(frame, transaction.catalog(), routine)?;
            let comment = text.clone();
            put(transaction, Function { comment, ..Function::clone(&function) })
        }
    }
}

fn put(transaction: &mut DistributedTransaction, function: Function) -> Result<()> {
    transaction.change_catalog(put_of(function))?;
    Ok(())
}

fn put_of(function: Function) -> CatalogChange {
    CatalogChange::put_function(routines::kept(function))
}

/// Runs a CREATE FUNCTION. The body is bound once to check it.
async fn create(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateFunction,
) -> Result<()> {
    if let Some(schema) = &create.name.schema
        && frame.path().resolve(schema) != frame.path().own()
        && transaction.catalog().schema(schema).is_none()
        && !RESERVED_SCHEMAS.contains(&schema.as_str())
    {
        let message = format!("schema \"{schema}\" does not exist");
        return Err(Error::new(SqlState::InvalidSchemaName, message));
    }
    let (schema, _) = place::of_new(frame, transaction, &create.name, false)?;
    let catalog = Arc::clone(transaction.catalog());
    let table = |name: &RelationName| match find_named(&catalog, frame.path(), name) {
        Ok(Some(Relation::Table(table))) => Some(table.id.relation()),
        _ => None,
    };
    let id = frame.session.shared.store.next_relation_id();
    let new = NewFunction { id, schema, table: &table };
    let types = frame.types(&catalog);
    let mut create = CreateFunction::clone(create);
    for of in create.parameters.iter_mut().map(|of| &mut of.data_type).chain(&mut create.result) {
        *of = routines::known_type(of, &types);
        if of.known.is_err()
            && let Ok(Some(Relation::View(view))) = find_named(&catalog, frame.path(), &of.name)
        {
            let what = format!("the type of the rows of the view {} here", view.name);
            of.known = Err(analyzer::Error::missing(what));
        }
        if let (Some(column), Ok(found)) = (&of.column, &of.known) {
            let message = format!("type reference {}.{column}%TYPE converted to {found}", of.name);
            frame.session.notice(SqlState::SuccessfulCompletion, message);
        }
    }
    let create = &create;
    let mut defined =
        routines::define(create, new).map_err(|error| of_analyzer(error, frame.text))?;
    if let Some(language) = Language::of(&defined.language) {
        if defined.is_temporary() {
            let message = "temporary functions in JavaScript and WebAssembly are not supported";
            return Err(Error::unsupported(message));
        }
        may_use(frame, transaction, language)?;
        defined.body = source::kept(frame, transaction, language, &defined.body).await?;
    }
    keep(frame, transaction, defined, create.replaces).await
}

/// JavaScript is untrusted: operations of its engine on long values do not end with the statement.
fn may_use(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    language: Language,
) -> Result<()> {
    if language == Language::JavaScript && !frame.access(transaction.catalog()).is_superuser() {
        let message = "permission denied for language javascript";
        return Err(Error::new(SqlState::InsufficientPrivilege, message)
            .with_hint("Only superusers can create functions in it."));
    }
    Ok(())
}

/// Only superusers make leakproof functions.
fn may_be_leakproof(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    is_leakproof: bool,
) -> Result<()> {
    if is_leakproof && !frame.access(transaction.catalog()).is_superuser() {
        let message = "only superuser can define a leakproof function";
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    Ok(())
}

/// Puts a new function into the catalog, after a check.
async fn keep(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    defined: Function,
    replaces: bool,
) -> Result<()> {
    may_be_leakproof(frame, transaction, defined.is_leakproof)?;
    let catalog = Arc::clone(transaction.catalog());
    let mut same = catalog.functions_named(&defined.schema, &defined.name).iter();
    let kept = routines::kept(defined.clone());
    let existing = same.find(|other| other.has_identity_of(&kept));
    let existing = existing.map(|old| routines::resolved(&catalog, old).into_owned());
    let function = match existing {
        Some(_) if !replaces => {
            let message =
                format!("function \"{}\" already exists with same argument types", defined.name);
            return Err(Error::new(SqlState::DuplicateFunction, message));
        }
        Some(old) => {
            require_owner(frame, &catalog, &old)?;
            routines::refuse_change(&old, &defined).map_err(|error| of_analyzer(error, ""))?;
            Function { id: old.id, comment: old.comment.clone(), ..defined.clone() }
        }
        None => defined.clone(),
    };
    check_settings(frame, &function)?;
    analysis::calls::check_defaults(&frame.planner(transaction), &function).await?;
    if function.is_sql_body {
        check_body(frame, transaction, &function).await?;
    }
    let (id, is_new) = (function.id, function.id == defined.id);
    put(transaction, function.clone())?;
    if is_new {
        let (role, object) = (PUBLIC.to_owned(), Object::Relation(id));
        let privileges = Privileges::EXECUTE;
        transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
        frame.own(transaction, Object::Relation(id))?;
    }
    // A body that is a string may call the function itself.
    let is_off = frame.settings.get("check_function_bodies").as_deref() == Some("off");
    match function.is_sql_body || is_off && !routines::is_foreign(&function.language) {
        true => Ok(()),
        false => check_body(frame, transaction, &function).await,
    }
}

/// Checks the body of a function.
async fn check_body(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    function: &Function,
) -> Result<()> {
    match function.is_procedure && function.language == "sql" {
        true => sql_procedure::check(frame, transaction, function).await,
        false => analysis::calls::check(&frame.planner(transaction), frame.text, function).await,
    }
}

fn alter(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    alter: &AlterFunction,
) -> Result<()> {
    let function = owned(frame, transaction.catalog(), &alter.routine)?;
    if alter.options.rows.is_some() && !function.returns_set {
        let message = "ROWS is not applicable when function does not return a set";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    may_be_leakproof(frame, transaction, alter.options.leakproof == Some(true))?;
    let function = routines::apply(&alter.options, Function::clone(&function));
    check_settings(frame, &function)?;
    put(transaction, function)
}

/// Checks the settings of a function.
///
/// # Errors
/// There is no such setting, or it cannot have the value; the language of the function knows none.
fn check_settings(frame: &Frame<'_>, function: &Function) -> Result<()> {
    let is_set = function.is_security_definer || !function.settings.is_empty();
    if is_set && routines::is_foreign(&function.language) {
        let language = &function.language;
        let what = format!("SECURITY DEFINER and SET in the language {language}");
        return Err(Error::unsupported(format!("{what} are not supported")));
    }
    let mut settings = Settings::clone(&frame.settings);
    let mut all = function.settings.iter();
    all.try_for_each(|(name, value)| settings.set(name, &routines::setting_values(name, value)))
}

/// Runs a DROP FUNCTION.
///
/// # Errors
/// 2BP01 if views use it, without CASCADE, or for a function of the system.
fn drop_all(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    drop: &DropFunctions,
) -> Result<()> {
    let mut named: Vec<Arc<Function>> = Vec::new();
    for routine in &drop.routines {
        let found = find(frame, transaction.catalog(), routine);
        let function = match found {
            Ok(Some(function)) => function,
            Ok(None) if let Some(shown) = routines::of_system(routine) => {
                let why = "because it is required by the database system";
                let message = format!("cannot drop {shown} {why}");
                return Err(Error::new(SqlState::DependentObjectsStillExist, message));
            }
            Ok(None) if drop.if_exists => {
                let message = format!("{}, skipping", routines::absent(routine));
                frame.session.notice(SqlState::SuccessfulCompletion, message);
                continue;
            }
            Ok(None) => return Err(undefined(routine)),
            Err(error) if drop.if_exists && error.state() == SqlState::UndefinedObject => {
                let message = format!("{}, skipping", error.message());
                frame.session.notice(SqlState::SuccessfulCompletion, message);
                continue;
            }
            Err(error) => return Err(error),
        };
        require_owner(frame, transaction.catalog(), &function)?;
        if named.iter().all(|known| known.id != function.id) {
            named.push(function);
        }
    }
    let calls = |other: &Arc<Function>, one: &Arc<Function>| calls(other, one);
    for function in dependents::ordered(named, calls) {
        if transaction.catalog().function_by_id(function.id).is_some() {
            drop_one(frame, transaction, &function, drop.cascade)?;
        }
    }
    Ok(())
}

/// Drops a function, and with CASCADE the views that use it.
pub(super) fn drop_one(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    function: &Arc<Function>,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let function = &*routines::resolved(&catalog, function);
    let shown = shown_of(&catalog, function);
    for other in catalog.functions().filter(|other| calls(other, function)) {
        if !cascade {
            let other = shown_of(&catalog, other);
            return Err(needed(&shown, format!("{other} depends on {shown}")));
        }
        drop_one(frame, transaction, other, cascade)?;
        let message = format!("drop cascades to {}", shown_of(&catalog, other));
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    for view in dependents::of_function(frame, transaction, function) {
        if !cascade {
            return Err(needed(&shown, format!("view {} depends on {shown}", view.name)));
        }
        dependents::drop_view(frame, transaction, view)?;
    }
    uses::drop_of_function(frame, transaction, function, cascade)?;
    triggers::drop_with_function(frame, transaction, function, cascade)?;
    transaction.change_catalog(CatalogChange::DropFunction(function.id))?;
    Ok(())
}

/// A function as messages name it.
fn shown_of(catalog: &Catalog, function: &Arc<Function>) -> String {
    format!("{} {}", function.kind(), routines::signature(&routines::resolved(catalog, function)))
}

/// Whether a function is an aggregate that calls another one.
fn calls(aggregate: &Function, other: &Function) -> bool {
    aggregate.extension.steps().any(|step| *step == FunctionId::User(other.id))
}

/// With CASCADE, drops the functions with parameters or results of a type that is dropped.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) fn drop_with_type(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    user: &UserType,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for function in catalog.functions().filter(|of| routines::mentions(of, user)) {
        let shown = shown_of(&catalog, function);
        if !cascade {
            let detail = format!("{shown} depends on type {}", user.name);
            return Err(needed(&format!("type {}", user.name), detail));
        }
        drop_one(frame, transaction, function, cascade)?;
        let message = format!("drop cascades to {shown}");
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    Ok(())
}

/// With CASCADE, drops the functions that return rows of a table that is dropped.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) fn drop_with_table(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Relation,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for function in catalog.functions().filter(|of| routines::mentions_rows(of, table.id())) {
        let shown = shown_of(&catalog, function);
        if !cascade {
            let name = table.name();
            let detail = format!("{shown} depends on type {name}");
            return Err(needed(&format!("{} {name}", table.kind()), detail));
        }
        drop_one(frame, transaction, function, cascade)?;
        let message = format!("drop cascades to {shown}");
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    Ok(())
}
