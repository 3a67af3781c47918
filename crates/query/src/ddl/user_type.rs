//! CREATE TYPE, CREATE DOMAIN, and ALTER, DROP and COMMENT ON of types.

use super::dependents::{self, needed};
use super::set_schema::may_move;
use super::{alter_table, checks, follow, functions, index_columns, place, reword};
use crate::analysis;
use crate::context::{Frame, owned_type};
use analyzer::system::Oid;
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::find_named;
use grammar::words::Word;
use parser::commands::{
    self, AlterType, AttributeChange as Change, CreateType, NewType, RelationName, TypeChange,
};
use parser::types;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Attribute, Catalog, CatalogChange, Domain, DomainCheck, Object, Relation, SqlType, Table,
    TypeId, UserType, UserTypeKind,
};
use table_rows::columns::refuse_pseudo;
use user_types::{
    AttributeChange, Place, add_label, changed_attributes, direct_users_of, domain_condition,
    new_attributes, new_labels, refuse_mentions, refuse_stored, rename_label, replacements,
    tables_of, tables_with, without_type,
};
use values::error::{Error, Result, SqlState};

/// Runs a CREATE TYPE or CREATE DOMAIN.
pub(super) async fn create(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateType,
) -> Result<()> {
    let (schema, name) = place::of_new(frame, transaction, &create.name, false)?;
    if store::catalog::is_temporary_schema(&schema) {
        return Err(Error::unsupported("temporary types are not supported"));
    }
    let kind = match &create.kind {
        NewType::Enum(labels) => UserTypeKind::Enum(new_labels(labels)?),
        NewType::Composite(attributes) => {
            let attributes = attributes.iter().map(|of| attribute(frame, transaction, of));
            UserTypeKind::Composite(new_attributes(attributes.collect::<Result<_>>()?)?)
        }
        NewType::Domain { base, is_nullable, default, checks } => {
            if base.is_pseudo() {
                let of = base.sql_type.oid;
                let message = format!("\"{of}\" is not a valid base type for a domain");
                return Err(Error::new(SqlState::DatatypeMismatch, message));
            }
            let users = frame.types(transaction.catalog());
            let base = Box::new(types::of_column_definition(base, &users, frame.text)?);
            if base.user_type().is_some_and(|user| user.attributes().is_some()) {
                return Err(Error::unsupported("a domain over a composite type is not supported"));
            }
            let (nullable, default) = (*is_nullable, default.clone());
            let mut domain = Domain { base, nullable, default, checks: Vec::new() };
            for check in checks {
                add_check(frame, transaction, (&name, &mut domain), check).await?;
            }
            UserTypeKind::Domain(domain)
        }
    };
    let store = &frame.session.shared.store;
    let next = || TypeId(store.next_relation_id().0);
    let (id, array) = (next(), next());
    let new = UserType { id, array, schema, name, kind, comment: None };
    transaction.change_catalog(CatalogChange::CreateType(new))?;
    frame.own(transaction, Object::Relation(id.object()))
}

/// An attribute of a composite type.
fn attribute(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    written: &commands::Attribute,
) -> Result<Attribute> {
    refuse_pseudo(&written.name, &written.data_type)?;
    let users = frame.types(transaction.catalog());
    let sql_type = types::of_column_definition(&written.data_type, &users, frame.text)?;
    if sql_type.has_shown_form() {
        let message = format!("an attribute of type {sql_type} is not supported");
        return Err(Error::unsupported(message));
    }
    Ok(Attribute { name: written.name.clone(), sql_type })
}

