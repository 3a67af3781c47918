//! Relations and tables.
//!
//! A table with foreign keys, or with checks that are NOT VALID, has an ordinal of its own: what
//! earlier versions do not know follows the fields that they know. So has a materialized view, which has
//! neither. A view with options has another ordinal than one without. Before a table whose primary key has
//! a name of its own, there is that name; before an unlogged table, and then before its key's name, a byte
//! that says so; before a view whose columns have comments, the comments.

use super::plain_index::PlainIndex;
use super::{Malformed, Source, Stable, fields, variants};
use crate::{
    Check, ForeignKey, Index, Materialized, ReferentialAction, Relation, Table, Timing, View,
    ViewOptions,
};
use std::sync::Arc;

const TABLE: u8 = 0;
const VIEW: u8 = 1;
const SEQUENCE: u8 = 2;
/// An index in the form that only columns of the table have.
const PLAIN_INDEX: u8 = 3;
const CONSTRAINED_TABLE: u8 = 40;
/// Any other index.
const INDEX: u8 = 45;
const MATERIALIZED_VIEW: u8 = 100;
/// An index of a deferrable UNIQUE constraint.
const DEFERRABLE_INDEX: u8 = 101;
/// The index of a primary key that is deferrable.
const DEFERRABLE_KEY: u8 = 102;
/// A view with options.
const VIEW_WITH_OPTIONS: u8 = 103;
/// The name of a primary key constraint, and then its table.
const NAMED_KEY: u8 = 134;
/// An unlogged table follows.
const UNLOGGED: u8 = 135;
/// The comments of a view's columns, and then the view.
const COMMENTED_VIEW: u8 = 136;

impl Stable for Relation {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Table(table) => {
                if table.is_unlogged {
                    out.push(UNLOGGED);
                }
                if let Some(name) = &table.key_constraint {
                    out.push(NAMED_KEY);
                    name.encode(out);
                }
                let unchecked = table.checks.iter().filter(|check| !check.is_valid);
                let unchecked: Vec<String> = unchecked.map(|check| check.name.clone()).collect();
                if let Some(materialized) = &table.materialized {
                    out.push(MATERIALIZED_VIEW);
                    table.encode(out);
                    materialized.encode(out);
                } else if table.foreign_keys.is_empty() && unchecked.is_empty() {
                    out.push(TABLE);
                    table.encode(out);
                } else {
                    out.push(CONSTRAINED_TABLE);
                    table.encode(out);
                    unchecked.encode(out);
                    table.foreign_keys.encode(out);
                }
            }
            Self::View(view) => {
                let ViewOptions { comments, .. } = &view.options;
                if !comments.is_empty() {
                    out.push(COMMENTED_VIEW);
                    comments.encode(out);
                }
                let plain = ViewOptions { comments: comments.clone(), ..ViewOptions::default() };
                if view.options == plain {
                    out.push(VIEW);
                    view.encode(out);
                } else {
                    out.push(VIEW_WITH_OPTIONS);
                    view.encode(out);
                    view.options.encode(out);
                }
            }
            Self::Sequence(sequence) => {
                out.push(SEQUENCE);
                sequence.encode(out);
            }
            Self::Index(index) if index.is_deferrable() => {
                out.push(if index.is_primary { DEFERRABLE_KEY } else { DEFERRABLE_INDEX });
                index.encode(out);
                index.timing.encode(out);
            }
            Self::Index(index) => match PlainIndex::of(index) {
                Some(plain) => {
                    out.push(PLAIN_INDEX);
                    plain.encode(out);
                }
                None => {
                    out.push(INDEX);
                    index.encode(out);
                }
            },
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        match u8::decode(from)? {
            TABLE => Stable::decode(from).map(Self::Table),
            VIEW => Stable::decode(from).map(Self::View),
            VIEW_WITH_OPTIONS => {
                let mut view = View::decode(from)?;
                view.options = Stable::decode(from)?;
                Ok(Self::View(Arc::new(view)))
            }
            SEQUENCE => Stable::decode(from).map(Self::Sequence),
            PLAIN_INDEX => Ok(Self::Index(Arc::new(PlainIndex::decode(from)?.into()))),
            INDEX => Stable::decode(from).map(Self::Index),
            CONSTRAINED_TABLE => {
                let mut table = Table::decode(from)?;
                let unchecked = Vec::<String>::decode(from)?;
                for check in &mut table.checks {
                    check.is_valid = !unchecked.contains(&check.name);
                }
                table.foreign_keys = Stable::decode(from)?;
                Ok(Self::Table(Arc::new(table)))
            }
            ordinal @ (DEFERRABLE_INDEX | DEFERRABLE_KEY) => {
                let mut index = Index::decode(from)?;
                index.is_primary = ordinal == DEFERRABLE_KEY;
                index.timing = Stable::decode(from)?;
                Ok(Self::Index(Arc::new(index)))
            }
            MATERIALIZED_VIEW => {
                let mut table = Table::decode(from)?;
                table.materialized = Some(Stable::decode(from)?);
                Ok(Self::Table(Arc::new(table)))
            }
            NAMED_KEY => {
                let name = String::decode(from)?;
                if from.next_is(NAMED_KEY) {
                    return Err(Malformed("a primary key has two names"));
                }
                if from.next_is(UNLOGGED) || from.next_is(COMMENTED_VIEW) {
                    return Err(Malformed("the name of a primary key is not before a table"));
                }
                let Self::Table(mut table) = Self::decode(from)? else {
                    return Err(Malformed("the name of a primary key is not before a table"));
                };
                Arc::make_mut(&mut table).key_constraint = Some(name);
                Ok(Self::Table(table))
            }
            UNLOGGED => {
                if from.next_is(UNLOGGED) || from.next_is(COMMENTED_VIEW) {
                    return Err(Malformed("what is unlogged is not a table"));
                }
                let Self::Table(mut table) = Self::decode(from)? else {
                    return Err(Malformed("what is unlogged is not a table"));
                };
                Arc::make_mut(&mut table).is_unlogged = true;
                Ok(Self::Table(table))
            }
            COMMENTED_VIEW => {
                let comments = Stable::decode(from)?;
                if !from.next_is(VIEW) && !from.next_is(VIEW_WITH_OPTIONS) {
                    return Err(Malformed("comments of columns are not before a view"));
                }
                let Self::View(mut view) = Self::decode(from)? else {
                    return Err(Malformed("comments of columns are not before a view"));
                };
                Arc::make_mut(&mut view).options.comments = comments;
                Ok(Self::View(view))
            }
            _ => Err(Malformed("a variant of Relation is unknown")),
        }
    }
}

