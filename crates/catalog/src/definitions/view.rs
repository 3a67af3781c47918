//! Views.

use super::column::Column;
use super::ids::{ColumnId, RelationId, TableId};
use super::table::{OnCommit, Table, TableExtension};
use crate::SqlType;
use sdds::GroupId;
use serde::{Deserialize, Serialize};

/// A view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The id.
    pub id: RelationId,
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// The query, as SQL text.
    pub sql: String,
    /// The column names of CREATE VIEW; empty if the names of the query apply.
    pub columns: Vec<String>,
    /// The search path for unqualified names in the query.
    pub search_path: Vec<String>,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
    /// What makes it more than a query.
    pub options: ViewOptions,
}

/// What makes a view more than a query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewOptions {
    /// WITH CHECK OPTION.
    pub check: Option<CheckOption>,
    /// Whether the query is executed with the privileges of the user, not of the owner.
    pub security_invoker: bool,
    /// The columns that have a DEFAULT for INSERT, with its expression as SQL.
    pub defaults: Vec<(String, String)>,
    /// The texts of COMMENT ON of its columns, by their numbers from 1, in order.
    pub comments: Vec<(u32, String)>,
    /// The relations that the query has named; empty if unknown.
    pub reads: Vec<RelationId>,
}

/// Of which views rows that are written through a view must fulfil the conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckOption {
    /// The view.
    Local,
    /// The view and those below it.
    Cascaded,
}

impl ViewOptions {
    /// Sets the text of COMMENT ON of the column with a number from 1; `None` removes it.
    pub fn set_comment(&mut self, column: u32, comment: Option<String>) {
        self.comments.retain(|(number, _)| *number != column);
        self.comments.extend(comment.map(|comment| (column, comment)));
        self.comments.sort();
    }
}

impl View {
    /// The view as a table of its columns, as triggers see it. It has no key, and nobody owns its rows.
    pub fn as_table(&self, columns: impl Iterator<Item = (String, SqlType)>) -> Table {
        let column = |(number, (name, sql_type))| Column {
            id: ColumnId(number),
            name,
            sql_type,
            nullable: true,
            default: None,
            identity: None,
            generated: None,
            hidden: false,
            missing: None,
            comment: None,
        };
        let columns: Vec<Column> = (0..).zip(columns).map(column).collect();
        Table {
            id: TableId(self.id.0),
            schema: self.schema.clone(),
            name: self.name.clone(),
            next_column: columns.len() as u32,
            columns,
            key: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            bucket_size: 0,
            colocate_with: None,
            on_commit: OnCommit::default(),
            home: GroupId(0),
            version: 0,
            materialized: None,
            key_constraint: None,
            is_unlogged: false,
            comment: None,
            extension: TableExtension::default(),
        }
    }
}

impl Table {
    /// Returns the definition of a materialized view as a view; `None` for a table.
    pub fn as_view(&self) -> Option<View> {
        let materialized = self.materialized.as_ref()?;
        let shown = self.columns.iter().filter(|column| !column.hidden);
        Some(View {
            id: self.id.relation(),
            schema: self.schema.clone(),
            name: self.name.clone(),
            sql: materialized.sql.clone(),
            columns: shown.map(|column| column.name.clone()).collect(),
            search_path: materialized.search_path.clone(),
            comment: self.comment.clone(),
            options: ViewOptions::default(),
        })
    }
}
