//! pg_roles and its relatives. The one place that says who there is, who owns what and who may do what.
//!
//! [`OWNER_NAME`] is always there: it owns what nobody else does, and everybody is it where no role was made.

use super::super::rows::{Cell, TableRows};
use super::oids;
use store::catalog::{Catalog, Privileges, RelationId};

/// The id of the role that is always there.
pub(crate) const OWNER: i64 = 10;
/// Its name.
pub(crate) const OWNER_NAME: &str = "pando";

/// A role.
pub(crate) struct RoleEntry {
    pub(crate) oid: i64,
    pub(crate) name: String,
    pub(crate) superuser: bool,
    pub(crate) can_log_in: bool,
}

/// All roles.
pub(crate) fn all(catalog: &Catalog) -> Vec<RoleEntry> {
    let own = catalog.roles().map(|role| RoleEntry {
        oid: oids::role(&role.name),
        name: role.name.clone(),
        superuser: role.superuser,
        can_log_in: role.login,
    });
    let mut all: Vec<RoleEntry> = own.collect();
    if !all.iter().any(|role| role.name == OWNER_NAME) {
        // Once there are roles, nobody logs in as the one that was always there.
        let can_log_in = all.is_empty();
        let name = OWNER_NAME.to_owned();
        all.push(RoleEntry { oid: OWNER, name, superuser: true, can_log_in });
    }
    all
}

/// The name of a role, as `pg_get_userbyid` gives it.
pub(crate) fn name_of(catalog: &Catalog, oid: i64) -> String {
    let found = all(catalog).into_iter().find(|role| role.oid == oid);
    found.map_or_else(|| format!("unknown (OID={oid})"), |role| role.name)
}

/// The name of the role that owns a relation.
pub(crate) fn owner_name(catalog: &Catalog, relation: RelationId) -> &str {
    let owns = |privileges: &Privileges| privileges.contains(Privileges::OWNER);
    let owner = catalog.roles().find(|role| role.relations.get(&relation).is_some_and(owns));
    owner.map_or(OWNER_NAME, |role| role.name.as_str())
}

/// The id of the role that owns a relation.
pub(crate) fn owner(catalog: &Catalog, relation: RelationId) -> i64 {
    oids::role(owner_name(catalog, relation))
}

/// The privileges on a relation as PostgreSQL writes them (`alice=rw/pando`); `None` where only the owner has any.
pub(super) fn access_list(catalog: &Catalog, relation: RelationId) -> Option<Vec<String>> {
    let owner = owner_name(catalog, relation);
    let mut entries = vec![format!("{owner}={}/{owner}", letters(Privileges::ALL))];
    for role in catalog.roles().filter(|role| role.name != owner) {
        let privileges = role.relations.get(&relation).copied().unwrap_or_default();
        if !privileges.is_empty() {
            entries.push(format!("{}={}/{owner}", role.name, letters(privileges)));
        }
    }
    Some(entries).filter(|entries| entries.len() > 1)
}

fn letters(privileges: Privileges) -> String {
    let all = [
        (Privileges::INSERT, 'a'),
        (Privileges::SELECT, 'r'),
        (Privileges::UPDATE, 'w'),
        (Privileges::DELETE, 'd'),
        (Privileges::TRUNCATE, 'D'),
    ];
    all.into_iter().filter(|(one, _)| privileges.contains(*one)).map(|(_, letter)| letter).collect()
}

/// pg_roles, and pg_authid, which has the same columns in another order.
pub(super) fn roles(catalog: &Catalog, rows: &mut TableRows) {
    for role in all(catalog) {
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
pub(super) fn users(catalog: &Catalog, rows: &mut TableRows) {
    for role in all(catalog).into_iter().filter(|role| role.can_log_in) {
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
