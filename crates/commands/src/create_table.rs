//! CREATE TABLE and CREATE TABLE AS.

use crate::column::ColumnDefinition;
use crate::constraint::{TableConstraint, too_deep};
use crate::data_type::DataType;
use crate::names::{Persistence, RelationName, incomplete, node, texts};
use crate::options::Given;
use crate::storage_options::{self, Stored};
use crate::{Error, Execute, Result};
use grammar::statement_text;
use grammar::tree::{
    ColumnDef, CreateStmt, CreateTableAsStmt, NodeEnum, ObjectType, OnCommitAction, TableLikeClause,
};

/// What CREATE TABLE and CREATE TABLE AS have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTable {
    /// The name.
    pub name: RelationName,
    /// TEMPORARY or UNLOGGED.
    pub persistence: Persistence,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// WITH (...).
    pub options: Vec<Given>,
    /// ON COMMIT.
    pub on_commit: Option<OnCommit>,
}

/// What happens to the rows of a temporary table at the end of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCommit {
    /// PRESERVE ROWS.
    PreserveRows,
    /// DELETE ROWS.
    DeleteRows,
    /// DROP.
    Drop,
}

/// CREATE TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTable {
    /// The table.
    pub table: NewTable,
    /// The composite type of OF.
    pub of_type: Option<DataType>,
    /// The columns; with OF the options of some, whose types say nothing.
    pub columns: Vec<ColumnDefinition>,
    /// The LIKEs, in their order.
    pub likes: Vec<Like>,
    /// The constraints that belong to no column.
    pub constraints: Vec<TableConstraint>,
}

/// LIKE in CREATE TABLE, and what it includes. What tables do not have is included without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    /// The relation whose columns are copied.
    pub relation: RelationName,
    /// The byte of the statement where the relation stands; -1 if unknown.
    pub location: i32,
    /// How many of the table's own columns stand before it.
    pub after: usize,
    /// INCLUDING COMMENTS.
    pub comments: bool,
    /// INCLUDING CONSTRAINTS.
    pub constraints: bool,
    /// INCLUDING DEFAULTS.
    pub defaults: bool,
    /// INCLUDING GENERATED.
    pub generated: bool,
    /// INCLUDING IDENTITY.
    pub identity: bool,
    /// INCLUDING INDEXES.
    pub indexes: bool,
}

/// CREATE TABLE AS and SELECT INTO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateTableAs {
    /// The table.
    pub table: NewTable,
    /// The names of the first columns.
    pub columns: Vec<String>,
    /// Whether the rows are stored, too; not with WITH NO DATA.
    pub with_data: bool,
    /// Whether it is SELECT INTO.
    pub is_into: bool,
    /// The text of the query of CREATE MATERIALIZED VIEW, and the relations that it names.
    pub materialized: Option<(String, Vec<RelationName>)>,
    /// The EXECUTE that stands for the query.
    pub execute: Option<Execute>,
}

impl CreateTable {
    pub(crate) fn of(statement: &CreateStmt) -> Result<Self> {
        refuse_unsupported(statement)?;
        storage_options::check(&statement.options, Stored::NewTable)?;
        let relation = statement.relation.as_ref().ok_or_else(incomplete)?;
        let table = NewTable {
            name: RelationName::of(Some(relation))?,
            persistence: Persistence::of(relation),
            if_not_exists: statement.if_not_exists,
            options: Given::all(&statement.options),
            on_commit: on_commit(statement.oncommit()),
        };
        let of_type = statement.of_typename.as_ref().map(DataType::of).transpose()?;
        let (mut columns, mut likes, mut constraints) = (Vec::new(), Vec::new(), Vec::new());
        for element in &statement.table_elts {
            match node(Some(element))? {
                NodeEnum::ColumnDef(column) => {
                    // The options of a column of OF have no type.
                    let type_name =
                        column.type_name.as_ref().or(statement.of_typename.as_ref()).cloned();
                    let column = ColumnDef { type_name, ..ColumnDef::clone(column) };
                    let column = ColumnDefinition::of(&table.name.name, &column)?;
                    if of_type.is_some()
                        && let Some(kind) = column.computed()
                    {
                        let message = format!("{kind} columns are not supported on typed tables");
                        return Err(Error::new("0A000", message));
                    }
                    columns.push(column);
                }
                NodeEnum::Constraint(constraint) => match TableConstraint::of(constraint)? {
                    TableConstraint::Existing(of) => {
                        let message = "cannot use an existing index in CREATE TABLE";
                        return Err(Error::new("0A000", message).at(of.location));
                    }
                    constraint => constraints.push(constraint),
                },
                NodeEnum::TableLikeClause(like) => likes.push(Like::of(like, columns.len())?),
                _ => return Err(incomplete()),
            }
        }
        Ok(Self { table, of_type, columns, likes, constraints })
    }
}

