//! Object ids (OIDs).
//!
//! Objects that PostgreSQL has too have its ids, which are below 16384. The id of any other object
//! depends only on the object, so it is the same in every session and on every server. Each kind of
//! object has its own range of ids. The id is derived from the relation's number in the catalog, or
//! is a hash of the object's name. All ids are below 2^31, for clients that store them in a signed
//! integer.

use crate::names::BOOTSTRAP_SUPERUSER as BOOTSTRAP_SUPERUSER_NAME;
use store::catalog::{RelationId, Shared, TypeId};

/// The schema `pg_catalog`.
pub(crate) const PG_CATALOG: i64 = 11;
/// The schema `public`.
pub const PUBLIC: i64 = 2200;
/// The schema `information_schema`.
pub(crate) const INFORMATION_SCHEMA: i64 = 13_000;
/// The schema `pando`.
pub(crate) const PANDO_SCHEMA: i64 = 13_001;
/// The bootstrap superuser.
pub(crate) const BOOTSTRAP_SUPERUSER: i64 = 10;
/// The database.
pub const DATABASE: i64 = 5;
/// The access method of tables.
pub(crate) const HEAP: i64 = 2;
/// The access method of indexes.
pub(crate) const BTREE: i64 = 403;
/// The access method of hash indexes.
pub(crate) const HASH: i64 = 405;
/// The default collation.
pub(crate) const DEFAULT_COLLATION: i64 = 100;
/// `pg_class` itself.
pub(crate) const PG_CLASS: i64 = 1259;
/// `pg_namespace` itself.
pub(crate) const PG_NAMESPACE: i64 = 2615;
/// `pg_constraint` itself.
pub(crate) const PG_CONSTRAINT: i64 = 2606;
/// `pg_rewrite` itself.
pub(crate) const PG_REWRITE: i64 = 2618;
/// `pg_attrdef` itself.
pub(crate) const PG_ATTRDEF: i64 = 2604;

/// The language PL/pgSQL.
pub(crate) const PLPGSQL: i64 = 13_500;
/// The extension `plpgsql`.
pub(crate) const EXTENSION: i64 = 13_502;
/// `pg_extension` itself.
pub(crate) const PG_EXTENSION: i64 = 3079;
/// `pg_language` itself.
pub(crate) const PG_LANGUAGE: i64 = 2612;
/// The languages, with their ids.
pub(crate) const LANGUAGES: [(i64, &str); 5] =
    [(12, "internal"), (14, "sql"), (PLPGSQL, "plpgsql"), (13_590, "wasm"), (13_591, "javascript")];

/// The id of a language.
pub(crate) fn language(name: &str) -> i64 {
    LANGUAGES.iter().find(|(_, known)| *known == name).map_or(12, |(oid, _)| *oid)
}

/// `pg_proc` itself.
pub(crate) const PG_PROC: i64 = 1255;
/// `pg_trigger`.
pub(crate) const PG_TRIGGER: i64 = 2620;
/// `pg_type` itself.
pub(crate) const PG_TYPE: i64 = 1247;
/// The system table `pg_authid`, of roles.
pub(crate) const PG_AUTHID: i64 = 1260;
/// The system table `pg_database`.
pub(crate) const PG_DATABASE: i64 = 1262;

/// The least id of a relation of users.
const FIRST_RELATION: i64 = 16_384;
/// Number of ids of each kind of object.
const RANGE: i64 = 1 << 28;

const _: () = assert!(7 * RANGE + RANGE <= i32::MAX as i64 + 1);

/// A table, view, sequence or index.
pub fn relation(id: RelationId) -> i64 {
    FIRST_RELATION + i64::from(id.0) % (RANGE - FIRST_RELATION)
}

/// A type that a user has defined, or the type of arrays of one.
pub fn user_type(id: TypeId) -> i64 {
    id.shown().into()
}

/// The relation with an id, if the id is in the range of relations.
pub(crate) fn relation_of(oid: i64) -> Option<RelationId> {
    let id = oid.checked_sub(FIRST_RELATION).filter(|_| oid < RANGE)?;
    u32::try_from(id).ok().map(RelationId)
}

/// The index of a table's primary key.
pub(crate) fn key_index(id: RelationId) -> i64 {
    RANGE + i64::from(id.0) % RANGE
}

/// The table of a primary key's index.
pub(crate) fn table_of_index(oid: i64) -> Option<RelationId> {
    let id = oid.checked_sub(RANGE).filter(|id| (0..RANGE).contains(id))?;
    u32::try_from(id).ok().map(RelationId)
}

/// The constraint of a table's primary key.
pub(crate) fn key_constraint(id: RelationId) -> i64 {
    2 * RANGE + i64::from(id.0) % RANGE
}

/// The table of a primary key's constraint.
pub(crate) fn table_of_key(oid: i64) -> Option<RelationId> {
    let id = oid.checked_sub(2 * RANGE).filter(|id| (0..RANGE).contains(id))?;
    u32::try_from(id).ok().map(RelationId)
}

/// A check or UNIQUE constraint.
pub fn check(table: RelationId, name: &str) -> i64 {
    3 * RANGE + hash(&[&table.0.to_string(), name])
}

/// A column's default.
pub fn default(table: RelationId, column: u32) -> i64 {
    4 * RANGE + hash(&[&table.0.to_string(), &column.to_string()])
}

/// The row type of a table or view.
pub(crate) fn row_type(id: RelationId) -> i64 {
    user_type(TypeId::of_rows(id))
}

/// A schema.
pub fn schema(name: &str) -> i64 {
    match name {
        "pg_catalog" => PG_CATALOG,
        "public" => PUBLIC,
        "information_schema" => INFORMATION_SCHEMA,
        "pando" => PANDO_SCHEMA,
        other => 5 * RANGE + hash(&["schema", other]),
    }
}

/// A role.
pub fn role(name: &str) -> i64 {
    match name {
        BOOTSTRAP_SUPERUSER_NAME => BOOTSTRAP_SUPERUSER,
        other => 6 * RANGE + hash(&["role", other]),
    }
}

/// What is in no schema: its system table, and itself.
pub(crate) fn shared(on: &Shared) -> (i64, i64) {
    match on {
        Shared::Database => (PG_DATABASE, DATABASE),
        Shared::Role(name) => (PG_AUTHID, role(name)),
    }
}

/// The FNV-1a hash of strings, folded into the range of a kind.
fn hash(parts: &[&str]) -> i64 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    ((state ^ (state >> 32)) & (RANGE as u64 - 1)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_back_to_their_relations() {
        let id = RelationId(77);
        assert_eq!(relation_of(relation(id)), Some(id));
        assert_eq!(table_of_index(key_index(id)), Some(id));
        assert_eq!(table_of_key(key_constraint(id)), Some(id));
        assert_eq!(relation_of(key_index(id)), None);
        assert_eq!(table_of_index(key_constraint(id)), None);
    }

    #[test]
    fn kinds_of_objects_do_not_share_ids() {
        let id = RelationId(1);
        let mut all = vec![relation(id), key_index(id), key_constraint(id), row_type(id)];
        all.extend([check(id, "c"), default(id, 1), schema("s"), schema("public")]);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