/// Changes an attribute of a composite type, whose values nothing stores.
fn alter_attribute(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    (old, attributes): (&UserType, &mut Vec<Attribute>),
    change: &Change,
) -> Result<()> {
    refuse_stored(transaction.catalog(), old)?;
    if let Change::Drop { name, .. } = change {
        refuse_mentions(transaction.catalog(), name, "changing an attribute")?;
    }
    let change = match change {
        Change::Add(written) => AttributeChange::Add(attribute(frame, transaction, written)?),
        Change::SetType(written) => {
            AttributeChange::SetType(attribute(frame, transaction, written)?)
        }
        Change::Drop { name, if_exists } => {
            if *if_exists && attributes.iter().all(|attribute| attribute.name != *name) {
                let of = format!("column \"{name}\" of relation");
                frame.skip_missing(&of, &old.name);
                return Ok(());
            }
            AttributeChange::Drop(name.clone())
        }
        Change::Rename { from, to } => AttributeChange::Rename(from.clone(), to.clone()),
    };
    *attributes = changed_attributes(&old.name, attributes, change)?;
    Ok(())
}

/// Runs an ALTER TYPE or ALTER DOMAIN.
pub(super) async fn alter(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    alter: &AlterType,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let old = owned_type(frame, &catalog, &alter.name)?;
    if alter.is_domain && old.domain().is_none() {
        let message = format!("\"{}\" is not a domain", alter.name);
        return Err(Error::new(SqlState::WrongObjectType, message));
    }
    let mut new = UserType::clone(&old);
    if let TypeChange::Rename(to) = &alter.change {
        new.name.clone_from(to);
        return follow::change(frame, transaction, replacements(&catalog, new), None).await;
    }
    if let TypeChange::SetSchema(to) = &alter.change {
        let to = frame.path().resolve(to);
        if to == old.schema {
            return Ok(());
        }
        may_move(frame, &catalog, (&old.schema, to))?;
        to.clone_into(&mut new.schema);
        return follow::change(frame, transaction, replacements(&catalog, new), None).await;
    }
    match &mut new.kind {
        UserTypeKind::Enum(labels) => match &alter.change {
            TypeChange::AddLabel { label, neighbour, if_not_exists } => {
                let place = match neighbour.clone() {
                    None => Place::Last,
                    Some((neighbour, true)) => Place::After(neighbour),
                    Some((neighbour, false)) => Place::Before(neighbour),
                };
                match add_label(labels, label, &place)? {
                    Some(more) => *labels = more,
                    None if *if_not_exists => {
                        frame.skip_existing(SqlState::DuplicateObject, "enum label", label);
                        return Ok(());
                    }
                    None => {
                        let message = format!("enum label \"{label}\" already exists");
                        return Err(Error::new(SqlState::DuplicateObject, message));
                    }
                }
            }
            TypeChange::RenameLabel { from, to } => {
                *labels = rename_label(labels, from, to)?;
            }
            _ => return Err(Error::unsupported("this form of ALTER TYPE is not supported")),
        },
        UserTypeKind::Composite(attributes) => {
            let TypeChange::Attributes(changes) = &alter.change else {
                let message = format!("{} is not an enum", old.name);
                return Err(Error::new(SqlState::WrongObjectType, message));
            };
            for change in changes {
                alter_attribute(frame, transaction, (&old, attributes), change)?;
            }
        }
        UserTypeKind::Domain(domain) => {
            alter_domain(frame, transaction, (&old, domain), &alter.change).await?;
        }
    }
    match word_of(&alter.change) {
        Some(word) => reword::replace(frame, transaction, new, &word).await,
        None => replace(transaction, new),
    }
}

/// The label or attribute that gets another name.
fn word_of(change: &TypeChange) -> Option<Word> {
    match change {
        TypeChange::RenameLabel { from, to } => Some(Word::string(from, to)),
        TypeChange::Attributes(changes) => match changes.as_slice() {
            [Change::Rename { from, to }] => Some(Word::name(from, quote_ident(to))),
            _ => None,
        },
        _ => None,
    }
}