/// Without what `CONSTRAINED_TABLE`, `MATERIALIZED_VIEW`, `NAMED_KEY` and `UNLOGGED` add.
impl Stable for Table {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self {
            id,
            schema,
            name,
            columns,
            key,
            key_constraint: _,
            is_unlogged: _,
            checks,
            foreign_keys: _,
            bucket_size,
            colocate_with,
            on_commit,
            home,
            next_column,
            version,
            materialized: _,
            comment,
        } = self;
        id.encode(out);
        schema.encode(out);
        name.encode(out);
        columns.encode(out);
        key.encode(out);
        checks.encode(out);
        bucket_size.encode(out);
        colocate_with.encode(out);
        on_commit.encode(out);
        home.encode(out);
        next_column.encode(out);
        version.encode(out);
        comment.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            id: Stable::decode(from)?,
            schema: Stable::decode(from)?,
            name: Stable::decode(from)?,
            columns: Stable::decode(from)?,
            key: Stable::decode(from)?,
            key_constraint: None,
            is_unlogged: false,
            checks: Stable::decode(from)?,
            foreign_keys: Vec::new(),
            bucket_size: Stable::decode(from)?,
            colocate_with: Stable::decode(from)?,
            on_commit: Stable::decode(from)?,
            home: Stable::decode(from)?,
            next_column: Stable::decode(from)?,
            version: Stable::decode(from)?,
            materialized: None,
            comment: Stable::decode(from)?,
        })
    }
}

fields!(Materialized { sql, search_path, is_populated });

/// Without whether it is valid.
impl Stable for Check {
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { name, expression, is_valid: _ } = self;
        name.encode(out);
        expression.encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        Ok(Self { name: Stable::decode(from)?, expression: Stable::decode(from)?, is_valid: true })
    }
}

variants!(ReferentialAction {
    0 => NoAction,
    1 => Restrict,
    2 => Cascade,
    3 => SetNull,
    4 => SetDefault,
});

variants!(Timing {
    0 => NotDeferrable,
    1 => InitiallyImmediate,
    2 => InitiallyDeferred,
});

fields!(ForeignKey {
    name,
    columns,
    references,
    referenced,
    index,
    on_delete,
    on_update,
    on_delete_set,
    is_full,
    timing,
    is_valid,
});
