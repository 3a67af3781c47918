//! Statements that are neither queries nor changes of rows: definitions, transactions, settings, roles, cursors, COPY and
//! the like.
//!
//! [`read`] takes a statement of PostgreSQL's parse tree and makes a [`Command`] of it: small values with everything that
//! was written, and nothing else. What PostgreSQL knows and Pando does not is an error that names it (0A000). Names are
//! not looked up here.

mod alter_sequence;
mod alter_system;
mod alter_table;
mod backward;
mod call;
mod check;
mod collation;
mod column;
mod command;
mod comment;
mod constraint;
mod copy;
mod create_table;
mod create_view;
mod cursor;
mod data_type;
mod definition;
mod drop;
mod explain;
mod foreign_key;
mod function;
mod identity;
mod index;
mod kinds;
pub mod locking;
mod names;
mod options;
mod prepared;
mod procedural;
mod read;
mod refresh;
mod reindex;
mod rename;
mod roles;
mod schema;
mod sequence;
mod set_schema;
mod setting;
mod storage_options;
mod transaction;
mod trigger;
mod truncate;
mod user_type;
mod view_options;

pub use alter_sequence::AlterSequence;
pub use alter_system::AlterSystem;
pub use alter_table::{AlterOperation, AlterTable};
pub use analyzer::{Error, Result};
pub use call::{Call, CallArgument};
pub use check::Check;
pub use column::{ColumnDefinition, Identity};
pub use command::Command;
pub use comment::{Comment, Commented};
pub use constraint::{ExistingIndex, PrimaryKey, TableConstraint};
pub use copy::{Copied, Copy, CopyPlace};
pub use create_table::{CreateTable, CreateTableAs, Like, NewTable, OnCommit};
pub use create_view::CreateView;
pub use cursor::{Declaration, Direction, Fetch};
pub use data_type::{DataType, Serial};
pub use definition::{Definition, Maintenance};
pub use drop::Drop;
pub use explain::Explain;
pub use foreign_key::{ForeignKeyDefinition, ReferentialAction, SetConstraints};
pub use function::{
    AggregateSteps, AlterFunction, CreateAggregate, CreateFunction, DropFunctions, FinalModify,
    FunctionOptions, FunctionParameter, FunctionSetting, FunctionType, MovingSteps, ParallelSafety,
    ParameterKind, RoutineDefinition, RoutineKind, RoutineName, Stability,
};
pub use identity::IdentityChange;
pub use index::{CreateIndex, IndexedColumn, IndexedKey, Unique};
pub use kinds::tag;
pub use names::{ObjectKind, Persistence, RelationName};
pub use options::Given;
pub use prepared::{Argument, Discard, Execute, Prepare};
pub use procedural::Do;
pub use read::read;
pub use refresh::Refresh;
pub use reindex::Reindex;
pub use rename::{Rename, Renamed};
pub use roles::{Grant, GrantedOn, RoleName, RoleOption, RoleStatement};
pub use schema::CreateSchema;
pub use sequence::{CreateSequence, SequenceOptions, SequenceOwner};
pub use set_schema::SetSchema;
pub use setting::{SettingStatement, SettingValue};
pub use transaction::{Mode, Transaction};
pub use trigger::{
    ConstraintTiming, CreateTrigger, SwitchedTo, TriggerDefinition, TriggerName, TriggerSwitch,
};
pub use truncate::Truncate;
pub use user_type::{AlterType, Attribute, AttributeChange, CreateType, NewType, TypeChange};
pub use view_options::{CheckScope, ViewOptions};
