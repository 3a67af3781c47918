//! The tables and views that a script has made so far, and the names that it gives to new ones.

use super::Generator;
use super::frames::Leaf;
use crate::tree::Type;
use std::ops::RangeInclusive;

/// A table or a view.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Leaf>,
    pub(super) view: bool,
}

/// What a script has made.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) tables: Vec<Table>,
    pub(super) sequences: Vec<String>,
    /// How many of the first tables exist for sure.
    pub(super) sound: usize,
}

/// Some columns of system tables.
const SYSTEM: &[(&str, &[(&str, Type)])] = &[
    ("pg_class", &[("relname::text", Type::Text), ("relnatts::int", Type::Int)]),
    ("pg_attribute", &[("attname::text", Type::Text), ("attnotnull", Type::Bool)]),
    ("pg_type", &[("typname::text", Type::Text), ("typlen::int", Type::Int)]),
    ("information_schema.columns", &[("table_name::text", Type::Text)]),
    ("pg_settings", &[("name", Type::Text), ("setting", Type::Text)]),
];

impl Generator {
    /// A table or view to read.
    pub(super) fn readable(&mut self) -> Table {
        if self.schema.tables.is_empty() || self.random.percent(3) {
            let (name, columns) = *self.random.pick(SYSTEM);
            let columns = columns.iter().map(|(name, of)| ((*name).to_owned(), *of)).collect();
            return Table { name: name.to_owned(), columns, view: true };
        }
        let end = self.visible();
        let at = self.random.below(end);
        self.schema.tables[at].clone()
    }

    /// How many of the first tables and views a statement chooses from: mostly those that exist for sure.
    fn visible(&mut self) -> usize {
        let sound = self.schema.sound;
        if sound > 0 && self.random.percent(85) { sound } else { self.schema.tables.len() }
    }

    /// A table to write.
    pub(super) fn writable(&mut self) -> Option<Table> {
        let end = self.visible();
        let tables = self.schema.tables[..end].iter().filter(|table| !table.view);
        let tables: Vec<&Table> = tables.collect();
        (!tables.is_empty()).then(|| (*self.random.pick(&tables)).clone())
    }

    /// Some types.
    pub(super) fn types(&mut self, count: RangeInclusive<usize>) -> Vec<Type> {
        let count = self.random.within(count);
        (0..count).map(|_| self.any_type()).collect()
    }

    /// A type; usual ones are frequent.
    pub(super) fn any_type(&mut self) -> Type {
        const USUAL: [Type; 4] = [Type::Int, Type::Text, Type::Bigint, Type::Numeric];
        if self.random.percent(40) {
            *self.random.pick(&USUAL)
        } else {
            *self.random.pick(&Type::ALL)
        }
    }
}
