//! Types of users in signatures.
//!
//! The catalog holds the ids that clients see, which stay when a type changes. The analyzer has ids of this process, one
//! for each definition. A function is [`resolved`] when it is read and [`kept`] when it is put into the catalog.

use analyzer::system::{self, Oid};
use analyzer::{Error, Result};
use commands::{FunctionType, RoutineName};
use parser::types::held;
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{Catalog, Function, RelationId, SqlType, TypeId, UserType};
use user_types::{Visible, definition_of};

/// The type of users with an id, as clients see it. `None` for domains, and for other types: a parameter of such a type has
/// the one of its place.
///
/// # Errors
/// 0A000: PostgreSQL's type with this id, which has values of its own, does not exist here.
pub fn of_client(catalog: &Catalog, id: u32) -> Result<Option<SqlType>> {
    if let Some((user, is_array)) = catalog.type_shown(id) {
        let is_domain = user.domain().is_some();
        let user = SqlType::User(user);
        let of = if is_array { SqlType::Array(Box::new(user)) } else { user };
        return Ok(Some(of).filter(|_| !is_domain));
    }
    let oid = Oid(id);
    let is_pseudo = matches!(oid.category(), 'P' | 'X');
    if is_pseudo || held(system::SqlType::plain(oid)).is_some() {
        return Ok(None);
    }
    Err(Error::missing(format!("a parameter of type {}", oid.catalog_name())))
}

/// The analyzer's id of a user's type, or of arrays of it.
fn oid_of(user: &Arc<UserType>, is_array: bool) -> Option<Oid> {
    let oid = parser::types::of_held(&SqlType::User(Arc::clone(user)))?.oid;
    if is_array { oid.array() } else { Some(oid) }
}

/// The id of the catalog for one of the analyzer.
pub(crate) fn id_of(oid: u32) -> u32 {
    let item = Oid(oid).element().filter(|_| Oid(oid).is_of_users());
    match (definition_of(Oid(oid)), item.and_then(definition_of)) {
        (Some(user), _) => user.id.shown(),
        (None, Some(user)) => user.array.shown(),
        (None, None) => oid,
    }
}

/// The ids of the types in a signature.
fn ids(function: &mut Function) -> impl Iterator<Item = &mut u32> {
    let states = function.extension.state_ids_mut();
    let parameters = function.parameters.iter_mut().map(|parameter| &mut parameter.type_id);
    parameters.chain([&mut function.result_id]).chain(states)
}

/// A function whose types have ids of the analyzer. A type that is gone keeps its id, which the analyzer does not know.
pub fn resolved<'a>(catalog: &Catalog, function: &'a Arc<Function>) -> Cow<'a, Arc<Function>> {
    let all = function.parameters.iter().map(|parameter| parameter.type_id);
    let mut all = all.chain([function.result_id]).chain(function.extension.state_ids());
    if !all.any(TypeId::may_be_shown) {
        return Cow::Borrowed(function);
    }
    let mut resolved = Function::clone(function);
    for id in ids(&mut resolved) {
        let known = catalog.type_shown(*id);
        if let Some(oid) = known.and_then(|(user, is_array)| oid_of(&user, is_array)) {
            *id = oid.0;
        }
    }
    Cow::Owned(Arc::new(resolved))
}

/// A function whose types have ids of the catalog.
pub fn kept(mut function: Function) -> Function {
    ids(&mut function).for_each(|id| *id = id_of(*id));
    function
}

/// The type of the items of a VARIADIC parameter, by ids of the catalog.
pub fn variadic_item(catalog: &Catalog, id: u32) -> Option<u32> {
    match (catalog.type_shown(id), Oid(id)) {
        (Some((user, _)), _) => Some(user.id.shown()),
        (None, Oid::ANYARRAY) => Some(Oid::ANYELEMENT.0),
        (None, Oid::ANYCOMPATIBLEARRAY) => Some(Oid::ANYCOMPATIBLE.0),
        (None, oid) => oid.element().map(|item| item.0),
    }
}

/// Whether the signature of a function has a type of users.
pub fn mentions(function: &Function, user: &UserType) -> bool {
    let all = function.parameters.iter().map(|parameter| parameter.type_id);
    let mut all = all.chain([function.result_id]);
    all.any(|id| id == user.id.shown() || id == user.array.shown())
}

/// Whether the signature of a function has the type of the rows of a relation.
pub fn mentions_rows(function: &Function, relation: RelationId) -> bool {
    let parameters = function.parameters.iter().map(|parameter| parameter.type_id);
    let mut all = parameters.chain([function.result_id]).filter_map(TypeId::rows_shown);
    function.result_relation == Some(relation) || all.any(|(of, _)| of == relation)
}

/// A type as a statement writes it, which may be one of users.
pub fn known_type(given: &FunctionType, types: &Visible) -> FunctionType {
    let mut given = given.clone();
    if let Some(column) = &given.column {
        given.known = type_of_column(&given, column, types);
        return given;
    }
    if given.known.is_err()
        && let Some((user, is_array)) = types.find(given.name.schema.as_deref(), &given.name.name)
        && let Some(oid) = oid_of(&user, is_array || given.is_array)
    {
        given.known = Ok(oid);
    }
    given
}

/// The type of a column in a signature. It is the error that the statement has where there is no such relation.
fn type_of_column(given: &FunctionType, column: &str, types: &Visible) -> Result<Oid> {
    let found = types.find(given.name.schema.as_deref(), &given.name.name);
    let row = found.and_then(|(row, is_array)| Some(row).filter(|_| !is_array));
    let Some(attributes) = row.as_ref().and_then(|row| row.attributes()) else {
        return given.known.clone();
    };
    let Some(attribute) = attributes.iter().find(|attribute| attribute.name == column) else {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", given.name);
        return Err(Error::new("42703", message).at(given.location));
    };
    let missing = || Error::missing(format!("a parameter of the type of the column {column}"));
    let oid = parser::types::of_held(&attribute.sql_type).ok_or_else(missing)?.oid;
    if given.is_array { oid.array().ok_or_else(missing) } else { Ok(oid) }
}

/// A function as a statement names it, whose arguments may be of types of users.
pub fn known_name(given: &RoutineName, types: &Visible) -> RoutineName {
    let mut given = given.clone();
    for argument in given.arguments.iter_mut().flatten() {
        *argument = known_type(argument, types);
    }
    given
}
