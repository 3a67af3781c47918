//! Functions about the session and the server.
//!
//! Functions over the system catalogs need a session's snapshot: they are in `catalog_views`.

pub(crate) mod domains;
mod session;
pub mod tid;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    session::all()
}
