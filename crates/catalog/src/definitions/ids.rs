//! Ids of relations, tables and columns.

use crate::TypeId;
use serde::{Deserialize, Serialize};

/// Id of a relation of any kind. Ids of dropped relations are not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RelationId(pub u32);

/// Id of a table. The number equals that of its [`RelationId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableId(pub u32);

impl TableId {
    /// Returns the id of the table as a relation.
    pub fn relation(self) -> RelationId {
        RelationId(self.0)
    }
}

impl TypeId {
    /// Returns the id under which roles own the type.
    pub fn object(self) -> RelationId {
        RelationId(self.0)
    }
}

/// Id of a column within its table. It survives renaming and is not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ColumnId(pub u32);
