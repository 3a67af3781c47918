//! pg_roles and its relatives. The one place that says who there is.

use super::super::rows::{Cell, TableRows};

/// The id of the role that owns everything.
pub(crate) const OWNER: i64 = 10;
/// The name of the role that owns everything.
pub(crate) const OWNER_NAME: &str = "pando";

/// A role.
pub(crate) struct Role {
    pub(crate) oid: i64,
    pub(crate) name: String,
    pub(crate) superuser: bool,
    pub(crate) can_log_in: bool,
}

/// All roles.
pub(crate) fn all() -> Vec<Role> {
    vec![Role { oid: OWNER, name: OWNER_NAME.to_owned(), superuser: true, can_log_in: true }]
}

/// The name of a role, as `pg_get_userbyid` gives it.
pub(crate) fn name_of(oid: i64) -> String {
    let found = all().into_iter().find(|role| role.oid == oid);
    found.map_or_else(|| format!("unknown (OID={oid})"), |role| role.name)
}

/// pg_roles, and pg_authid, which has the same columns in another order.
pub(super) fn roles(rows: &mut TableRows) {
    for role in all() {
        rows.row([
            ("oid", role.oid.into()),
            ("rolname", role.name.into()),
            ("rolsuper", role.superuser.into()),
            ("rolinherit", true.into()),
            ("rolcreaterole", role.superuser.into()),
            ("rolcreatedb", role.superuser.into()),
            ("rolcanlogin", role.can_log_in.into()),
            ("rolbypassrls", role.superuser.into()),
            ("rolreplication", role.superuser.into()),
            ("rolconnlimit", (-1_i64).into()),
        ]);
    }
}

/// pg_user and pg_shadow.
pub(super) fn users(rows: &mut TableRows) {
    for role in all().into_iter().filter(|role| role.can_log_in) {
        rows.row([
            ("usesysid", role.oid.into()),
            ("usename", role.name.into()),
            ("usecreatedb", role.superuser.into()),
            ("usesuper", role.superuser.into()),
            ("userepl", false.into()),
            ("usebypassrls", role.superuser.into()),
            ("passwd", Cell::Text("********".to_owned())),
        ]);
    }
}
