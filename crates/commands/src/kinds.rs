//! Statements that PostgreSQL has and Pando has not.

use crate::Error;
use crate::names::words_of;
use grammar::tree::NodeEnum;

/// The error for a statement that is not supported, with a hint for an alternative.
pub(crate) fn missing(statement: &NodeEnum) -> Error {
    let (what, hint) = match statement {
        NodeEnum::CreateRangeStmt(_) => ("range types", "Use two columns, or a composite type."),
        other => return Error::missing(tag(other)),
    };
    Error::new("0A000", format!("{what} are not supported")).hint(hint)
}

/// The name of a statement that is not supported.
pub fn tag(statement: &NodeEnum) -> String {
    if let NodeEnum::DefineStmt(define) = statement {
        return format!("CREATE {}", words_of(define.kind()));
    }
    let tag = of_alter(statement).or_else(|| of_create(statement)).or_else(|| of_other(statement));
    tag.unwrap_or("this statement").to_owned()
}

/// The name of an ALTER.
fn of_alter(statement: &NodeEnum) -> Option<&'static str> {
    Some(match statement {
        NodeEnum::AlterCollationStmt(_) => "ALTER COLLATION",
        NodeEnum::AlterDatabaseStmt(_)
        | NodeEnum::AlterDatabaseSetStmt(_)
        | NodeEnum::AlterDatabaseRefreshCollStmt(_) => "ALTER DATABASE",
        NodeEnum::AlterDefaultPrivilegesStmt(_) => "ALTER DEFAULT PRIVILEGES",
        NodeEnum::AlterDomainStmt(_) => "ALTER DOMAIN",
        NodeEnum::AlterEnumStmt(_) | NodeEnum::AlterTypeStmt(_) => "ALTER TYPE",
        NodeEnum::AlterEventTrigStmt(_) => "ALTER EVENT TRIGGER",
        NodeEnum::AlterExtensionContentsStmt(_) | NodeEnum::AlterExtensionStmt(_) => {
            "ALTER EXTENSION"
        }
        NodeEnum::AlterFdwStmt(_) => "ALTER FOREIGN DATA WRAPPER",
        NodeEnum::AlterForeignServerStmt(_) => "ALTER SERVER",
        NodeEnum::AlterFunctionStmt(_) => "ALTER FUNCTION",
        NodeEnum::AlterObjectDependsStmt(_) => "ALTER ... DEPENDS ON EXTENSION",
        NodeEnum::AlterOpFamilyStmt(_) => "ALTER OPERATOR FAMILY",
        NodeEnum::AlterOperatorStmt(_) => "ALTER OPERATOR",
        NodeEnum::AlterPolicyStmt(_) => "ALTER POLICY",
        NodeEnum::AlterPublicationStmt(_) => "ALTER PUBLICATION",
        NodeEnum::AlterRoleSetStmt(_) => "ALTER ROLE ... SET",
        NodeEnum::AlterStatsStmt(_) => "ALTER STATISTICS",
        NodeEnum::AlterSubscriptionStmt(_) => "ALTER SUBSCRIPTION",
        NodeEnum::AlterTableMoveAllStmt(_) => "ALTER ... ALL IN TABLESPACE",
        NodeEnum::AlterTableSpaceOptionsStmt(_) => "ALTER TABLESPACE",
        NodeEnum::AlterTsconfigurationStmt(_) => "ALTER TEXT SEARCH CONFIGURATION",
        NodeEnum::AlterTsdictionaryStmt(_) => "ALTER TEXT SEARCH DICTIONARY",
        NodeEnum::AlterUserMappingStmt(_) => "ALTER USER MAPPING",
        _ => return None,
    })
}

