//! Views as tables of their columns, which triggers see.

use datafusion::arrow::datatypes::Schema;
use planner::unique_names;
use store::catalog::{Column, ColumnId, OnCommit, Table, TableId, View};
use values::types;

/// A view as a table of its columns. It has no key, and nobody owns its rows.
pub(crate) fn as_table(view: &View, schema: &Schema) -> Table {
    let column = |(number, field)| {
        let field: &datafusion::arrow::datatypes::FieldRef = field;
        Column {
            id: ColumnId(number),
            name: unique_names::shown(field.name()).to_owned(),
            sql_type: types::of_field(field),
            nullable: true,
            default: None,
            identity: None,
            generated: None,
            hidden: false,
            missing: None,
            comment: None,
        }
    };
    let columns: Vec<Column> = (0..).zip(schema.fields()).map(column).collect();
    Table {
        id: TableId(view.id.0),
        schema: view.schema.clone(),
        name: view.name.clone(),
        key: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        bucket_size: 0,
        colocate_with: None,
        on_commit: OnCommit::default(),
        home: sdds::GroupId(0),
        next_column: columns.len() as u32,
        columns,
        version: 0,
        materialized: None,
        comment: None,
    }
}
