//! The form of indexes over columns of their table: without expressions, conditions, INCLUDE and
//! operator classes.

use super::fields;
use crate::{ColumnId, Index, IndexColumn, Table, TableId, Timing};
use std::sync::Arc;

/// An index over columns of its table.
pub(super) struct PlainIndex {
    file: Arc<Table>,
    table: TableId,
    columns: Vec<PlainColumn>,
    is_unique: bool,
    nulls_equal: bool,
    is_constraint: bool,
    is_hash: bool,
}

struct PlainColumn {
    column: ColumnId,
    descending: bool,
    nulls_first: bool,
}

fields!(PlainColumn { column, descending, nulls_first });

fields!(PlainIndex { file, table, columns, is_unique, nulls_equal, is_constraint, is_hash });

impl PlainIndex {
    /// The index in this form; `None` if it is more than that.
    pub(super) fn of(index: &Index) -> Option<Self> {
        let column = |of: &IndexColumn| {
            let (descending, nulls_first) = (of.descending, of.nulls_first);
            let column = of.key.column().filter(|_| of.operator_class.is_none())?;
            Some(PlainColumn { column, descending, nulls_first })
        };
        if index.predicate.is_some() || !index.included.is_empty() || index.is_deferrable() {
            return None;
        }
        Some(Self {
            file: Arc::clone(&index.file),
            table: index.table,
            columns: index.columns.iter().map(column).collect::<Option<_>>()?,
            is_unique: index.is_unique,
            nulls_equal: index.nulls_equal,
            is_constraint: index.is_constraint,
            is_hash: index.is_hash,
        })
    }
}

impl From<PlainIndex> for Index {
    fn from(plain: PlainIndex) -> Self {
        let column = |of: PlainColumn| IndexColumn {
            descending: of.descending,
            nulls_first: of.nulls_first,
            ..IndexColumn::new(of.column)
        };
        Self {
            file: plain.file,
            table: plain.table,
            columns: plain.columns.into_iter().map(column).collect(),
            included: Vec::new(),
            predicate: None,
            is_unique: plain.is_unique,
            nulls_equal: plain.nulls_equal,
            is_constraint: plain.is_constraint,
            is_primary: false,
            is_hash: plain.is_hash,
            timing: Timing::NotDeferrable,
        }
    }
}
