//! Sequences.

use super::ids::{ColumnId, RelationId, TableId};
use serde::{Deserialize, Serialize};

/// A sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The id.
    pub id: RelationId,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// The first value.
    pub start: i64,
    /// The increment. Not zero.
    pub increment: i64,
    /// The minimum value.
    pub min: i64,
    /// The maximum value.
    pub max: i64,
    /// Whether it wraps around at its limit.
    pub cycle: bool,
    /// The column it is owned by and dropped with.
    pub owned_by: Option<(TableId, ColumnId)>,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
}
