//! Functions that steer the cluster.

use crate::catalog_views::access::Access;
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, volatile};
use crate::values::cells::Cell;
use crate::values::cells::Form;
use crate::values::error::{Error, Result, SqlState};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let session = Arc::clone(session);
    vec![volatile("pando_set_weight", 2..=2, Form::Flag, move |row| set_weight(&*session, row))]
}

/// Gives a server another share of every table, relative to other servers'; zero empties it.
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
    let peers = database.store().peers().ok_or_else(crate::catalog_views::alone)?;
    peers.set_weight(server, weight)?;
    Ok(true.into())
}
