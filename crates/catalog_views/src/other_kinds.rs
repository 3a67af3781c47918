//! Statements about an object of another kind than they say.

use crate::pg_catalog::class::Class;
use crate::relation_names::a_kind;
use crate::search_path::SearchPath;
use parser::commands::{ObjectKind, RelationName};
use store::catalog::Catalog;
use values::{Error, Result, SqlState};

/// The error for a DROP of what is of another kind: 42809.
pub fn wrong_drop(name: &str, wanted: ObjectKind, kind: &str) -> Error {
    let message = format!("\"{name}\" is not {}", a_kind(wanted.name()));
    let hint = format!("Use DROP {} to remove {}.", kind.to_uppercase(), a_kind(kind));
    Error::new(SqlState::WrongObjectType, message).with_hint(hint)
}

/// The refusal of another definition of a system table, also to superusers.
pub fn of_system(name: &str) -> Error {
    let message = format!("permission denied: \"{name}\" is a system catalog");
    Error::new(SqlState::InsufficientPrivilege, message)
}

/// Refuses to drop what has a name that is no relation of users.
///
/// # Errors
/// 42809; 42501 for a system table.
pub fn refuse_drop(
    catalog: &Catalog,
    path: SearchPath<'_>,
    name: &RelationName,
    wanted: ObjectKind,
) -> Result<()> {
    match Class::by_name(catalog, path, name.schema.as_deref(), &name.name) {
        None => Ok(()),
        Some(Class::System(shape)) if shape.is_function() => Ok(()),
        Some(class @ Class::System(_)) if class.kind() == wanted.name() => {
            Err(of_system(&name.name))
        }
        Some(class) => Err(wrong_drop(&name.name, wanted, class.kind())),
    }
}

/// Refuses an ALTER of a relation where the name is that of a composite type.
///
/// # Errors
/// 42809.
pub fn refuse_composite(
    catalog: &Catalog,
    path: SearchPath<'_>,
    name: &RelationName,
) -> Result<()> {
    match Class::by_name(catalog, path, name.schema.as_deref(), &name.name) {
        Some(Class::Composite(user)) => {
            let message = format!("\"{}\" is a composite type", user.name);
            let error = Error::new(SqlState::WrongObjectType, message);
            Err(error.with_hint("Use ALTER TYPE instead."))
        }
        _ => Ok(()),
    }
}
