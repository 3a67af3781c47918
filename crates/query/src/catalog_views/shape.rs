//! The shapes of PostgreSQL's own relations: which columns each has, in which order and of which types.
//!
//! They are read from `data/relations.txt`, which was written from a PostgreSQL 15, so that a client that
//! names any column of any system table finds it. Rows are the business of the modules beside this one.

use crate::values::cells::Form;
use crate::values::types::with_system_type;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// A column of a system relation.
#[derive(Debug)]
pub(crate) struct ShapeColumn {
    pub(crate) name: &'static str,
    /// The type as PostgreSQL names it.
    pub(crate) type_name: &'static str,
    pub(crate) form: Form,
    pub(crate) required: bool,
}

/// A system relation.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    /// PostgreSQL's own id of the relation.
    pub(crate) oid: i64,
    /// `r`, `v`, or `f` for a function that gives rows.
    pub(crate) kind: &'static str,
    pub(crate) columns: Vec<ShapeColumn>,
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
            with_system_type(field, column.type_name)
        };
        let arrow = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        Some(Self { schema, name, oid, kind, columns, arrow })
    }

    /// Whether it is a function that gives rows.
    pub(crate) fn is_function(&self) -> bool {
        self.kind == "f"
    }

    /// The position of a column.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The columns as Arrow has them.
    pub(crate) fn arrow(&self) -> SchemaRef {
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

/// Relations, and the few functions that give rows and are kept as if they were relations.
const FILES: [&str; 2] = [
    include_str!("pg_catalog/data/relations.txt"),
    include_str!("pg_catalog/data/functions_as_relations.txt"),
];

static SHAPES: LazyLock<Vec<Shape>> =
    LazyLock::new(|| FILES.iter().flat_map(|file| file.lines()).filter_map(Shape::parse).collect());

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), &'static Shape>> =
    LazyLock::new(|| SHAPES.iter().map(|shape| ((shape.schema, shape.name), shape)).collect());

/// All system relations.
pub(crate) fn all() -> impl Iterator<Item = &'static Shape> {
    SHAPES.iter().filter(|shape| !shape.is_function())
}

/// The system relation of a name.
pub(crate) fn of(schema: &str, name: &str) -> Option<&'static Shape> {
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
