//! Relations and tables.
//!
//! A table with foreign keys, or with checks that are NOT VALID, has an ordinal of its own: what
//! earlier versions do not know follows the fields that they know. So has a materialized view, which has
//! neither. A view with options has another ordinal than one without. Before a table whose primary key has
//! a name of its own, there is that name; before an unlogged table, and then before its key's name, a byte
//! that says so; before a view whose columns have comments, the comments, and before these the relations that
//! it reads. Before all that of a table there is its extension, if it has one.

use super::plain_index::PlainIndex;
use super::{Malformed, Source, Stable, fields, variants};
use crate::{
    Check, ForeignKey, Index, Materialized, ReferentialAction, Relation, Table, TableExtension,
    Timing, View, ViewOptions,
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
/// The extension of a table, and then the table.
const EXTENDED_TABLE: u8 = 150;
/// The relations that a view reads, and then the view.
const READING_VIEW: u8 = 151;

impl Stable for Relation {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Table(table) => {
                if table.extension != TableExtension::default() {
                    out.push(EXTENDED_TABLE);
                    table.extension.encode(out);
                }
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
            Self::View(view) => encode_view(view, out),
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
            ordinal @ (EXTENDED_TABLE | UNLOGGED | NAMED_KEY) => table_behind(ordinal, from),
            ordinal @ (READING_VIEW | COMMENTED_VIEW) => view_behind(ordinal, from),
            _ => Err(Malformed("a variant of Relation is unknown")),
        }
    }
}

/// Encodes a view, behind what comes before it.
fn encode_view(view: &View, out: &mut Vec<u8>) {
    let ViewOptions { comments, reads, .. } = &view.options;
    if !reads.is_empty() {
        out.push(READING_VIEW);
        reads.encode(out);
    }
    if !comments.is_empty() {
        out.push(COMMENTED_VIEW);
        comments.encode(out);
    }
    let (comments, reads) = (comments.clone(), reads.clone());
    let plain = ViewOptions { comments, reads, ..ViewOptions::default() };
    if view.options == plain {
        out.push(VIEW);
        view.encode(out);
    } else {
        out.push(VIEW_WITH_OPTIONS);
        view.encode(out);
        view.options.encode(out);
    }
}

/// What comes before a table, in this order.
const BEFORE_TABLES: [u8; 3] = [EXTENDED_TABLE, UNLOGGED, NAMED_KEY];
/// What comes before a view, in this order.
const BEFORE_VIEWS: [u8; 2] = [READING_VIEW, COMMENTED_VIEW];

/// Whether the next byte may follow an ordinal of a list: it is none of the list up to that one, and none of another list.
fn is_in_order(from: &Source<'_>, list: &[u8], ordinal: u8, others: &[u8]) -> bool {
    let behind = list.iter().position(|of| *of == ordinal).map_or(0, |at| at + 1);
    !list[..behind].iter().chain(others).any(|of| from.next_is(*of))
}

/// Decodes what an ordinal announces before a table, and the table.
fn table_behind(ordinal: u8, from: &mut Source<'_>) -> Result<Relation, Malformed> {
    let (mut extension, mut key_constraint) = (None, None);
    match ordinal {
        EXTENDED_TABLE => extension = Some(TableExtension::decode(from)?),
        NAMED_KEY => key_constraint = Some(String::decode(from)?),
        _ => {}
    }
    let misplaced = Malformed("what comes before a table is at a wrong place");
    if !is_in_order(from, &BEFORE_TABLES, ordinal, &BEFORE_VIEWS) {
        return Err(misplaced);
    }
    let Relation::Table(mut shared) = Relation::decode(from)? else { return Err(misplaced) };
    let table = Arc::make_mut(&mut shared);
    table.is_unlogged |= ordinal == UNLOGGED;
    table.extension = extension.unwrap_or_else(|| std::mem::take(&mut table.extension));
    table.key_constraint = key_constraint.or_else(|| table.key_constraint.take());
    Ok(Relation::Table(shared))
}

/// Decodes what an ordinal announces before a view, and the view.
fn view_behind(ordinal: u8, from: &mut Source<'_>) -> Result<Relation, Malformed> {
    let (mut reads, mut comments) = (Vec::new(), Vec::new());
    match ordinal {
        READING_VIEW => reads = Stable::decode(from)?,
        _ => comments = Stable::decode(from)?,
    }
    let misplaced = Malformed("what comes before a view is at a wrong place");
    if !is_in_order(from, &BEFORE_VIEWS, ordinal, &BEFORE_TABLES) {
        return Err(misplaced);
    }
    let Relation::View(mut shared) = Relation::decode(from)? else { return Err(misplaced) };
    let options = &mut Arc::make_mut(&mut shared).options;
    match ordinal {
        READING_VIEW => options.reads = reads,
        _ => options.comments = comments,
    }
    Ok(Relation::View(shared))
}

/// Without what `CONSTRAINED_TABLE`, `MATERIALIZED_VIEW`, `NAMED_KEY`, `UNLOGGED` and `EXTENDED_TABLE` add.
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
            extension: _,
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
            extension: TableExtension::default(),
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

fields!(TableExtension { of_type, comments, reads });

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
