//! Types of users by name.

use super::Frame;
use parser::commands::RelationName;
use std::sync::Arc;
use store::catalog::{Catalog, Object, Privileges, UserType};
use values::error::{Error, Result, SqlState};

/// The type of a name.
///
/// # Errors
/// 42704 if there is none.
fn find(frame: &Frame<'_>, catalog: &Arc<Catalog>, name: &RelationName) -> Result<Arc<UserType>> {
    let types = frame.types(catalog);
    let found = types.find(name.schema.as_deref(), &name.name).filter(|(_, is_array)| !is_array);
    found.map(|(user, _)| user).ok_or_else(|| {
        let message = format!("type \"{name}\" does not exist");
        Error::new(SqlState::UndefinedObject, message)
    })
}

/// The type of a name, which the user may change.
pub(crate) fn owned_type(
    frame: &Frame<'_>,
    catalog: &Arc<Catalog>,
    name: &RelationName,
) -> Result<Arc<UserType>> {
    let user = find(frame, catalog, name)?;
    if user.id.rows_of().is_some() {
        let message = format!("{} is a table's row type", user.name);
        return Err(
            Error::new(SqlState::WrongObjectType, message).with_hint("Use ALTER TABLE instead.")
        );
    }
    let access = frame.access(catalog);
    if access.privileges(&Object::Relation(user.id.object())).contains(Privileges::OWNER) {
        return Ok(user);
    }
    let message = format!("must be owner of type {}", user.name);
    Err(Error::new(SqlState::InsufficientPrivilege, message))
}
