//! Functions of partitions, of which there are none.

use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::function;
use std::sync::Arc;
use values::cells::{Cell, Form};

/// The function that returns the partitioned tables above a relation as an array.
pub const PARTITIONS: &str = "pg_partition_list";

/// The functions.
pub(super) fn all(_: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    vec![
        function(PARTITIONS, 1..=1, Form::Numbers, |_| Ok(Vec::<i64>::new().into())),
        function("pg_partition_root", 1..=1, Form::Number, |_| Ok(Cell::Null)),
    ]
}
