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

/// The bit of the ids of types of rows, of which the rest is the id of the relation.
const OF_ROWS: u32 = 1 << 31;
/// The bit of the ids of types of arrays of rows, in addition.
const OF_ARRAYS: u32 = 1 << 30;

/// The least id of an object of users, as clients see it.
const FIRST_SHOWN: u32 = 16_384;
/// The number of ids of each kind of object, as clients see them.
const SHOWN: u32 = 1 << 28;
/// The first id of a type of rows, as clients see it.
const FIRST_OF_ROWS: u32 = 7 * SHOWN;
/// The number of ids of types of rows, behind which are those of arrays of them.
const SHOWN_OF_ROWS: u32 = SHOWN / 2;

impl TypeId {
    /// The id that clients see.
    pub fn shown(self) -> u32 {
        match self.rows_of() {
            None => FIRST_SHOWN + self.0 % (SHOWN - FIRST_SHOWN),
            Some((of, false)) => FIRST_OF_ROWS + of.0 % SHOWN_OF_ROWS,
            Some((of, true)) => FIRST_OF_ROWS + SHOWN_OF_ROWS + of.0 % SHOWN_OF_ROWS,
        }
    }

    /// Whether clients may see an id as that of a type of users.
    pub fn may_be_shown(shown: u32) -> bool {
        (FIRST_SHOWN..SHOWN).contains(&shown) || Self::rows_shown(shown).is_some()
    }

    /// The relation of whose rows an id, as clients see it, is the type, and whether it is the type of arrays of them.
    pub fn rows_shown(shown: u32) -> Option<(RelationId, bool)> {
        let id = shown.checked_sub(FIRST_OF_ROWS).filter(|id| *id < SHOWN)?;
        Some((RelationId(id % SHOWN_OF_ROWS), id >= SHOWN_OF_ROWS))
    }

    /// The type of the rows of a relation.
    pub fn of_rows(relation: RelationId) -> Self {
        Self(relation.0 & !OF_ARRAYS | OF_ROWS)
    }

    /// The type of arrays of the rows of a relation.
    pub fn of_row_arrays(relation: RelationId) -> Self {
        Self(relation.0 | OF_ROWS | OF_ARRAYS)
    }

    /// The relation of whose rows it is the type, and whether it is the type of arrays of them.
    pub fn rows_of(self) -> Option<(RelationId, bool)> {
        let relation = RelationId(self.0 & !(OF_ROWS | OF_ARRAYS));
        (self.0 & OF_ROWS != 0).then_some((relation, self.0 & OF_ARRAYS != 0))
    }

    /// Returns the id under which roles own the type.
    pub fn object(self) -> RelationId {
        RelationId(self.0)
    }
}

/// Id of a column within its table. It survives renaming and is not reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ColumnId(pub u32);