async fn alter_domain(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    (old, domain): (&UserType, &mut Domain),
    change: &TypeChange,
) -> Result<()> {
    let missing = |name: &str| {
        let message = format!("constraint \"{name}\" of domain \"{}\" does not exist", old.name);
        Error::new(SqlState::UndefinedObject, message)
    };
    let position = |domain: &Domain, name: &str| domain.checks.iter().position(|c| c.name == name);
    match change {
        TypeChange::SetDefault(default) => domain.default.clone_from(default),
        TypeChange::SetNullable(nullable) => {
            let found = if *nullable {
                None
            } else {
                violation(frame, transaction, old, |column| format!("{column} IS NULL")).await?
            };
            if let Some((table, column)) = found {
                let message =
                    format!("column \"{column}\" of table \"{table}\" contains null values");
                return Err(Error::new(SqlState::NotNullViolation, message));
            }
            domain.nullable = *nullable;
        }
        TypeChange::AddCheck(check) => {
            add_check(frame, transaction, (&old.name, domain), check).await?;
            if check.is_valid {
                check_values(frame, transaction, old, &check.condition).await?;
            }
        }
        TypeChange::ValidateCheck(name) => {
            let at = position(domain, name).ok_or_else(|| missing(name))?;
            let check = &mut domain.checks[at];
            if !check.is_valid {
                check_values(frame, transaction, old, &check.expression).await?;
                check.is_valid = true;
            }
        }
        TypeChange::DropCheck { name, if_exists } => match position(domain, name) {
            Some(at) => {
                domain.checks.remove(at);
            }
            None if *if_exists => {
                frame.skip_missing(&format!("constraint \"{name}\" of domain"), &old.name);
            }
            None => return Err(missing(name)),
        },
        TypeChange::RenameCheck { from, to } => {
            let at = position(domain, from).ok_or_else(|| missing(from))?;
            to.clone_into(&mut domain.checks[at].name);
        }
        _ => return Err(Error::unsupported("this form of ALTER DOMAIN is not supported")),
    }
    Ok(())
}

/// Adds a condition to a domain.
///
/// # Errors
/// 42710 if its name is taken; what is wrong with the condition.
async fn add_check(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    (domain_name, domain): (&str, &mut Domain),
    check: &commands::Check,
) -> Result<()> {
    let is_taken = |name: &str| domain.checks.iter().any(|known| known.name == name);
    let numbered = (1..).map(|number| format!("{domain_name}_check{number}"));
    let name = match &check.name {
        Some(name) if is_taken(name) => {
            let message =
                format!("constraint \"{name}\" for domain \"{domain_name}\" already exists");
            return Err(Error::new(SqlState::DuplicateObject, message));
        }
        Some(name) => name.clone(),
        None => std::iter::once(format!("{domain_name}_check"))
            .chain(numbered)
            .find(|name| !is_taken(name))
            .unwrap_or_default(),
    };
    let value = format!("(NULL::{})", domain.base);
    let condition = domain_condition(&check.condition, &value)
        .ok_or_else(|| Error::unsupported("this condition of a domain is not supported"))?;
    let planner = frame.planner(transaction);
    analysis::plan_text(&planner, &format!("SELECT 1 WHERE {condition}"))
        .await
        .map_err(Error::without_position)?;
    let expression = check.condition.clone();
    let is_valid = check.is_valid;
    domain.checks.push(DomainCheck { name, expression, is_valid, comment: None });
    Ok(())
}

/// Checks the values of a domain in all columns.
///
/// # Errors
/// 23514 if there is one for which a condition is false; those of [`violation`].
async fn check_values(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    user: &UserType,
    condition: &str,
) -> Result<()> {
    let broken =
        |column: &str| format!("NOT ({})", domain_condition(condition, column).unwrap_or_default());
    let Some((table, column)) = violation(frame, transaction, user, broken).await? else {
        return Ok(());
    };
    let message = format!(
        "column \"{column}\" of table \"{table}\" contains values that violate the new constraint"
    );
    Err(Error::new(SqlState::CheckViolation, message))
}

