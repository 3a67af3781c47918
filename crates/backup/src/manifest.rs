//! The manifest of a backup: everything but the rows, as JSON.
//!
//! Objects refer to each other by name. A field that a later version adds gets a default here; a change that an older
//! version would misread gets a new [`FORMAT`].

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The newest format that this version reads, and the one that it writes.
pub(crate) const FORMAT: u32 = 1;

/// What is read first, to refuse a newer format.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u32,
    pub(crate) pando: String,
}

/// A manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The version of Pando that wrote it.
    pub(crate) pando: String,
    /// When the backup began, in RFC 3339.
    pub(crate) created: String,
    /// The timestamp of the newest commit in it.
    pub(crate) timestamp: u64,
    pub(crate) schemas: Vec<SchemaForm>,
    pub(crate) tables: Vec<TableForm>,
    pub(crate) views: Vec<ViewForm>,
    pub(crate) sequences: Vec<SequenceForm>,
    pub(crate) roles: Vec<RoleForm>,
    /// The privileges that every role has.
    pub(crate) public: Vec<GrantForm>,
    #[serde(default)]
    pub(crate) functions: Vec<FunctionForm>,
    /// A domain is behind the type that it restricts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) types: Vec<TypeForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) triggers: Vec<TriggerForm>,
    /// The types of users in signatures of functions, as [`crate::sql_types`] writes them, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) type_ids: BTreeMap<u32, String>,
}

