//! Functions that control the cluster.

use crate::access::Access;
use crate::errors::not_in_cluster;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, volatile};
use std::sync::Arc;
use values::cells::Cell;
use values::cells::Form;
use values::{Error, Result, SqlState};

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let session = Arc::clone(session);
    vec![volatile("pando_set_weight", 2..=2, Form::Flag, move |row| set_weight(&*session, row))]
}

/// `pando.set_weight`: sets the weight of a server, which determines its share of every table. 0
/// removes all rows from it.
fn set_weight(session: &dyn SessionContext, row: &Row<'_>) -> Result<Cell> {
    let catalog = session.database().store().catalog();
    let role = session.role();
    if !Access::new(&catalog, role.as_deref().map(String::as_str)).is_superuser() {
        let message = "must be superuser to change the share of a server";
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    let (Some(server), Some(weight)) = (row.text(0), row.number(1)) else {
        return Ok(Cell::Null);
    };
    let weight = u32::try_from(weight).ok().filter(|weight| *weight <= 1000).ok_or_else(|| {
        let message = format!("a server's weight is from 0 to 1000, not {weight}");
        Error::new(SqlState::InvalidParameterValue, message)
    })?;
    let database = session.database();
    let peers = database.store().peers().ok_or_else(not_in_cluster)?;
    peers.set_weight(server, weight)?;
    Ok(true.into())
}