/// The first table and column of a domain with a row for which a condition is true.
///
/// # Errors
/// 0A000 if values are within arrays or rows.
async fn violation(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    user: &UserType,
    condition: impl Fn(&str) -> String,
) -> Result<Option<(String, String)>> {
    for table in tables_with(transaction.catalog(), user) {
        for column in table.columns.iter().filter(|column| column.sql_type.uses(user.id)) {
            if !is_over(&column.sql_type, user.id) {
                let (of, table, column) = (&user.name, &table.name, &column.name);
                let message = format!(
                    "cannot alter type \"{of}\" because column \"{table}.{column}\" uses it"
                );
                return Err(Error::new(SqlState::FeatureNotSupported, message));
            }
            let condition = condition(&quote_ident(&column.name));
            if checks::is_any_row(frame, transaction, &table, &condition).await? {
                return Ok(Some((table.name.clone(), column.name.clone())));
            }
        }
    }
    Ok(None)
}

/// Whether a type is a domain, or a domain over it.
fn is_over(sql_type: &SqlType, domain: TypeId) -> bool {
    let SqlType::User(user) = sql_type else { return false };
    user.id == domain || user.domain().is_some_and(|of| is_over(&of.base, domain))
}

/// Replaces a type, and what its definition is part of.
fn replace(transaction: &mut DistributedTransaction, new: UserType) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for change in replacements(&catalog, new) {
        transaction.change_catalog(change)?;
    }
    Ok(())
}

/// Runs a DROP TYPE or DROP DOMAIN.
///
/// # Errors
/// 2BP01 if columns or domains use a type, unless CASCADE drops the columns.
pub(super) fn drop(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    drop: &commands::Drop,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let mut found: Vec<Arc<UserType>> = Vec::new();
    for name in &drop.names {
        let Some(user) = named(frame, &catalog, name, drop)? else { continue };
        if found.iter().all(|known| known.id != user.id) {
            found.push(user);
        }
    }
    drop_all(frame, transaction, found, drop.cascade)
}

/// Drops types, those that contain others first.
///
/// # Errors
/// As of [`drop_one`].
pub(super) fn drop_all(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    found: Vec<Arc<UserType>>,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let contains = |other: &Arc<UserType>, one: &Arc<UserType>| {
        direct_users_of(&catalog, one).any(|of| of.id == other.id)
    };
    for user in dependents::ordered(found, contains) {
        if let Some(now) = transaction.catalog().user_type_by_id(user.id).cloned() {
            drop_one(frame, transaction, &now, cascade)?;
        }
    }
    Ok(())
}

/// The type of a name, which the role may drop. `None` if there is none, with IF EXISTS.
fn named(
    frame: &Frame<'_>,
    catalog: &Arc<Catalog>,
    name: &RelationName,
    drop: &commands::Drop,
) -> Result<Option<Arc<UserType>>> {
    let is_domain = drop.kind == commands::ObjectKind::Domain;
    let no_domain = || {
        let message = format!("\"{name}\" is not a domain");
        Error::new(SqlState::WrongObjectType, message)
    };
    let needed = |of: &str, why: &str| {
        let message = format!("cannot drop type {of} because {why}");
        Error::new(SqlState::DependentObjectsStillExist, message)
    };
    let error = match owned_type(frame, catalog, name) {
        Ok(user) if is_domain && user.domain().is_none() => return Err(no_domain()),
        Ok(user) => return Ok(Some(user)),
        Err(error) => error,
    };
    if !matches!(error.state(), SqlState::UndefinedObject | SqlState::WrongObjectType) {
        return Err(error);
    }
    let relation = find_named(catalog, frame.path(), name)?;
    let rows = relation.filter(|of| matches!(of, Relation::Table(_) | Relation::View(_)));
    let of_system = match &name.schema {
        Some(schema) if schema != "pg_catalog" => None,
        _ => Oid::of_type_name(&name.name),
    };
    match (rows, of_system) {
        (Some(_), _) | (_, Some(_)) if is_domain => Err(no_domain()),
        (Some(rows), _) => {
            let rows = format!("{} {name}", rows.kind());
            Err(needed(&name.to_string(), &format!("{rows} requires it"))
                .with_hint(format!("You can drop {rows} instead.")))
        }
        (None, Some(of)) => Err(needed(&of.to_string(), "it is required by the database system")),
        (None, None) if drop.if_exists => {
            frame.skip_missing("type", &name.name);
            Ok(None)
        }
        (None, None) => Err(error),
    }
}

