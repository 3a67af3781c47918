//! Statements that change definitions.

use crate::locking::LockTables;
use crate::{
    AlterSequence, AlterTable, AlterType, Comment, CreateIndex, CreateSchema, CreateSequence,
    CreateTable, CreateTableAs, CreateType, CreateView, Drop, NewType, ObjectKind, Refresh,
    Reindex, RelationName, Rename, RoutineDefinition, SetConstraints, SetSchema, TriggerDefinition,
    Truncate,
};

/// A statement that changes definitions.
#[derive(Debug, Clone)]
pub enum Definition {
    /// CREATE TABLE.
    CreateTable(CreateTable),
    /// CREATE TABLE AS and CREATE MATERIALIZED VIEW. The query is in the tree.
    CreateTableAs(CreateTableAs),
    /// REFRESH MATERIALIZED VIEW.
    Refresh(Refresh),
    /// CREATE VIEW. The query is also in the tree.
    CreateView(CreateView),
    /// CREATE SCHEMA.
    CreateSchema(CreateSchema),
    /// CREATE EXTENSION of PL/pgSQL, which is there from the start.
    CreatePlpgsql {
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// CREATE SEQUENCE.
    CreateSequence(CreateSequence),
    /// CREATE INDEX.
    CreateIndex(CreateIndex),
    /// REINDEX.
    Reindex(Reindex),
    /// CREATE TYPE and CREATE DOMAIN.
    CreateType(CreateType),
    /// ALTER TYPE and ALTER DOMAIN.
    AlterType(AlterType),
    /// ALTER SEQUENCE.
    AlterSequence(AlterSequence),
    /// ALTER TABLE.
    AlterTable(AlterTable),
    /// ALTER ... RENAME.
    Rename(Rename),
    /// ALTER ... SET SCHEMA.
    SetSchema(SetSchema),
    /// DROP.
    Drop(Drop),
    /// TRUNCATE.
    Truncate(Truncate),
    /// LOCK TABLE.
    Lock(LockTables),
    /// COMMENT ON.
    Comment(Comment),
    /// SET CONSTRAINTS.
    SetConstraints(SetConstraints),
    /// A statement about a function or procedure.
    Routine(RoutineDefinition),
    /// A statement about a trigger.
    Trigger(TriggerDefinition),
    /// VACUUM and ANALYZE.
    Maintenance(Maintenance),
    /// CHECKPOINT.
    Checkpoint,
    /// DISCARD TEMP, and what DISCARD ALL drops.
    DropTemporary {
        /// Whether it is DISCARD ALL.
        all: bool,
    },
}

/// VACUUM or ANALYZE, which have nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// Whether it is VACUUM.
    pub is_vacuum: bool,
    /// The relations, each with the columns that are named; all if there are none.
    pub relations: Vec<(RelationName, Vec<String>)>,
}

impl Definition {
    /// The name of a statement that cannot run inside a transaction block.
    pub fn outside_transactions(&self) -> Option<&'static str> {
        match self {
            Self::Maintenance(maintenance) if maintenance.is_vacuum => Some("VACUUM"),
            Self::CreateIndex(create) if create.is_concurrent => Some("CREATE INDEX CONCURRENTLY"),
            Self::Reindex(reindex) if reindex.is_concurrent => Some("REINDEX CONCURRENTLY"),
            Self::Drop(drop) if drop.is_concurrent => Some("DROP INDEX CONCURRENTLY"),
            _ => None,
        }
    }

    /// The command tag.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::CreateTable(_) => "CREATE TABLE",
            Self::CreateTableAs(create) if create.materialized.is_some() => {
                "CREATE MATERIALIZED VIEW"
            }
            Self::Refresh(_) => "REFRESH MATERIALIZED VIEW",
            Self::CreateTableAs(create) if create.is_into => "SELECT INTO",
            Self::CreateTableAs(_) => "CREATE TABLE AS",
            Self::CreateView(_) => "CREATE VIEW",
            Self::CreateSchema(_) => "CREATE SCHEMA",
            Self::CreatePlpgsql { .. } => "CREATE EXTENSION",
            Self::CreateSequence(_) => "CREATE SEQUENCE",
            Self::CreateIndex(_) => "CREATE INDEX",
            Self::Reindex(_) => "REINDEX",
            Self::CreateType(create) => match create.kind {
                NewType::Enum(_) | NewType::Composite(_) => "CREATE TYPE",
                NewType::Domain { .. } => "CREATE DOMAIN",
            },
            Self::AlterType(AlterType { is_domain: true, .. }) => "ALTER DOMAIN",
            Self::AlterType(_) => "ALTER TYPE",
            Self::AlterSequence(_) => "ALTER SEQUENCE",
            Self::AlterTable(alter) => alter.kind.alter_tag(),
            Self::Rename(rename) => rename.kind.alter_tag(),
            Self::SetSchema(change) => change.kind.alter_tag(),
            Self::Drop(drop) => match drop.kind {
                ObjectKind::Table => "DROP TABLE",
                ObjectKind::View => "DROP VIEW",
                ObjectKind::MaterializedView => "DROP MATERIALIZED VIEW",
                ObjectKind::Sequence => "DROP SEQUENCE",
                ObjectKind::Index => "DROP INDEX",
                ObjectKind::Schema => "DROP SCHEMA",
                ObjectKind::Database => "DROP DATABASE",
                ObjectKind::Type => "DROP TYPE",
                ObjectKind::Domain => "DROP DOMAIN",
                ObjectKind::Function => "DROP FUNCTION",
            },
            Self::Truncate(_) => "TRUNCATE TABLE",
            Self::Lock(_) => "LOCK TABLE",
            Self::Comment(_) => "COMMENT",
            Self::SetConstraints(_) => "SET CONSTRAINTS",
            Self::Routine(definition) => definition.tag(),
            Self::Trigger(definition) => definition.tag(),
            Self::Maintenance(maintenance) if maintenance.is_vacuum => "VACUUM",
            Self::Maintenance(_) => "ANALYZE",
            Self::Checkpoint => "CHECKPOINT",
            Self::DropTemporary { all: true } => "DISCARD ALL",
            Self::DropTemporary { all: false } => "DISCARD TEMP",
        }
    }
}
