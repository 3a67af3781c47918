//! The typed tree of a statement: every name is resolved, every expression has a type, every conversion is written out.

mod change;
pub mod existence;
mod expr;
pub mod full_joins;
pub mod places;
mod query;
pub mod read;
pub mod same;
pub mod unread_subqueries;
pub mod volatile_order;
pub mod walk;
mod window;

pub use change::{
    Action, Change, Conflict, ConflictKeys, ConflictTarget, ConflictUpdate, Insert, Main, Merge,
    MergeAction, NamedChange, Overriding, Statement, Target, ViewCheck, When,
};
pub use expr::{
    AggregateCall, Call, Cast, Chain, Conversion, Executed, Expr, FieldValue, ForeignCall, Kind,
    Literal, Location, Quantified, SetCall, SortKey, Subquery, SubqueryKind, Subscripts, TruthTest,
    UserAggregate, ValueFunction,
};
pub use query::{
    Body, Column, Cte, CteId, Distinct, From, GroupingSets, JoinKind, Limit, Output, Query,
    Relation, RelationId, Select, SelectId, SetOperation, SetOperator, Source,
};
pub use window::{FrameBound, FrameExclusion, FrameUnits, WindowCall, WindowFrame};
