//! Relations of any kind.

use super::ids::RelationId;
use super::index::Index;
use super::schema::is_temporary_schema;
use super::sequence::Sequence;
use super::table::Table;
use super::view::View;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A table, view, sequence or index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Relation {
    /// A table or a materialized view.
    Table(#[serde(with = "crate::arrow_serde::shared")] Arc<Table>),
    /// A view.
    View(#[serde(with = "crate::arrow_serde::shared")] Arc<View>),
    /// A sequence.
    Sequence(#[serde(with = "crate::arrow_serde::shared")] Arc<Sequence>),
    /// An index.
    Index(#[serde(with = "crate::arrow_serde::shared")] Arc<Index>),
}

impl Relation {
    /// Returns the id.
    pub fn id(&self) -> RelationId {
        match self {
            Self::Table(table) => table.id.relation(),
            Self::View(view) => view.id,
            Self::Sequence(sequence) => sequence.id,
            Self::Index(index) => index.file.id.relation(),
        }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &str {
        match self {
            Self::Table(table) => &table.schema,
            Self::View(view) => &view.schema,
            Self::Sequence(sequence) => &sequence.schema,
            Self::Index(index) => &index.file.schema,
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Self::Table(table) => &table.name,
            Self::View(view) => &view.name,
            Self::Sequence(sequence) => &sequence.name,
            Self::Index(index) => &index.file.name,
        }
    }

    /// Whether it is temporary.
    pub fn is_temporary(&self) -> bool {
        is_temporary_schema(self.schema())
    }

    /// Returns the table of its rows or entries; `None` if it has no file.
    pub fn file(&self) -> Option<&Arc<Table>> {
        match self {
            Self::Table(table) => Some(table),
            Self::Index(index) => Some(&index.file),
            Self::View(_) | Self::Sequence(_) => None,
        }
    }

    /// Returns `table`, `materialized view`, `view`, `sequence` or `index`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Table(table) if table.materialized.is_some() => "materialized view",
            Self::Table(_) => "table",
            Self::View(_) => "view",
            Self::Sequence(_) => "sequence",
            Self::Index(_) => "index",
        }
    }
}
