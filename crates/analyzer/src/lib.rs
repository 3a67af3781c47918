//! From SQL text to typed trees, as PostgreSQL's parser and analysis make them.
//!
//! [`bind`] takes a statement of PostgreSQL's parse tree, resolves its names ([`Catalog`]), operators and functions
//! ([`system`]), and writes out every conversion. The result is a [`tree`].

mod bind;
mod error;
mod routine;

pub use bind::type_name::sql_type as declared_type;
pub use bind::{
    ASSIGNED, Bound, BoundStatement, Catalog, ChangedView, CheckOption, Domain, RowExpression,
    RowsOf, Star, Table, TargetRelation, bind, bind_assigned, bind_row, bind_statement,
    check_aggregate, check_defaults, check_routine, children, children_mut, column_name, contains,
    is_executed, whole_rows,
};
pub use error::{Error, Result};
pub use routine::{Routine, RoutineAggregate, RoutineCall, RoutineStep};
pub use system_catalog as system;
pub use system_catalog::resolve;
pub use typed_tree as tree;
