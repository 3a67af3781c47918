//! GRANT and REVOKE, and who owns what.

use super::lookup::known;
use super::objects::{Thing, database, of_relation, relation, schema};
use crate::session::Frame;
use catalog_views::access::{Access, denied};
use parser::roles::{Grant, GrantedOn, ObjectKind, RoleName};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, Object, PUBLIC, Privileges, Relation};
use values::error::{Error, Result, SqlState};

/// Runs a GRANT or REVOKE of privileges.
pub(super) fn privileges(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    grant: &Grant,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    if grant.of_columns {
        return Err(Error::unsupported("privileges on single columns are not supported")
            .with_hint("GRANT SELECT on a view of these columns."));
    }
    let things = things(frame, &catalog, grant)?;
    let mut roles = Vec::with_capacity(grant.roles.len());
    for role in &grant.roles {
        match role {
            RoleName::Public if grant.option && !grant.revoke => {
                let message = "grant options can only be granted to roles";
                return Err(Error::new(SqlState::InvalidGrantOperation, message));
            }
            RoleName::Public => roles.push(PUBLIC.to_owned()),
            named => {
                let name = frame.role_named(named)?;
                roles.push(known(&catalog, &name)?.name.clone());
            }
        }
    }
    for thing in &things {
        let wanted = wanted(grant, thing)?;
        let granted = may_grant(frame, access, thing, wanted, grant.revoke)?;
        for name in &roles {
            change(transaction, grant, thing, name, granted)?;
        }
    }
    Ok(())
}

/// Of the privileges that are wanted those that may be handed on.
fn may_grant(
    frame: &Frame<'_>,
    access: Access<'_>,
    thing: &Thing,
    wanted: Privileges,
    revoke: bool,
) -> Result<Privileges> {
    let held = access.privileges(&thing.object);
    if held.is_empty() && !(thing.object == Object::Database) {
        return Err(denied(thing.kind, &thing.name));
    }
    let granted = wanted.intersection(held.grantable());
    if granted != wanted {
        let (state, done) = match revoke {
            false => (SqlState::WarningPrivilegeNotGranted, "were granted"),
            true => (SqlState::WarningPrivilegeNotRevoked, "could be revoked"),
        };
        let which = if granted.is_empty() { "no" } else { "not all" };
        let message = format!("{which} privileges {done} for \"{}\"", thing.name);
        frame.session.warn(state, message);
    }
    Ok(granted)
}

fn change(
    transaction: &mut DistributedTransaction,
    grant: &Grant,
    thing: &Thing,
    name: &str,
    granted: Privileges,
) -> Result<()> {
    let catalog = transaction.catalog();
    let role = if name == PUBLIC { Some(catalog.public()) } else { catalog.role(name) };
    let held = role.map(|role| role.privileges(&thing.object)).unwrap_or_default();
    // An owner has everything, and what is taken from him he could give himself again.
    if held.contains(Privileges::OWNER) {
        return Ok(());
    }
    let options = granted.grant_option();
    let privileges = match (grant.revoke, grant.option) {
        (false, false) => held.union(granted),
        (false, true) => held.union(granted).union(options),
        (true, false) => held.without(granted).without(options),
        (true, true) => held.without(options),
    };
    let (role, object) = (name.to_owned(), thing.object.clone());
    transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    Ok(())
}

fn things(frame: &Frame<'_>, catalog: &Catalog, grant: &Grant) -> Result<Vec<Thing>> {
    let names = match &grant.on {
        GrantedOn::Named(names) => names,
        GrantedOn::AllIn(schemas) => {
            let mut all = Vec::new();
            for name in schemas {
                schema(catalog, name)?;
                let of_kind = |relation: &&Relation| {
                    let is_sequence = matches!(relation, Relation::Sequence(_));
                    is_sequence == (grant.kind == ObjectKind::Sequence)
                };
                all.extend(catalog.relations_in(name).filter(of_kind).map(of_relation));
            }
            return Ok(all);
        }
    };
    let thing = |name: &Vec<String>| {
        let last = name.last().map_or("", String::as_str);
        Ok(match grant.kind {
            ObjectKind::Sequence => {
                let found = relation(frame, catalog, name)?;
                if !matches!(found, Relation::Sequence(_)) {
                    let message = format!("\"{}\" is not a sequence", found.name());
                    return Err(Error::new(SqlState::WrongObjectType, message));
                }
                of_relation(found)
            }
            ObjectKind::Schema => schema(catalog, last)?,
            ObjectKind::Database => database(last)?,
            _ => of_relation(relation(frame, catalog, name)?),
        })
    };
    names.iter().map(thing).collect()
}

/// The privileges that a statement names, as they are for a kind of thing.
fn wanted(grant: &Grant, thing: &Thing) -> Result<Privileges> {
    let Some(names) = &grant.privileges else { return Ok(thing.all) };
    let mut wanted = Privileges::default();
    for name in names {
        if let Some(one) = Privileges::named(name) {
            if !thing.all.contains(one) {
                return Err(invalid(name, thing));
            }
            wanted = wanted.union(one);
            continue;
        }
        match name.as_str() {
            // Whoever has a password may connect and make temporary tables.
            "CONNECT" | "TEMP" | "TEMPORARY" if grant.kind == ObjectKind::Database => {
                if grant.revoke {
                    let message = format!("{name} on the database cannot be revoked");
                    return Err(Error::unsupported(message)
                        .with_hint("ALTER ROLE name NOLOGIN keeps a user out."));
                }
            }
            "EXECUTE" | "CONNECT" | "TEMP" | "TEMPORARY" | "SET" | "ALTER SYSTEM" => {
                return Err(invalid(name, thing));
            }
            _ => {
                let message = format!("unrecognized privilege type \"{}\"", name.to_lowercase());
                return Err(Error::new(SqlState::SyntaxError, message));
            }
        }
    }
    Ok(wanted)
}

fn invalid(privilege: &str, thing: &Thing) -> Error {
    let kind = match thing.kind {
        "table" | "view" => "relation",
        other => other,
    };
    let message = format!("invalid privilege type {privilege} for {kind}");
    Error::new(SqlState::InvalidGrantOperation, message)
}
