//! Tables and materialized views.

use super::column::Column;
use super::constraint::{Check, ForeignKey};
use super::ids::{ColumnId, RelationId, TableId};
use crate::TypeId;
use arrow::datatypes::{Field, Schema as ArrowSchema, SchemaRef};
use sdds::GroupId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Default for the size at which a bucket splits, in bytes.
pub const DEFAULT_BUCKET_SIZE: u64 = 64 << 20;
/// Minimum bucket size of a table, in bytes.
pub const BUCKET_SIZE_MIN: u64 = 4 << 10;
/// Maximum bucket size of a table, in bytes.
pub const BUCKET_SIZE_MAX: u64 = 1 << 30;

const _: () =
    assert!(BUCKET_SIZE_MIN < DEFAULT_BUCKET_SIZE && DEFAULT_BUCKET_SIZE < BUCKET_SIZE_MAX);

/// What a commit does to a temporary table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnCommit {
    /// Keeps the rows, as for any other table.
    #[default]
    PreserveRows,
    /// Deletes the rows.
    DeleteRows,
    /// Drops the table.
    Drop,
}

/// What makes a table a materialized view, whose rows are those of a query when it was last refreshed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Materialized {
    /// The query, as SQL text. Its columns are those of the table, in order, under names of its own.
    pub sql: String,
    /// The search path for unqualified names in the query.
    pub search_path: Vec<String>,
    /// Whether it may be read: not after WITH NO DATA.
    pub is_populated: bool,
}

/// What few tables have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableExtension {
    /// The composite type of OF, whose attributes are the columns.
    pub of_type: Option<TypeId>,
    /// The texts of COMMENT ON CONSTRAINT, by the names of the constraints, in order.
    pub comments: Vec<(String, String)>,
    /// The relations that the query of a materialized view has named; empty if unknown.
    pub reads: Vec<RelationId>,
}

/// A table, or a materialized view.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Table {
    /// The id.
    pub id: TableId,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// All columns in order, the hidden one included.
    pub columns: Vec<Column>,
    /// The columns of the primary key in key order. Not empty.
    pub key: Vec<ColumnId>,
    /// The name of the primary key's constraint and index, if it is not the table's with `_pkey`.
    pub key_constraint: Option<String>,
    /// Whether it was created as UNLOGGED, which says nothing about how it is stored.
    pub is_unlogged: bool,
    /// The CHECK constraints.
    pub checks: Vec<Check>,
    /// The FOREIGN KEY constraints.
    pub foreign_keys: Vec<ForeignKey>,
    /// The size at which a bucket splits, in bytes.
    pub bucket_size: u64,
    /// The table it is colocated with: each row is stored on the server that owns the other table's
    /// key that is a prefix of its own key. The other table may have been dropped; see
    /// [`crate::Catalog::colocated`].
    pub colocate_with: Option<TableId>,
    /// What a commit does to the table.
    pub on_commit: OnCommit,
    /// The group that owns all keys of a new table.
    pub home: GroupId,
    /// The id of the next column to be added.
    pub next_column: u32,
    /// Incremented by each change of the definition.
    pub version: u32,
    /// What makes it a materialized view; `None` for a table.
    pub materialized: Option<Materialized>,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
    /// What few tables have.
    pub extension: TableExtension,
}

impl Table {
    /// Returns the text of COMMENT ON of a constraint.
    pub fn constraint_comment(&self, name: &str) -> Option<&str> {
        let mut comments = self.extension.comments.iter();
        comments.find(|(of, _)| of == name).map(|(_, text)| text.as_str())
    }

    /// Sets the text of COMMENT ON of a constraint; `None` removes it.
    pub fn set_constraint_comment(&mut self, name: &str, comment: Option<String>) {
        self.extension.comments.retain(|(of, _)| of != name);
        self.extension.comments.extend(comment.map(|comment| (name.to_owned(), comment)));
        self.extension.comments.sort();
    }

    /// Gives the comment of a constraint to the constraint of another name.
    pub fn move_constraint_comment(&mut self, from: &str, to: &str) {
        if let Some(comment) = self.constraint_comment(from).map(str::to_owned) {
            self.set_constraint_comment(from, None);
            self.set_constraint_comment(to, Some(comment));
        }
    }

    /// Returns all columns as Arrow fields, the hidden one included.
    pub fn arrow_schema(&self) -> SchemaRef {
        let field = |c: &Column| Field::new(&c.name, c.sql_type.arrow(), c.nullable);
        Arc::new(ArrowSchema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    /// Finds a column by name; returns its position too.
    pub fn column(&self, name: &str) -> Option<(usize, &Column)> {
        self.columns.iter().enumerate().find(|(_, column)| column.name == name)
    }

    /// Returns the position of a column.
    pub fn position(&self, id: ColumnId) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }

    /// Returns the positions of the key columns in key order.
    pub fn key_indices(&self) -> Vec<usize> {
        self.key.iter().filter_map(|id| self.position(*id)).collect()
    }

    /// Whether the key is a generated row id.
    pub fn has_hidden_key(&self) -> bool {
        self.columns.iter().any(|column| column.hidden)
    }

    /// Returns the name of the primary key constraint.
    pub fn key_name(&self) -> String {
        self.key_constraint.clone().unwrap_or_else(|| self.usual_key_name())
    }

    /// Whether it has a primary key, not deferrable, whose constraint has a name.
    pub fn is_key_name(&self, name: &str) -> bool {
        !self.key.is_empty() && !self.has_hidden_key() && self.key_name() == name
    }

    /// Changes the name of the primary key constraint.
    pub fn set_key_name(&mut self, name: String) {
        self.key_constraint = (name != self.usual_key_name()).then_some(name);
    }

    /// Changes the name of the table. Its primary key constraint keeps its own.
    pub fn rename(&mut self, name: &str) {
        let key = (!self.has_hidden_key()).then(|| self.key_name());
        self.name.clear();
        self.name.push_str(name);
        if let Some(key) = key {
            self.set_key_name(key);
        }
    }

    fn usual_key_name(&self) -> String {
        format!("{}_pkey", self.name)
    }
}

impl ForeignKey {
    /// Returns the positions of its columns in its table.
    pub fn positions(&self, table: &Table) -> Vec<usize> {
        self.columns.iter().filter_map(|column| table.position(*column)).collect()
    }

    /// Returns the positions of the referenced columns in their table.
    pub fn referenced_positions(&self, table: &Table) -> Vec<usize> {
        self.referenced.iter().filter_map(|column| table.position(*column)).collect()
    }
}
