//! Roles, owners and granted privileges, and the system tables `pg_roles`, `pg_authid`, `pg_user`,
//! `pg_shadow` and `pg_auth_members`.
//!
//! The [`BOOTSTRAP_SUPERUSER`] always exists, also if the catalog has no role of this name.

use super::oids;
use crate::access;
use crate::names::BOOTSTRAP_SUPERUSER;
use crate::rows::TableRows;
use std::sync::Arc;
use store::catalog::{Catalog, Object, Privileges};
use values::cells::Cell;

/// A role.
pub(crate) struct RoleEntry {
    pub(crate) oid: i64,
    pub(crate) name: String,
    pub(crate) superuser: bool,
    pub(crate) can_log_in: bool,
    create_role: bool,
    create_database: bool,
    inherit: bool,
    connection_limit: Option<u32>,
    /// Microseconds since 1970.
    valid_until: Option<i64>,
    /// The SCRAM verifier of the password.
    verifier: Option<String>,
}

/// All roles, with the bootstrap superuser.
pub(crate) fn all(catalog: &Catalog) -> Vec<RoleEntry> {
    let own = catalog.roles().map(|role| RoleEntry {
        oid: oids::role(&role.name),
        name: role.name.clone(),
        superuser: role.superuser,
        can_log_in: role.login,
        create_role: role.create_role,
        create_database: role.create_database,
        inherit: role.inherit,
        connection_limit: role.connection_limit,
        valid_until: role.valid_until,
        verifier: role.verifier.clone(),
    });
    let mut all: Vec<RoleEntry> = own.collect();
    if !all.iter().any(|role| role.name == BOOTSTRAP_SUPERUSER) {
        // Nobody logs in as the bootstrap superuser once roles exist.
        let can_log_in = all.is_empty();
        let name = BOOTSTRAP_SUPERUSER.to_owned();
        all.push(RoleEntry {
            oid: oids::BOOTSTRAP_SUPERUSER,
            name,
            superuser: true,
            can_log_in,
            create_role: true,
            create_database: true,
            inherit: true,
            connection_limit: None,
            valid_until: None,
            verifier: None,
        });
    }
    all
}

/// The name of a role, as `pg_get_userbyid` gives it.
pub(crate) fn name_of(catalog: &Catalog, oid: i64) -> String {
    let found = all(catalog).into_iter().find(|role| role.oid == oid);
    found.map_or_else(|| format!("unknown (OID={oid})"), |role| role.name)
}

/// The name of the role that owns an object.
pub(crate) fn owner_name<'a>(catalog: &'a Catalog, object: &Object) -> &'a str {
    access::owner(catalog, object).map_or(BOOTSTRAP_SUPERUSER, |role| role.name.as_str())
}

/// The id of the role that owns an object.
pub(crate) fn owner(catalog: &Catalog, object: &Object) -> i64 {
    oids::role(owner_name(catalog, object))
}

/// Sets schema and owner of all rows to those of system objects.
pub(super) fn set_system_owner(rows: &mut TableRows, namespace: &str, owner: &str) {
    rows.set_all(namespace, Cell::Number(oids::PG_CATALOG));
    rows.set_all(owner, Cell::Number(oids::BOOTSTRAP_SUPERUSER));
}

/// The privileges of one role on an object.
pub(crate) struct Granted<'a> {
    /// The role; `None` is `PUBLIC`.
    pub(crate) to: Option<&'a str>,
    pub(crate) privileges: Privileges,
}

/// The privileges on an object, those of its owner first. `all` are the privileges that exist for
/// this kind of object.
pub(crate) fn granted<'a>(
    catalog: &'a Catalog,
    object: &Object,
    all: Privileges,
) -> Vec<Granted<'a>> {
    let owner = owner_name(catalog, object);
    let mut granted = vec![Granted { to: Some(owner), privileges: all }];
    for role in catalog.roles().chain([catalog.public()]).filter(|role| role.name != owner) {
        let privileges = role.privileges(object);
        if !privileges.is_empty() {
            let to = (!Arc::ptr_eq(role, catalog.public())).then_some(role.name.as_str());
            granted.push(Granted { to, privileges });
        }
    }
    granted
}

/// The privileges on an object as `aclitem` texts (`alice=rw/pando`); `None` if only the owner has
/// any.
pub(super) fn access_list(
    catalog: &Catalog,
    object: &Object,
    all: Privileges,
) -> Option<Vec<String>> {
    let owner = owner_name(catalog, object);
    let granted = granted(catalog, object, all);
    let entry = |granted: &Granted<'_>| {
        format!("{}={}/{owner}", granted.to.unwrap_or_default(), letters(granted.privileges))
    };
    (granted.len() > 1).then(|| granted.iter().map(entry).collect())
}