impl Like {
    fn of(clause: &TableLikeClause, after: usize) -> Result<Self> {
        // PostgreSQL's TableLikeOption. Compression, statistics and storage are 1, 7 and 8.
        let includes = |bit: u32| clause.options & (1 << bit) != 0;
        let relation = clause.relation.as_ref();
        Ok(Self {
            relation: RelationName::of(relation)?,
            location: relation.map_or(-1, |relation| relation.location),
            after,
            comments: includes(0),
            constraints: includes(2),
            defaults: includes(3),
            generated: includes(4),
            identity: includes(5),
            indexes: includes(6),
        })
    }
}

fn refuse_unsupported(statement: &CreateStmt) -> Result<()> {
    let partition = "Every table is partitioned automatically as it grows.";
    if statement.partbound.is_some() || statement.partspec.is_some() {
        return Err(Error::missing("PARTITION").hint(partition));
    }
    let unsupported = [
        (!statement.inh_relations.is_empty(), "INHERITS"),
        (!statement.tablespacename.is_empty(), "TABLESPACE"),
        (!statement.access_method.is_empty(), "USING of a table"),
    ];
    match unsupported.into_iter().find(|(used, _)| *used) {
        Some((_, what)) => Err(Error::missing(what)),
        None => Ok(()),
    }
}

impl CreateTableAs {
    pub(crate) fn of(statement: &CreateTableAsStmt) -> Result<Self> {
        let into = statement.into.as_deref().ok_or_else(incomplete)?;
        let relation = into.rel.as_ref().ok_or_else(incomplete)?;
        if !into.access_method.is_empty() {
            return Err(Error::missing("USING of a table"));
        }
        if !into.table_space_name.is_empty() {
            return Err(Error::missing("TABLESPACE"));
        }
        let query = node(statement.query.as_deref())?;
        let execute = match query {
            NodeEnum::ExecuteStmt(execute) => Some(Execute::of(execute)?),
            _ => None,
        };
        let materialized = match statement.objtype() {
            ObjectType::ObjectMatview => {
                let unlogged = Error::new("0A000", "materialized views cannot be unlogged");
                Persistence::of(relation).is_temporary(unlogged)?;
                let relations = grammar::relations(query).into_iter();
                let relations = relations.map(|(schema, name)| RelationName { schema, name });
                Some((statement_text(query).ok_or_else(too_deep)?, relations.collect()))
            }
            _ => None,
        };
        storage_options::check(&into.options, Stored::NewTable)?;
        let table = NewTable {
            name: RelationName::of(Some(relation))?,
            persistence: Persistence::of(relation),
            if_not_exists: statement.if_not_exists,
            options: Given::all(&into.options),
            on_commit: on_commit(into.on_commit()),
        };
        Ok(Self {
            table,
            columns: texts(&into.col_names),
            with_data: !into.skip_data,
            is_into: statement.is_select_into,
            materialized,
            execute,
        })
    }
}

fn on_commit(action: OnCommitAction) -> Option<OnCommit> {
    match action {
        OnCommitAction::Undefined | OnCommitAction::OncommitNoop => None,
        OnCommitAction::OncommitPreserveRows => Some(OnCommit::PreserveRows),
        OnCommitAction::OncommitDeleteRows => Some(OnCommit::DeleteRows),
        OnCommitAction::OncommitDrop => Some(OnCommit::Drop),
    }
}
