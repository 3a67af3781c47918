//! Definitions of tables, views, sequences, schemas and roles as plain data.
//!
//! A [`Catalog`] is an immutable value. [`Catalog::apply`] returns a new one, and readers keep the
//! one they have. SQL text (defaults, checks, view bodies) is stored as text; this crate does not
//! interpret it.

mod arrow_serde;
mod change;
mod constraint_comments;
mod definitions;
mod error;
mod field;
mod function;
pub mod ids;
pub mod ipc;
mod key_names;
mod orphans;
mod readers;
mod referring;
mod role;
mod serialized;
mod settled;
mod shared_comments;
mod sql_type;
pub mod stable;
mod stale_types;
mod system_type;
mod trigger;
mod user_type;

pub use change::CatalogChange;
pub use definitions::{
    BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, Check, CheckOption, Column, ColumnId, DEFAULT_BUCKET_SIZE,
    ForeignKey, Identity, Index, IndexColumn, IndexExpression, IndexKey, Materialized,
    OWN_TEMPORARY_SCHEMA, OnCommit, ReferentialAction, Relation, RelationId, Schema, Sequence,
    Table, TableExtension, TableId, Timing, View, ViewOptions, is_temporary_schema,
    may_name_temporary_schema, temporary_schema,
};
pub use error::Error;
pub use field::{TYPE_KEY, USER_TYPE};
pub use function::{
    Aggregate, AggregateDetails, AggregateKind, Extension, Function, FunctionId, Modifies,
    MovingAggregate, Parallel, Parameter, ParameterMode, Volatility,
};
pub use role::{Object, PUBLIC, Privileges, Role};
pub use settled::settled;
pub use shared_comments::Shared;
pub use sql_type::{
    Attribute, Domain, DomainCheck, EnumLabel, SqlType, TypeId, UserType, UserTypeKind,
};
pub use system_type::SystemType;
pub use trigger::{Trigger, TriggerEvent, TriggerEvents, TriggerState, TriggerTime};
pub use user_type::{LABEL_DISTANCE, labels, order_between};

use imbl::OrdMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The initial schema.
pub const DEFAULT_SCHEMA: &str = "public";

/// Names of system schemas.
pub const RESERVED_SCHEMAS: [&str; 3] = ["pando", "information_schema", "pg_catalog"];

/// Names of PostgreSQL's system columns, which no column can have.
pub const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];

/// All schemas, relations and roles at one point in time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "serialized::Definitions", into = "serialized::Definitions")]
pub struct Catalog {
    schemas: OrdMap<String, Arc<Schema>>,
    names: OrdMap<(String, String), RelationId>,
    /// The tables of primary keys, by schema and name.
    key_names: OrdMap<(String, String), TableId>,
    relations: OrdMap<RelationId, Relation>,
    /// The indexes of each table that has some, in the order of their ids.
    indexes: OrdMap<TableId, Arc<[Arc<Index>]>>,
    /// The tables with foreign keys that refer to each table.
    referring: OrdMap<TableId, Arc<[TableId]>>,
    /// The types of users, by schema and name.
    types: OrdMap<(String, String), Arc<UserType>>,
    functions: OrdMap<RelationId, Arc<Function>>,
    /// The functions of each schema and name, in the order of their ids.
    function_names: OrdMap<(String, String), Arc<[Arc<Function>]>>,
    /// The triggers of each table that has some, ordered by name.
    triggers: OrdMap<TableId, Arc<[Arc<Trigger>]>>,
    roles: OrdMap<String, Arc<Role>>,
    public: Arc<Role>,
    /// The comments on what is in no schema.
    comments: OrdMap<Shared, String>,
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

impl Catalog {
    /// Returns the catalog of a new database: one empty schema.
    pub fn new() -> Self {
        let public = Schema { name: DEFAULT_SCHEMA.to_owned(), comment: None };
        Self {
            schemas: OrdMap::unit(DEFAULT_SCHEMA.to_owned(), Arc::new(public)),
            names: OrdMap::new(),
            key_names: OrdMap::new(),
            relations: OrdMap::new(),
            indexes: OrdMap::new(),
            referring: OrdMap::new(),
            types: OrdMap::new(),
            functions: OrdMap::new(),
            function_names: OrdMap::new(),
            triggers: OrdMap::new(),
            roles: OrdMap::new(),
            public: Arc::new(public_role()),
            comments: OrdMap::new(),
        }
    }

    /// Finds a schema by name.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(name)
    }