/// As [`access_list`], of a function, which everybody may call at first; `None` if that has not changed.
pub(super) fn function_access_list(catalog: &Catalog, object: &Object) -> Option<Vec<String>> {
    let owner = owner_name(catalog, object);
    let granted = granted(catalog, object, Privileges::OF_FUNCTIONS);
    let is_usual =
        |granted: &Granted<'_>| granted.to.is_none() && granted.privileges == Privileges::EXECUTE;
    if granted.len() == 2 && granted.iter().any(is_usual) {
        return None;
    }
    let (public, named): (Vec<_>, Vec<_>) =
        granted.into_iter().partition(|granted| granted.to.is_none());
    let entry = |granted: &Granted<'_>| {
        format!("{}={}/{owner}", granted.to.unwrap_or_default(), letters(granted.privileges))
    };
    Some(public.iter().chain(&named).map(entry).collect())
}

/// The letters of privileges in PostgreSQL's order. An asterisk marks a privilege with grant
/// option.
fn letters(privileges: Privileges) -> String {
    let all = [
        (Privileges::INSERT, 'a'),
        (Privileges::SELECT, 'r'),
        (Privileges::UPDATE, 'w'),
        (Privileges::DELETE, 'd'),
        (Privileges::TRUNCATE, 'D'),
        (Privileges::REFERENCES, 'x'),
        (Privileges::TRIGGER, 't'),
        (Privileges::USAGE, 'U'),
        (Privileges::CREATE, 'C'),
        (Privileges::EXECUTE, 'X'),
    ];
    let mut letters = String::new();
    for (one, letter) in all {
        if privileges.contains(one) {
            letters.push(letter);
        }
        if privileges.grantable().contains(one) {
            letters.push('*');
        }
    }
    letters
}

/// `pg_auth_members`.
pub(super) fn members(catalog: &Catalog, rows: &mut TableRows) {
    for member in catalog.roles() {
        for (role, admin) in &member.member_of {
            rows.row([
                ("roleid", oids::role(role).into()),
                ("member", oids::role(&member.name).into()),
                ("grantor", oids::BOOTSTRAP_SUPERUSER.into()),
                ("admin_option", (*admin).into()),
            ]);
        }
    }
}

/// Shown instead of a password.
const HIDDEN: &str = "********";

/// `pg_roles`, and `pg_authid`, which shows verifiers.
pub(super) fn roles(catalog: &Catalog, shows_verifiers: bool, rows: &mut TableRows) {
    for role in all(catalog) {
        rows.row([
            ("oid", role.oid.into()),
            ("rolname", role.name.as_str().into()),
            ("rolsuper", role.superuser.into()),
            ("rolinherit", role.inherit.into()),
            ("rolcreaterole", role.create_role.into()),
            ("rolcreatedb", role.create_database.into()),
            ("rolcanlogin", role.can_log_in.into()),
            ("rolbypassrls", is_first(&role).into()),
            ("rolreplication", is_first(&role).into()),
            ("rolconnlimit", role.connection_limit.map_or(-1, i64::from).into()),
            ("rolpassword", password(role.verifier, shows_verifiers)),
            ("rolvaliduntil", role.valid_until.into()),
        ]);
    }
}

/// Whether a role is the bootstrap superuser, which has the attributes that no other role can have here.
fn is_first(role: &RoleEntry) -> bool {
    role.name == BOOTSTRAP_SUPERUSER
}

fn password(verifier: Option<String>, shows_verifiers: bool) -> Cell {
    if shows_verifiers { verifier.into() } else { HIDDEN.into() }
}

/// `pg_user`, and `pg_shadow`, which shows verifiers.
pub(super) fn users(catalog: &Catalog, shows_verifiers: bool, rows: &mut TableRows) {
    for role in all(catalog).into_iter().filter(|role| role.can_log_in) {
        rows.row([
            ("usesysid", role.oid.into()),
            ("usename", role.name.as_str().into()),
            ("usecreatedb", role.create_database.into()),
            ("usesuper", role.superuser.into()),
            ("userepl", is_first(&role).into()),
            ("usebypassrls", is_first(&role).into()),
            ("passwd", password(role.verifier, shows_verifiers)),
            ("valuntil", role.valid_until.into()),
        ]);
    }
}
