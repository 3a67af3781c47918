//! CREATE TABLE and CREATE TABLE AS.

use crate::column::ColumnDefinition;
use crate::constraint::TableConstraint;
use crate::names::{RelationName, incomplete, is_temporary, node, texts};
use crate::options::Given;
use crate::{Error, Result};
use grammar::tree::{CreateStmt, CreateTableAsStmt, NodeEnum, ObjectType, OnCommitAction};

/// What CREATE TABLE and CREATE TABLE AS have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTable {
    /// The name.
    pub name: RelationName,
    /// TEMPORARY.
    pub is_temporary: bool,
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
    /// The columns.
    pub columns: Vec<ColumnDefinition>,
    /// The constraints that belong to no column.
    pub constraints: Vec<TableConstraint>,
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
}

impl CreateTable {
    pub(crate) fn of(statement: &CreateStmt) -> Result<Self> {
        refuse_unsupported(statement)?;
        let relation = statement.relation.as_ref().ok_or_else(incomplete)?;
        let table = NewTable {
            name: RelationName::of(Some(relation))?,
            is_temporary: is_temporary(relation)?,
            if_not_exists: statement.if_not_exists,
            options: Given::all(&statement.options),
            on_commit: on_commit(statement.oncommit()),
        };
        let (mut columns, mut constraints) = (Vec::new(), Vec::new());
        for element in &statement.table_elts {
            match node(Some(element))? {
                NodeEnum::ColumnDef(column) => {
                    columns.push(ColumnDefinition::of(&table.name.name, column)?);
                }
                NodeEnum::Constraint(constraint) => {
                    constraints.push(TableConstraint::of(constraint)?);
                }
                NodeEnum::TableLikeClause(like) => {
                    let at = like.relation.as_ref().map_or(-1, |relation| relation.location);
                    return Err(Error::missing("CREATE TABLE LIKE").at(at));
                }
                _ => return Err(incomplete()),
            }
        }
        Ok(Self { table, columns, constraints })
    }
}

fn refuse_unsupported(statement: &CreateStmt) -> Result<()> {
    let partition = "Every table is partitioned automatically as it grows.";
    if statement.partbound.is_some() || statement.partspec.is_some() {
        return Err(Error::missing("PARTITION").hint(partition));
    }
    let unsupported = [
        (!statement.inh_relations.is_empty(), "INHERITS"),
        (statement.of_typename.is_some(), "CREATE TABLE OF"),
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
        if statement.objtype() == ObjectType::ObjectMatview {
            return Err(Error::new("0A000", "materialized views are not supported")
                .hint("CREATE TABLE ... AS stores the current result of a query."));
        }
        let into = statement.into.as_deref().ok_or_else(incomplete)?;
        let relation = into.rel.as_ref().ok_or_else(incomplete)?;
        if !into.access_method.is_empty() {
            return Err(Error::missing("USING of a table"));
        }
        if !into.table_space_name.is_empty() {
            return Err(Error::missing("TABLESPACE"));
        }
        if !matches!(node(statement.query.as_deref())?, NodeEnum::SelectStmt(_)) {
            return Err(Error::missing("CREATE TABLE AS EXECUTE"));
        }
        let table = NewTable {
            name: RelationName::of(Some(relation))?,
            is_temporary: is_temporary(relation)?,
            if_not_exists: statement.if_not_exists,
            options: Given::all(&into.options),
            on_commit: on_commit(into.on_commit()),
        };
        Ok(Self {
            table,
            columns: texts(&into.col_names),
            with_data: !into.skip_data,
            is_into: statement.is_select_into,
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