/// The name of a CREATE.
fn of_create(statement: &NodeEnum) -> Option<&'static str> {
    Some(match statement {
        NodeEnum::CompositeTypeStmt(_)
        | NodeEnum::CreateEnumStmt(_)
        | NodeEnum::CreateRangeStmt(_) => "CREATE TYPE",
        NodeEnum::CreateAmStmt(_) => "CREATE ACCESS METHOD",
        NodeEnum::CreateCastStmt(_) => "CREATE CAST",
        NodeEnum::CreateConversionStmt(_) => "CREATE CONVERSION",
        NodeEnum::CreateDomainStmt(_) => "CREATE DOMAIN",
        NodeEnum::CreateEventTrigStmt(_) => "CREATE EVENT TRIGGER",
        NodeEnum::CreateExtensionStmt(_) => "CREATE EXTENSION",
        NodeEnum::CreateFdwStmt(_) => "CREATE FOREIGN DATA WRAPPER",
        NodeEnum::CreateForeignServerStmt(_) => "CREATE SERVER",
        NodeEnum::CreateForeignTableStmt(_) => "CREATE FOREIGN TABLE",
        NodeEnum::CreateOpClassStmt(_) => "CREATE OPERATOR CLASS",
        NodeEnum::CreateOpFamilyStmt(_) => "CREATE OPERATOR FAMILY",
        NodeEnum::CreatePlangStmt(_) => "CREATE LANGUAGE",
        NodeEnum::CreatePolicyStmt(_) => "CREATE POLICY",
        NodeEnum::CreatePublicationStmt(_) => "CREATE PUBLICATION",
        NodeEnum::CreateStatsStmt(_) => "CREATE STATISTICS",
        NodeEnum::CreateSubscriptionStmt(_) => "CREATE SUBSCRIPTION",
        NodeEnum::CreateTableSpaceStmt(_) => "CREATE TABLESPACE",
        NodeEnum::CreateTransformStmt(_) => "CREATE TRANSFORM",
        NodeEnum::CreateTrigStmt(_) => "CREATE TRIGGER",
        NodeEnum::CreateUserMappingStmt(_) => "CREATE USER MAPPING",
        NodeEnum::CreatedbStmt(_) => "CREATE DATABASE",
        NodeEnum::IndexStmt(_) => "CREATE INDEX",
        NodeEnum::RuleStmt(_) => "CREATE RULE",
        _ => return None,
    })
}

/// The name of another statement.
fn of_other(statement: &NodeEnum) -> Option<&'static str> {
    Some(match statement {
        NodeEnum::SelectStmt(_) => "SELECT",
        NodeEnum::InsertStmt(_) => "INSERT",
        NodeEnum::UpdateStmt(_) => "UPDATE",
        NodeEnum::DeleteStmt(_) => "DELETE",
        NodeEnum::CallStmt(_) => "CALL",
        NodeEnum::CheckPointStmt(_) => "CHECKPOINT",
        NodeEnum::ClusterStmt(_) => "CLUSTER",
        NodeEnum::DeclareCursorStmt(_) => "DECLARE CURSOR",
        NodeEnum::DropSubscriptionStmt(_) => "DROP SUBSCRIPTION",
        NodeEnum::DropTableSpaceStmt(_) => "DROP TABLESPACE",
        NodeEnum::DropUserMappingStmt(_) => "DROP USER MAPPING",
        NodeEnum::DropdbStmt(_) => "DROP DATABASE",
        NodeEnum::ImportForeignSchemaStmt(_) => "IMPORT FOREIGN SCHEMA",
        NodeEnum::ListenStmt(_) => "LISTEN",
        NodeEnum::LoadStmt(_) => "LOAD",
        NodeEnum::LockStmt(_) => "LOCK TABLE",
        NodeEnum::MergeStmt(_) => "MERGE",
        NodeEnum::NotifyStmt(_) => "NOTIFY",
        NodeEnum::ReindexStmt(_) => "REINDEX",
        NodeEnum::SecLabelStmt(_) => "SECURITY LABEL",
        NodeEnum::CreateTableAsStmt(_) => "CREATE TABLE AS",
        _ => return None,
    })
}
