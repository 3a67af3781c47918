//! Indexes.

use super::column::Column;
use super::constraint::Timing;
use super::ids::{ColumnId, TableId};
use super::index_key::{IndexColumn, IndexExpression, IndexKey};
use super::table::{Table, TableExtension};
use crate::SqlType;
use sdds::GroupId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An index: a file of entries, in the order of some columns of a table.
///
/// The file is a table with two columns: the entry, which is its key, and the key of the row. An
/// entry is made of the values of the columns, followed by the key of the row. In a unique index it
/// is made of the values alone, unless one is NULL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Index {
    /// The entries. Its id, schema, name and comment are those of the index.
    #[serde(with = "crate::arrow_serde::shared")]
    pub file: Arc<Table>,
    /// The table whose rows it has.
    pub table: TableId,
    /// The columns. Not empty.
    pub columns: Vec<IndexColumn>,
    /// The columns of INCLUDE. Entries do not have them.
    pub included: Vec<ColumnId>,
    /// The condition of the rows that it has; `None` for all rows.
    pub predicate: Option<IndexExpression>,
    /// Whether two rows cannot have the same values.
    pub is_unique: bool,
    /// Whether NULL is equal to NULL in a unique index.
    pub nulls_equal: bool,
    /// Whether it belongs to a UNIQUE constraint, or to a primary key that is deferrable, which has its name.
    pub is_constraint: bool,
    /// Whether its constraint is the primary key of the table, which is deferrable: a primary key that is not is the key of
    /// the table's file, without an index.
    pub is_primary: bool,
    /// Whether it was created as a hash index, which says nothing about its form.
    pub is_hash: bool,
    /// When its constraint is checked. If that is not when rows are written, its entries are those of an index that is
    /// not unique.
    pub timing: Timing,
}

impl Index {
    /// Returns an index of a table that is neither unique nor a constraint's. Its home is that of the
    /// table.
    pub fn new(id: TableId, name: String, of: &Table, columns: Vec<IndexColumn>) -> Self {
        let column = |id: u32, name: &str| Column {
            name: name.to_owned(),
            sql_type: SqlType::Bytea,
            hidden: false,
            ..Column::row_id(ColumnId(id))
        };
        let file = Table {
            id,
            schema: of.schema.clone(),
            name,
            columns: vec![column(0, "entry"), column(1, "row")],
            key: vec![ColumnId(0)],
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            bucket_size: of.bucket_size,
            colocate_with: None,
            on_commit: of.on_commit,
            home: of.home,
            next_column: 2,
            version: 1,
            materialized: None,
            key_constraint: None,
            is_unlogged: false,
            comment: None,
            extension: TableExtension::default(),
        };
        Self {
            file: Arc::new(file),
            table: of.id,
            columns,
            included: Vec::new(),
            predicate: None,
            is_unique: false,
            nulls_equal: false,
            is_constraint: false,
            is_primary: false,
            is_hash: false,
            timing: Timing::NotDeferrable,
        }
    }

    /// Whether its constraint is checked later than rows are written.
    pub fn is_deferrable(&self) -> bool {
        self.timing != Timing::NotDeferrable
    }

    /// Whether its entries refuse two rows with the same values.
    pub fn is_enforced(&self) -> bool {
        self.is_unique && !self.is_deferrable()
    }

    /// Returns the index with another home.
    pub fn at(self, home: GroupId) -> Self {
        Self { file: Arc::new(Table { home, ..Table::clone(&self.file) }), ..self }
    }

    /// Returns the positions of its columns in the table; `None` for expressions.
    pub fn positions(&self, table: &Table) -> Vec<Option<usize>> {
        let place = |column: &IndexColumn| table.position(column.key.column()?);
        self.columns.iter().map(place).collect()
    }

    /// Returns the positions of its columns in the table if it has all rows, by columns only.
    pub fn plain_positions(&self, table: &Table) -> Option<Vec<usize>> {
        match self.predicate {
            Some(_) => None,
            None => self.positions(table).into_iter().collect(),
        }
    }

    /// Returns the columns on which its entries depend.
    pub fn inputs(&self) -> impl Iterator<Item = ColumnId> {
        let keys = self.columns.iter().flat_map(|column| column.key.columns());
        let predicate = self.predicate.iter().flat_map(|predicate| &predicate.columns);
        keys.chain(predicate).copied()
    }

    /// Returns the positions of the columns on which its entries depend, in the order of the table.
    pub fn input_positions(&self, table: &Table) -> Vec<usize> {
        let mut inputs: Vec<usize> = self.inputs().filter_map(|id| table.position(id)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// Returns the type of each column; `None` for a column that the table does not have.
    pub fn types<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = Option<&'a SqlType>> {
        self.columns.iter().map(|column| match &column.key {
            IndexKey::Column(id) => Some(&table.columns[table.position(*id)?].sql_type),
            IndexKey::Expression(expression) => Some(&expression.sql_type),
        })
    }

    /// Whether its values must be computed: it has expressions, a condition, or documents, of which it has sort keys.
    pub fn is_computed(&self, table: &Table) -> bool {
        let mut keys = self.columns.iter().map(|column| &column.key);
        let is_document = |of: &SqlType| *of.representation() == SqlType::Jsonb;
        self.predicate.is_some()
            || keys.any(|key| key.expression().is_some())
            || self.types(table).flatten().any(is_document)
    }

    /// Returns its expressions in order, the condition last.
    pub fn expressions(&self) -> impl Iterator<Item = &IndexExpression> {
        let keys = self.columns.iter().filter_map(|column| column.key.expression());
        keys.chain(&self.predicate)
    }
}