/// Drops a type, and with CASCADE the columns of it.
fn drop_one(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    user: &UserType,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let name = &user.name;
    let refused = |detail: String| needed(&format!("type {name}"), detail);
    for table in tables_of(&catalog, user) {
        if !cascade {
            return Err(refused(format!("table {} depends on type {name}", table.name)));
        }
        drop_typed(frame, transaction, table)?;
    }
    let catalog = Arc::clone(transaction.catalog());
    for table in tables_with(&catalog, user) {
        let mut next = Table::clone(&table);
        for column in table.columns.iter().filter(|column| column.sql_type.uses(user.id)) {
            if !cascade {
                let (column, table) = (&column.name, &table.name);
                return Err(refused(format!(
                    "column {column} of table {table} depends on type {name}"
                )));
            }
            if table.key.contains(&column.id) {
                let message = "dropping the type of a column of a primary key is not supported";
                return Err(Error::unsupported(message).with_hint("Drop the column first."));
            }
            alter_table::drop_column(&mut next, &column.name)?;
        }
        next.version += 1;
        transaction.change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(next))))?;
        index_columns::follow_columns(transaction, table.id)?;
    }
    for other in direct_users_of(&catalog, user) {
        let column =
            other.attributes().and_then(|all| all.iter().find(|of| of.sql_type.uses(user.id)));
        let column = column.map(|of| format!("column {} of composite ", of.name));
        let shown = format!("{}type {}", column.as_deref().unwrap_or_default(), other.name);
        if !cascade {
            return Err(refused(format!("{shown} depends on type {name}")));
        }
        frame.session.notice(SqlState::SuccessfulCompletion, format!("drop cascades to {shown}"));
        match without_type(other, user) {
            Some(kept) => {
                refuse_stored(transaction.catalog(), other)?;
                replace(transaction, kept?)?;
            }
            None => drop_one(frame, transaction, other, cascade)?,
        }
    }
    dependents::drop_of_type(frame, transaction, user, cascade)?;
    functions::drop_with_type(frame, transaction, user, cascade)?;
    transaction.change_catalog(CatalogChange::DropType(user.id))?;
    Ok(())
}

/// Drops a table of a type that is dropped, and what depends on it.
fn drop_typed(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: Arc<Table>,
) -> Result<()> {
    let message = format!("drop cascades to table {}", table.name);
    let id = table.id;
    super::drop_relation::drop_one(frame, transaction, &Relation::Table(table), true, &|of| {
        of.id == id
    })?;
    frame.session.notice(SqlState::SuccessfulCompletion, message);
    Ok(())
}

/// Runs a COMMENT ON TYPE or COMMENT ON DOMAIN.
pub(super) fn comment(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &RelationName,
    comment: Option<String>,
) -> Result<()> {
    let user = owned_type(frame, transaction.catalog(), name)?;
    replace(transaction, UserType { comment, ..UserType::clone(&user) })
}

/// Runs a COMMENT ON CONSTRAINT of a domain.
///
/// # Errors
/// 42809 if the type is no domain; 42704 if it has no such condition.
pub(super) fn comment_check(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    (domain, name): (&RelationName, &str),
    comment: Option<String>,
) -> Result<()> {
    let user = owned_type(frame, transaction.catalog(), domain)?;
    let mut new = UserType::clone(&user);
    let UserTypeKind::Domain(of) = &mut new.kind else {
        let message = format!("\"{domain}\" is not a domain");
        return Err(Error::new(SqlState::WrongObjectType, message));
    };
    let Some(check) = of.checks.iter_mut().find(|check| check.name == name) else {
        let message = format!("constraint \"{name}\" for domain {} does not exist", new.name);
        return Err(Error::new(SqlState::UndefinedObject, message));
    };
    check.comment = comment;
    replace(transaction, new)
}
