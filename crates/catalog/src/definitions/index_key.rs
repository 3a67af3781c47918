//! What the keys of indexes are made of: columns and expressions.

use super::ids::ColumnId;
use crate::SqlType;
use serde::{Deserialize, Serialize};

/// What a part of an index's key is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexKey {
    /// A column of the table.
    Column(ColumnId),
    /// The value of an expression.
    Expression(IndexExpression),
}

/// An expression over a row of the indexed table. Its value depends on nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexExpression {
    /// SQL text.
    pub text: String,
    /// SQL text as it is shown.
    pub shown: String,
    /// The name of its value: that of a function, or `expr`.
    pub name: String,
    /// The type of its value.
    pub sql_type: SqlType,
    /// The columns that it reads.
    pub columns: Vec<ColumnId>,
}

impl IndexKey {
    /// Returns the column; `None` for an expression.
    pub fn column(&self) -> Option<ColumnId> {
        match self {
            Self::Column(id) => Some(*id),
            Self::Expression(_) => None,
        }
    }

    /// Returns the expression; `None` for a column.
    pub fn expression(&self) -> Option<&IndexExpression> {
        match self {
            Self::Column(_) => None,
            Self::Expression(expression) => Some(expression),
        }
    }

    /// Returns the columns that it reads.
    pub fn columns(&self) -> &[ColumnId] {
        match self {
            Self::Column(id) => std::slice::from_ref(id),
            Self::Expression(expression) => &expression.columns,
        }
    }
}

impl IndexExpression {
    /// Returns it as it stands among the columns of an index: in parentheses, unless it is a call.
    pub fn as_key(&self) -> String {
        let is_value = ["(", "'", "\n"].iter().any(|start| self.shown.starts_with(start));
        let is_call = self.shown.ends_with(')') && !is_value;
        if is_call { self.shown.clone() } else { format!("({})", self.shown) }
    }
}

impl From<ColumnId> for IndexKey {
    fn from(column: ColumnId) -> Self {
        Self::Column(column)
    }
}

/// A column of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// The column of the table, or an expression.
    pub key: IndexKey,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether NULL comes before all values.
    pub nulls_first: bool,
    /// The operator class, if it is not the type's own. It says nothing about the order.
    pub operator_class: Option<String>,
}

impl IndexColumn {
    /// Returns a part of a key in ascending order, with NULL last.
    pub fn new(key: impl Into<IndexKey>) -> Self {
        Self { key: key.into(), descending: false, nulls_first: false, operator_class: None }
    }
}