/// A type of users.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TypeForm {
    #[serde(flatten)]
    pub(crate) name: Name,
    pub(crate) kind: TypeKindForm,
    pub(crate) comment: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TypeKindForm {
    /// The labels in order.
    Enum(Vec<LabelForm>),
    Domain(DomainForm),
    /// The attributes in order.
    Composite(Vec<AttributeForm>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttributeForm {
    pub(crate) name: String,
    /// The type, as [`crate::sql_types`] writes it.
    #[serde(rename = "type")]
    pub(crate) sql_type: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LabelForm {
    pub(crate) name: String,
    /// The number that stands for the label in data files.
    pub(crate) order: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DomainForm {
    /// The type that it restricts, as [`crate::sql_types`] writes it.
    pub(crate) base: String,
    pub(crate) nullable: bool,
    /// SQL text.
    pub(crate) default: Option<String>,
    pub(crate) checks: Vec<DomainCheckForm>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DomainCheckForm {
    pub(crate) name: String,
    /// SQL text, in which VALUE is the value.
    pub(crate) expression: String,
    /// NOT VALID.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_unchecked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<String>,
}

/// A function. The ids in its definition mean nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FunctionForm {
    #[serde(flatten)]
    pub(crate) definition: store::catalog::Function,
    /// The relation whose rows the result has.
    pub(crate) relation: Option<Name>,
}

/// A trigger. The ids in its definition mean nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TriggerForm {
    pub(crate) definition: store::catalog::Trigger,
    /// The table.
    pub(crate) on: Name,
    /// The function.
    pub(crate) calls: Name,
    /// The columns of UPDATE OF.
    pub(crate) column_names: Vec<String>,
}

/// The name of a relation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) schema: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SchemaForm {
    pub(crate) name: String,
    pub(crate) comment: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TableForm {
    #[serde(flatten)]
    pub(crate) name: Name,
    pub(crate) columns: Vec<ColumnForm>,
    /// The columns of the primary key; `null` without one.
    pub(crate) key: Option<Vec<String>>,
    /// The name of its constraint, if it is not the table's with `_pkey`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key_constraint: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_unlogged: bool,
    /// The composite type of OF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of_type: Option<Name>,
    /// The comments of constraints, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) constraint_comments: Vec<(String, String)>,
    pub(crate) checks: Vec<CheckForm>,
    /// They are built again when the table is restored.
    #[serde(default)]
    pub(crate) indexes: Vec<IndexForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) foreign_keys: Vec<ForeignKeyForm>,
    pub(crate) bucket_size: u64,
    pub(crate) colocate_with: Option<Name>,
    /// What makes it a materialized view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) materialized: Option<store::catalog::Materialized>,
    pub(crate) comment: Option<String>,
    pub(crate) rows: u64,
    /// In key order.
    pub(crate) files: Vec<DataFile>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ColumnForm {
    pub(crate) name: String,
    /// As [`crate::sql_types`] writes it.
    #[serde(rename = "type")]
    pub(crate) sql_type: String,
    pub(crate) nullable: bool,
    /// SQL text.
    pub(crate) default: Option<String>,
    pub(crate) identity: Option<IdentityForm>,
    /// SQL text.
    pub(crate) generated: Option<String>,
    pub(crate) comment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum IdentityForm {
    #[serde(rename = "always")]
    Always,
    #[serde(rename = "by default")]
    ByDefault,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CheckForm {
    pub(crate) name: String,
    /// SQL text.
    pub(crate) expression: String,
    /// NOT VALID.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_unchecked: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ForeignKeyForm {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) references: Name,
    pub(crate) referenced: Vec<String>,
    /// The unique index of the referenced columns; `null` for the primary key.
    pub(crate) index: Option<String>,
    pub(crate) on_delete: ActionForm,
    pub(crate) on_update: ActionForm,
    pub(crate) on_delete_set: Vec<String>,
    pub(crate) is_full: bool,
    pub(crate) is_deferrable: bool,
    pub(crate) is_deferred: bool,
    pub(crate) is_valid: bool,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActionForm {
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IndexForm {
    pub(crate) name: String,
    pub(crate) columns: Vec<IndexColumnForm>,
    /// The columns of INCLUDE.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) included: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) predicate: Option<IndexExpressionForm>,
    pub(crate) is_unique: bool,
    pub(crate) nulls_equal: bool,
    pub(crate) is_constraint: bool,
    pub(crate) is_hash: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_deferrable: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_deferred: bool,
    /// Whether its constraint is the primary key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_primary: bool,
    pub(crate) comment: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IndexColumnForm {
    /// The column; empty for an expression.
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expression: Option<IndexExpressionForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operator_class: Option<String>,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct IndexExpressionForm {
    /// SQL text.
    pub(crate) text: String,
    /// SQL text as it is shown.
    pub(crate) shown: String,
    pub(crate) name: String,
    pub(crate) sql_type: String,
    pub(crate) columns: Vec<String>,
}

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DataFile {
    /// The SHA-256 of its bytes, which is its name.
    pub(crate) sha256: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// The fingerprint of its rows: a later backup with the same rows refers to the file.
    pub(crate) content: String,
}

impl DataFile {
    /// Returns its path below the URL.
    pub(crate) fn path(&self) -> String {
        format!("{DATA}/{}{ROWS_ENDING}", self.sha256)
    }
}

/// The folder of data files.
pub(crate) const DATA: &str = "data";
/// The ending of their names.
const ROWS_ENDING: &str = ".parquet";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ViewForm {
    #[serde(flatten)]
    pub(crate) name: Name,
    pub(crate) sql: String,
    pub(crate) columns: Vec<String>,
    pub(crate) search_path: Vec<String>,
    pub(crate) comment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) check_option: Option<CheckOptionForm>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) security_invoker: bool,
    /// Names of columns and their defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) defaults: Vec<(String, String)>,
    /// Numbers of columns, from 1, and their comments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) comments: Vec<(u32, String)>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckOptionForm {
    Local,
    Cascaded,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SequenceForm {
    #[serde(flatten)]
    pub(crate) name: Name,
    pub(crate) start: i64,
    pub(crate) increment: i64,
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) cycle: bool,
    pub(crate) owned_by: Option<ColumnName>,
    pub(crate) comment: Option<String>,
    /// The last value; the next one is after it if it is `called`.
    pub(crate) last: i64,
    pub(crate) called: bool,
}

/// The name of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ColumnName {
    #[serde(flatten)]
    pub(crate) table: Name,
    pub(crate) column: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RoleForm {
    pub(crate) name: String,
    pub(crate) superuser: bool,
    pub(crate) login: bool,
    pub(crate) create_role: bool,
    pub(crate) create_database: bool,
    pub(crate) inherit: bool,
    pub(crate) connection_limit: Option<u32>,
    /// In microseconds since 1970-01-01 UTC.
    pub(crate) valid_until: Option<i64>,
    /// The verifier of the password.
    pub(crate) verifier: Option<String>,
    /// The roles that it is a member of, each with the admin option.
    pub(crate) member_of: BTreeMap<String, bool>,
    pub(crate) grants: Vec<GrantForm>,
}

/// Privileges on an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrantForm {
    pub(crate) on: ObjectForm,
    pub(crate) privileges: Vec<String>,
    /// Those of the privileges that it may grant to others.
    pub(crate) grantable: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObjectForm {
    Database,
    Schema(String),
    Relation(Name),
    /// A function, by its name and the ids of the types of its input parameters.
    Function(Name, Vec<u32>),
    /// A type of users.
    Type(Name),
}
