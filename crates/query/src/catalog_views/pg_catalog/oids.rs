//! Object ids: PostgreSQL's own for what PostgreSQL has too, ours above.
//!
//! An id depends on the object alone, never on the connection or on what else there is, and all are below
//! 2^31, for clients that keep them in a signed integer. Relations carry their number in the catalog;
//! what has no number of its own gets a hash of its name in a range of its kind.

use store::catalog::RelationId;

/// The schema `pg_catalog`.
pub(crate) const PG_CATALOG: i64 = 11;
/// The schema `public`.
pub(crate) const PUBLIC: i64 = 2200;
/// The schema `information_schema`.
pub(crate) const INFORMATION_SCHEMA: i64 = 13_000;
/// The schema `pando`.
pub(crate) const PANDO_SCHEMA: i64 = 13_001;
/// The database.
pub(crate) const DATABASE: i64 = 5;
/// The access method of tables.
pub(crate) const HEAP: i64 = 2;
/// The access method of indexes.
pub(crate) const BTREE: i64 = 403;
/// The default collation.
pub(crate) const DEFAULT_COLLATION: i64 = 100;
/// `pg_class` itself, as other catalogs refer to it.
pub(crate) const PG_CLASS: i64 = 1259;
/// `pg_namespace` itself.
pub(crate) const PG_NAMESPACE: i64 = 2615;
/// `pg_constraint` itself.
pub(crate) const PG_CONSTRAINT: i64 = 2606;
/// `pg_attrdef` itself.
pub(crate) const PG_ATTRDEF: i64 = 2604;

const FIRST_RELATION: i64 = 16_384;
/// Each kind of object has a range of so many ids.
const RANGE: i64 = 1 << 28;

const _: () = assert!(7 * RANGE + RANGE <= i32::MAX as i64 + 1);

/// A table, view or sequence.
pub(crate) fn relation(id: RelationId) -> i64 {
    FIRST_RELATION + i64::from(id.0) % (RANGE - FIRST_RELATION)
}

/// The relation of an object id, where it can be one.
pub(crate) fn relation_of(oid: i64) -> Option<RelationId> {
    let id = oid.checked_sub(FIRST_RELATION).filter(|_| oid < RANGE)?;
    u32::try_from(id).ok().map(RelationId)
}

/// The index under a table's primary key.
pub(crate) fn key_index(id: RelationId) -> i64 {
    RANGE + i64::from(id.0) % RANGE
}

/// The table of an index.
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

/// A check constraint.
pub(crate) fn check(table: RelationId, name: &str) -> i64 {
    3 * RANGE + hash(&[&table.0.to_string(), name])
}

/// A column's default.
pub(crate) fn default(table: RelationId, column: u32) -> i64 {
    4 * RANGE + hash(&[&table.0.to_string(), &column.to_string()])
}

/// The type of a table's or a view's rows.
pub(crate) fn row_type(id: RelationId) -> i64 {
    7 * RANGE + i64::from(id.0) % RANGE
}

/// A schema.
pub(crate) fn schema(name: &str) -> i64 {
    match name {
        "pg_catalog" => PG_CATALOG,
        "public" => PUBLIC,
        "information_schema" => INFORMATION_SCHEMA,
        "pando" => PANDO_SCHEMA,
        other => 5 * RANGE + hash(&["schema", other]),
    }
}

/// A role.
pub(crate) fn role(name: &str) -> i64 {
    match name {
        super::roles::OWNER_NAME => super::roles::OWNER,
        other => 6 * RANGE + hash(&["role", other]),
    }
}

/// FNV-1a, folded into a range.
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
