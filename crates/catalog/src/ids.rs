//! Ids of relations and rows: each group numbers its own, so that those of groups differ.

use crate::RelationId;
use sdds::GroupId;

/// Number of low bits of a relation id that number the relations of a group.
const RELATION_BITS: u32 = 20;
/// Upper bound for groups, so that the relation ids of groups differ.
const GROUPS_MAX: u64 = 1 << (u32::BITS - RELATION_BITS);
/// Number of low bits of a row id that number the rows of a group.
const ROW_ID_BITS: u32 = 40;

/// Returns the id of a relation by its number in its group.
pub fn relation(group: GroupId, number: u32) -> RelationId {
    assert!(number < 1 << RELATION_BITS, "too many relations were created on this server");
    RelationId(relations_from(group) + number)
}

/// Returns the number of a relation in its group.
pub fn relation_number(id: RelationId) -> u32 {
    id.0 & ((1 << RELATION_BITS) - 1)
}

/// Whether a group has allocated a relation id.
pub fn is_of_group(id: RelationId, group: GroupId) -> bool {
    id.0 >> RELATION_BITS == relations_from(group) >> RELATION_BITS
}

/// Returns the id before the first relation of a group.
fn relations_from(group: GroupId) -> u32 {
    assert!(group.0 < GROUPS_MAX, "group {group} is not below {GROUPS_MAX}");
    (group.0 as u32) << RELATION_BITS
}

/// Returns a row id by its number in its group.
pub fn row(group: GroupId, number: i64) -> i64 {
    ((group.0 as i64) << ROW_ID_BITS) + number
}
