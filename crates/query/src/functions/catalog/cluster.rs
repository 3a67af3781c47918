//! Functions that steer the cluster.

use super::super::row_function::{Row, volatile};
use crate::access::Access;
use crate::error::{Error, Result, SqlState};
use crate::session::Names;
use crate::system::rows::Cell;
use crate::system::shape::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The functions.
pub(super) fn all(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let names = Arc::clone(names);
    vec![volatile("pando_set_weight", 2..=2, Form::Flag, move |row| set_weight(&names, row))]
}

/// Gives a server another share of every table, relative to other servers'; zero empties it.
fn set_weight(names: &Names, row: &Row<'_>) -> Result<Cell> {
    let catalog = names.shared.store.catalog();
    let role = names.role();
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
    let peers = names.shared.store.peers().ok_or_else(crate::system::alone)?;
    peers.set_weight(server, weight)?;
    Ok(true.into())
}
