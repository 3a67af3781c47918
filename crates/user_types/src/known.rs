//! The analyzer's ids of types.
//!
//! An id stands for one definition: a type that changes gets another one. Ids are those of this process: what
//! is kept of a type is its definition, once for each change.

use analyzer::system::types::{UserKind, add_type_of_user};
use analyzer::system::{Oid, SqlType};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use store::catalog::{
    Attribute, DEFAULT_SCHEMA, SqlType as Held, UserType, UserTypeKind, is_temporary_schema,
};

#[derive(Default)]
struct Known {
    by_definition: HashMap<Arc<UserType>, Oid>,
    by_oid: HashMap<Oid, Arc<UserType>>,
}

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// The analyzer's id of a type. `of` gives the analyzer's types of those in its definition.
pub fn oid_of(user: &Arc<UserType>, of: impl Fn(&Held) -> Option<SqlType>) -> Option<Oid> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(oid) = known.by_definition.get(user) {
        return Some(*oid);
    }
    drop(known);
    let kind = match &user.kind {
        UserTypeKind::Enum(_) => UserKind::Enum,
        UserTypeKind::Domain(domain) => UserKind::Domain(of(&domain.base)?),
        UserTypeKind::Composite(attributes) => {
            let attribute = |known: &Attribute| Some((known.name.clone(), of(&known.sql_type)?));
            UserKind::Composite(attributes.iter().map(attribute).collect::<Option<_>>()?)
        }
    };
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(oid) = known.by_definition.get(user) {
        return Some(*oid);
    }
    let oid = add_type_of_user(shown(user), kind);
    known.by_definition.insert(Arc::clone(user), oid);
    known.by_oid.insert(oid, Arc::clone(user));
    Some(oid)
}

/// The definition of a type. `None` for types that are no user's.
pub fn definition_of(oid: Oid) -> Option<Arc<UserType>> {
    if !oid.is_of_users() {
        return None;
    }
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.by_oid.get(&oid).cloned()
}

/// The name of a type in messages.
fn shown(user: &UserType) -> String {
    let name = quoted(&user.name);
    match user.schema.as_str() {
        DEFAULT_SCHEMA => name,
        schema if is_temporary_schema(schema) => name,
        schema => format!("{}.{name}", quoted(schema)),
    }
}

/// A name as an identifier.
fn quoted(name: &str) -> String {
    let is_plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
