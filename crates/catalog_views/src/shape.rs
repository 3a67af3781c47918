//! The columns of PostgreSQL's system relations, with their order and types.
//!
//! They are parsed from `pg_catalog/data/relations.txt`, which was written from PostgreSQL 15. So
//! clients find every column of every system table. [`pg_catalog`](crate::pg_catalog) and
//! `information_schema` compute the rows.

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use values::cells::Form;
use values::types::with_system_type;

/// A column of a system relation.
#[derive(Debug)]
pub struct ShapeColumn {
    /// Its name.
    pub name: &'static str,
    /// PostgreSQL's name of its type.
    pub type_name: &'static str,
    /// The form of its values.
    pub form: Form,
    /// Whether it is NOT NULL.
    pub(crate) required: bool,
}

/// A system relation.
#[derive(Debug)]
pub struct Shape {
    /// Its schema.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// PostgreSQL's id of the relation; 0 for a function.
    pub oid: i64,
    /// `r` for a table, `v` for a view, or `f` for a set-returning function.
    pub kind: &'static str,
    /// Its columns, in order.
    pub columns: Vec<ShapeColumn>,
    arrow: SchemaRef,
}

impl Shape {
    fn parse(line: &'static str) -> Option<Self> {
        let (head, columns) = line.split_once(": ")?;
        let mut head = head.split(' ');
        let (schema, name) = head.next()?.split_once('.')?;
        let oid = head.next()?.parse().ok()?;
        let kind = head.next()?;
        let columns: Vec<ShapeColumn> =
            columns.split(", ").filter_map(ShapeColumn::parse).collect();
        let field = |column: &ShapeColumn| {
            let field = Field::new(column.name, column.form.arrow(), true);
            // A domain over `name`.
            let is_identifier = column.type_name == "sql_identifier";
            with_system_type(field, if is_identifier { "name" } else { column.type_name })
        };
        let arrow = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        Some(Self { schema, name, oid, kind, columns, arrow })
    }

    /// Whether it is a set-returning function.
    pub fn is_function(&self) -> bool {
        self.kind == "f"
    }

    /// The position of a column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Its Arrow schema.
    pub fn arrow(&self) -> SchemaRef {
        Arc::clone(&self.arrow)
    }
}

impl ShapeColumn {
    fn parse(text: &'static str) -> Option<Self> {
        let (name, type_name) = text.split_once(' ')?;
        let required = type_name.ends_with('!');
        let type_name = type_name.trim_end_matches('!');
        Some(Self { name, type_name, form: Form::of(type_name), required })
    }
}

/// Relations, and set-returning functions that are implemented as relations.
const FILES: [&str; 2] = [
    include_str!("pg_catalog/data/relations.txt"),
    include_str!("pg_catalog/data/functions_as_relations.txt"),
];

static SHAPES: LazyLock<Vec<Shape>> =
    LazyLock::new(|| FILES.iter().flat_map(|file| file.lines()).filter_map(Shape::parse).collect());

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), &'static Shape>> =
    LazyLock::new(|| SHAPES.iter().map(|shape| ((shape.schema, shape.name), shape)).collect());

/// All system relations.
pub fn all() -> impl Iterator<Item = &'static Shape> {
    SHAPES.iter().filter(|shape| !shape.is_function())
}

/// The system relation or function with a name.
pub fn of(schema: &str, name: &str) -> Option<&'static Shape> {
    BY_NAME.get(&(schema, name)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_relation() {
        assert_eq!(SHAPES.len(), FILES.iter().map(|file| file.lines().count()).sum::<usize>());
        let class = of("pg_catalog", "pg_class").expect("pg_class is there");
        assert_eq!((class.oid, class.kind), (1259, "r"));
        assert_eq!(class.columns[1].name, "relname");
        assert!(class.columns[1].required);
    }
}