    /// Returns all schemas, ordered by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values()
    }

    /// Finds a role by name.
    pub fn role(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.get(name)
    }

    /// Returns the role [`PUBLIC`].
    pub fn public(&self) -> &Arc<Role> {
        &self.public
    }

    /// Returns all roles except [`PUBLIC`], ordered by name.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = &Arc<Role>> {
        self.roles.values()
    }

    /// Finds a relation by schema and name.
    pub fn relation(&self, schema: &str, name: &str) -> Option<&Relation> {
        let id = self.names.get(&(schema.to_owned(), name.to_owned()))?;
        self.relations.get(id)
    }

    /// Finds a relation by id.
    pub fn relation_by_id(&self, id: RelationId) -> Option<&Relation> {
        self.relations.get(&id)
    }

    /// Finds a table, or the file of an index, by id.
    pub fn table_by_id(&self, id: TableId) -> Option<&Arc<Table>> {
        self.relations.get(&id.relation())?.file()
    }

    /// Finds an index by the id of its file.
    pub fn index_by_id(&self, id: TableId) -> Option<&Arc<Index>> {
        match self.relations.get(&id.relation())? {
            Relation::Index(index) => Some(index),
            Relation::Table(_) | Relation::View(_) | Relation::Sequence(_) => None,
        }
    }

    /// Returns the indexes of a table.
    pub fn indexes_of(&self, table: TableId) -> &[Arc<Index>] {
        self.indexes.get(&table).map_or(&[], |indexes| indexes)
    }

    /// Finds a type of users by schema and name.
    pub fn user_type(&self, schema: &str, name: &str) -> Option<&Arc<UserType>> {
        self.types.get(&(schema.to_owned(), name.to_owned()))
    }

    /// Finds a type of users by id.
    pub fn user_type_by_id(&self, id: TypeId) -> Option<&Arc<UserType>> {
        self.types.values().find(|known| known.id == id)
    }

    /// A type with the present definition of the user's type that it is, or that its items are.
    pub fn renewed(&self, of: &SqlType) -> SqlType {
        match of.user_type().and_then(|user| self.type_by_id(user.id)) {
            Some(now) => of.with_user_type(&now),
            None => of.clone(),
        }
    }

    /// Finds a type of users, or the type of a table's rows, by schema and name.
    pub fn type_named(&self, schema: &str, name: &str) -> Option<Arc<UserType>> {
        let of_rows = || match self.relation(schema, name)? {
            Relation::Table(table) => Some(Arc::new(UserType::of_table(table))),
            Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => None,
        };
        self.user_type(schema, name).cloned().or_else(of_rows)
    }

    /// Finds a type of users, or the type of a table's rows, by id.
    pub fn type_by_id(&self, id: TypeId) -> Option<Arc<UserType>> {
        match id.rows_of() {
            None => self.user_type_by_id(id).cloned(),
            Some((relation, _)) => match self.relation_by_id(relation)? {
                Relation::Table(table) => Some(Arc::new(UserType::of_table(table))),
                Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => None,
            },
        }
    }

    /// Returns the types of users, ordered by schema and name.
    pub fn user_types(&self) -> impl Iterator<Item = &Arc<UserType>> {
        self.types.values()
    }

    /// Finds the type of users with an id, as clients see it, and whether the id means arrays of it.
    pub fn type_shown(&self, id: u32) -> Option<(Arc<UserType>, bool)> {
        if let Some((relation, is_array)) = TypeId::rows_shown(id) {
            return Some((self.type_by_id(TypeId::of_rows(relation))?, is_array));
        }
        if !TypeId::may_be_shown(id) {
            return None;
        }
        self.user_types().find_map(|user| match id {
            id if id == user.id.shown() => Some((Arc::clone(user), false)),
            id if id == user.array.shown() => Some((Arc::clone(user), true)),
            _ => None,
        })
    }

    /// Lists the indexes of a table anew.
    fn list_indexes(&mut self, table: TableId) {
        let of_table = self.relations.values().filter_map(|relation| match relation {
            Relation::Index(index) if index.table == table => Some(Arc::clone(index)),
            _ => None,
        });
        let listed: Arc<[Arc<Index>]> = of_table.collect();
        if listed.is_empty() {
            self.indexes.remove(&table);
        } else {
            self.indexes.insert(table, listed);
        }
    }

    /// Returns the table that `table` is colocated with ([`Table::colocate_with`]), if it exists.
    pub fn colocated(&self, table: &Table) -> Option<&Arc<Table>> {
        table.colocate_with.and_then(|other| self.table_by_id(other))
    }

    /// Returns all relations, ordered by schema and name.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.names.values().filter_map(|id| self.relations.get(id))
    }

    /// Returns the relations of a schema, ordered by name.
    pub fn relations_in<'a>(&'a self, schema: &'a str) -> impl Iterator<Item = &'a Relation> {
        let first = (schema.to_owned(), String::new());
        let names = self.names.range(first..).take_while(move |((of, _), _)| of == schema);
        names.filter_map(|(_, id)| self.relations.get(id))
    }
}

/// Initially, everybody may use the initial schema, but not create relations in it.
fn public_role() -> Role {
    let schemas = [(DEFAULT_SCHEMA.to_owned(), Privileges::USAGE)].into();
    Role { schemas, ..Role::new(PUBLIC) }
}
