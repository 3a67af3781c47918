//! LIKE in CREATE TABLE: columns of another relation, and what INCLUDING adds to them.
//!
//! The columns always come with their types and NOT NULL. Foreign keys and privileges never come along. What PostgreSQL
//! includes with STORAGE, COMPRESSION and STATISTICS, tables here do not have.

use super::index;
use crate::analysis;
use crate::context::Frame;
use catalog_views::pg_catalog::class::Class;
use catalog_views::relation_names::{find_named, undefined};
use parser::commands::{Check, Like, SequenceOptions};
use parser::errors::at_byte;
use planner::results::stored_type;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, Column, ColumnId, Index, Privileges, Relation, Sequence, SqlType, Table, UserType,
};
use table_rows::typed;
use values::error::{Error, Result, SqlState};

/// What a LIKE adds to a table.
#[derive(Debug, Default)]
pub(super) struct Copied {
    /// The columns. Their ids are not those of the new table.
    pub(super) columns: Vec<CopiedColumn>,
    /// The names of the key columns; empty unless the primary key is included.
    pub(super) keys: Vec<String>,
    pub(super) checks: Vec<Check>,
    pub(super) indexes: Option<Indexes>,
    /// The comments of the checks.
    pub(super) comments: Vec<(String, String)>,
}

/// A column of a LIKE.
#[derive(Debug)]
pub(super) struct CopiedColumn {
    pub(super) column: Column,
    /// The options of its own sequence, if it is an identity column.
    pub(super) sequence: Option<SequenceOptions>,
}

/// The indexes of a LIKE.
#[derive(Debug)]
pub(super) struct Indexes {
    of: Arc<Table>,
    pub(super) all: Vec<Arc<Index>>,
    has_comments: bool,
}

/// Finds what a LIKE copies.
///
/// # Errors
/// 42P01 if there is no such relation; 42809 if it has no columns of this kind; 42501 without SELECT.
pub(super) async fn copied(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    like: &Like,
) -> Result<Copied> {
    let catalog = transaction.catalog();
    let here = |error: Error| match usize::try_from(like.location) {
        Ok(byte) => at_byte(error, byte, frame.text),
        Err(_) => error,
    };
    let relation = find_named(catalog, frame.path(), &like.relation)?;
    if let Some(relation) = relation {
        frame.access(catalog).require(relation, Privileges::SELECT)?;
    }
    match relation {
        Some(Relation::Table(table)) => Ok(of_table(catalog, table, like)),
        Some(relation @ (Relation::Sequence(_) | Relation::Index(_))) => {
            let message = format!("relation \"{}\" is invalid in LIKE clause", relation.name());
            let plural = match relation {
                Relation::Index(_) => "indexes",
                _ => "sequences",
            };
            Err(here(Error::new(SqlState::WrongObjectType, message))
                .with_detail(format!("This operation is not supported for {plural}.")))
        }
        None if let Some(user) = composite(catalog, frame, like) => Ok(of_composite(&user)),
        Some(Relation::View(_)) | None => {
            // Also a system table, which the catalog does not have.
            of_query(frame, transaction, like).await.map_err(|error| match error.state() {
                SqlState::UndefinedTable => here(undefined(&like.relation)),
                _ => error,
            })
        }
    }
}

/// The composite type that a LIKE names.
fn composite(catalog: &Catalog, frame: &Frame<'_>, like: &Like) -> Option<Arc<UserType>> {
    let name = &like.relation;
    match Class::by_name(catalog, frame.path(), name.schema.as_deref(), &name.name) {
        Some(Class::Composite(user)) => Some(Arc::clone(user)),
        _ => None,
    }
}

fn of_composite(user: &UserType) -> Copied {
    let column = |attribute| CopiedColumn { column: typed::column(0, attribute), sequence: None };
    let columns = user.attributes().unwrap_or_default().iter().map(column).collect();
    Copied { columns, ..Copied::default() }
}

fn of_table(catalog: &Catalog, table: &Arc<Table>, like: &Like) -> Copied {
    let columns = table.columns.iter().filter(|column| !column.hidden);
    let columns = columns.map(|column| of_column(catalog, table, column, like)).collect();
    let key = table.key_indices().into_iter().map(|at| &table.columns[at]);
    let keys = key.filter(|column| like.indexes && !column.hidden);
    let checks = table.checks.iter().filter(|_| like.constraints).map(|check| Check {
        name: Some(check.name.clone()),
        condition: check.expression.clone(),
        is_valid: true,
    });
    let indexes = like.indexes.then(|| Indexes {
        of: Arc::clone(table),
        all: catalog.indexes_of(table.id).to_vec(),
        has_comments: like.comments,
    });
    let comments = table.extension.comments.iter().filter(|(name, _)| {
        like.comments && like.constraints && table.checks.iter().any(|of| of.name == *name)
    });
    Copied {
        columns,
        comments: comments.cloned().collect(),
        keys: keys.map(|column| column.name.clone()).collect(),
        checks: checks.collect(),
        indexes,
    }
}

fn of_column(catalog: &Catalog, table: &Table, column: &Column, like: &Like) -> CopiedColumn {
    let owner = Some((table.id, column.id));
    let sequence = || {
        catalog.relations().find_map(|relation| match relation {
            Relation::Sequence(sequence) if sequence.owned_by == owner => Some(options(sequence)),
            _ => None,
        })
    };
    let identity = column.identity.filter(|_| like.identity);
    let default = match column.identity {
        None if like.defaults => column.default.clone(),
        _ => None,
    };
    let generated = column.generated.clone().filter(|_| like.generated);
    let of_domain = match &column.sql_type {
        SqlType::User(user) if identity.is_none() && generated.is_none() => {
            user.domain().and_then(|domain| domain.default.clone())
        }
        _ => None,
    };
    let copied = Column {
        identity,
        default: default.or(of_domain),
        generated,
        missing: None,
        comment: column.comment.clone().filter(|_| like.comments),
        ..column.clone()
    };
    CopiedColumn { column: copied, sequence: identity.and_then(|_| sequence()) }
}

/// The options of a sequence like another one.
fn options(sequence: &Sequence) -> SequenceOptions {
    SequenceOptions {
        increment: Some(sequence.increment),
        start: Some(sequence.start),
        min: Some(sequence.min),
        max: Some(sequence.max),
        cycle: sequence.cycle,
        ..SequenceOptions::default()
    }
}

/// The columns of a relation that is no table.
async fn of_query(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    like: &Like,
) -> Result<Copied> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let schema = like.relation.schema.as_deref().map(|schema| format!("{}.", quoted(schema)));
    let name = format!("{}{}", schema.unwrap_or_default(), quoted(&like.relation.name));
    let planner = frame.planner(transaction);
    let (_, fields) = analysis::plan_text(&planner, &format!("SELECT * FROM {name}")).await?;
    let columns = fields.into_iter().map(|field| {
        let (sql_type, name) = (stored_type(&field), field.name);
        let column =
            Column { name, sql_type, nullable: true, hidden: false, ..Column::row_id(ColumnId(0)) };
        CopiedColumn { column, sequence: None }
    });
    Ok(Copied { columns: columns.collect(), ..Copied::default() })
}

/// Adds the indexes of a LIKE to a new table.
///
/// # Errors
/// As of CREATE INDEX.
pub(super) async fn add_indexes(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Table,
    indexes: &Indexes,
) -> Result<()> {
    for of in &indexes.all {
        index::add_copy(frame, transaction, table, (of, &indexes.of), indexes.has_comments).await?;
    }
    Ok(())
}
