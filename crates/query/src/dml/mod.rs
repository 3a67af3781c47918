//! Statements that change rows: INSERT, UPDATE, DELETE, MERGE, and bulk loads.
//!
//! A [`statement`] consists of changes: what it does itself, and the changes in its WITH. A [`change`] computes rows with a
//! plan, converts them into rows of the table ([`table_rows`]), and writes them in the transaction ([`writer`]). RETURNING is
//! computed from the written rows. If each row can be changed independently of others, its owner changes it ([`pushdown`]).
//! Rows whose table has triggers are written by [`triggered`], also by loads and the actions of foreign keys.

mod arbiters;
pub(crate) mod assignment;
mod called;
mod change;
mod conflict;
pub(crate) mod constants;
mod coordinator;
mod delete;
pub(crate) mod explained;
pub(crate) mod firing_load;
mod ingest;
mod insert;
mod instead;
mod kept;
pub(crate) mod load;
mod merge;
pub(crate) mod pushdown;
pub(crate) mod referring;
mod rows;
pub(crate) mod statement;
mod triggered;
mod update;
mod view_checks;
mod writer;

use crate::context::Frame;
use catalog_views::other_kinds;
use catalog_views::relation_names::{a_kind, find_named, missing_relation};
use grammar::tree::RangeVar;
use parser::commands::RelationName;
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{Privileges, Relation, Table};
use values::error::{Error, Result, SqlState};

pub(crate) use ingest::ingest;

/// The table that a statement writes to, after checking that the role has the `needed` privileges.
pub(crate) fn named_target(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    name: &RelationName,
    needed: Privileges,
) -> Result<Arc<Table>> {
    let relation = find_named(tables.catalog(), frame.path(), name)?;
    if let Some(relation) = relation {
        frame.access(tables.catalog()).require(relation, needed)?;
    }
    let of_system = || match needed.contains(Privileges::OWNER) {
        true => other_kinds::of_system(&name.name),
        false => frame.access(tables.catalog()).no_change_of_system(&name.name),
    };
    match relation {
        Some(Relation::Table(table)) if table.materialized.is_none() => Ok(Arc::clone(table)),
        Some(other) => Err(Error::new(
            SqlState::WrongObjectType,
            format!("\"{}\" is {}, not a table", other.name(), a_kind(other.kind())),
        )),
        None => match &name.schema {
            Some(schema) if store::catalog::RESERVED_SCHEMAS.contains(&schema.as_str()) => {
                Err(of_system())
            }
            None if catalog_views::is_implicit(&name.name) => Err(of_system()),
            _ => Err(missing_relation(tables.catalog(), frame.path(), name)),
        },
    }
}

/// The name of a relation in a parse tree.
pub(crate) fn name_of(range: &RangeVar) -> RelationName {
    let schema = Some(range.schemaname.clone()).filter(|schema| !schema.is_empty());
    RelationName { schema, name: range.relname.clone() }
}

/// The index of a declared column; hidden columns are not declared.
///
/// # Errors
/// 42703 if there is no such column.
pub(crate) fn declared_column(table: &Table, name: &str) -> Result<usize> {
    match table.column(name) {
        Some((index, column)) if !column.hidden => Ok(index),
        _ => Err(Error::new(
            SqlState::UndefinedColumn,
            format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
        )),
    }
}
