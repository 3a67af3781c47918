//! Definitions of schemas, tables, columns, views, sequences and indexes.

mod column;
mod constraint;
mod ids;
mod index;
mod index_key;
mod relation;
mod schema;
mod sequence;
mod table;
mod view;

pub use column::{Column, Identity};
pub use constraint::{Check, ForeignKey, ReferentialAction, Timing};
pub use ids::{ColumnId, RelationId, TableId};
pub use index::Index;
pub use index_key::{IndexColumn, IndexExpression, IndexKey};
pub use relation::Relation;
pub use schema::{
    OWN_TEMPORARY_SCHEMA, Schema, is_temporary_schema, may_name_temporary_schema, temporary_schema,
};
pub use sequence::Sequence;
pub use table::{
    BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, DEFAULT_BUCKET_SIZE, Materialized, OnCommit, Table,
    TableExtension,
};
pub use view::{CheckOption, View, ViewOptions};
