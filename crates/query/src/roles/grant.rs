//! GRANT and REVOKE of privileges.

use super::lookup::known;
use super::objects::{GrantTarget, database, of_function, of_relation, relation, schema};
use crate::context::Frame;
use crate::context::named_functions;
use catalog_views::access::{Access, denied};
use parser::commands::{Grant, GrantedOn, ObjectKind, RoleName, RoutineKind, RoutineName};
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
            .with_hint("Create a view of these columns, and grant SELECT on it."));
    }
    let targets = targets(frame, &catalog, grant)?;
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
    for target in &targets {
        let wanted = wanted(grant, target)?;
        let granted = grantable(frame, access, target, wanted, grant.revoke)?;
        for name in &roles {
            change(transaction, grant, target, name, granted)?;
        }
    }
    Ok(())
}

/// The wanted privileges that the role may grant. Warns if some are missing.
///
/// # Errors
/// 42501 if the role has no privilege on the object.
fn grantable(
    frame: &Frame<'_>,
    access: Access<'_>,
    target: &GrantTarget,
    wanted: Privileges,
    revoke: bool,
) -> Result<Privileges> {
    let held = access.privileges(&target.object);
    if held.is_empty() && !(target.object == Object::Database) {
        return Err(denied(target.kind, &target.name));
    }
    let granted = wanted.intersection(held.grantable());
    if granted != wanted {
        let (state, done) = if revoke {
            (SqlState::WarningPrivilegeNotRevoked, "could be revoked")
        } else {
            (SqlState::WarningPrivilegeNotGranted, "were granted")
        };
        let which = if granted.is_empty() { "no" } else { "not all" };
        let message = format!("{which} privileges {done} for \"{}\"", target.name);
        frame.session.warn(state, message);
    }
    Ok(granted)
}

fn change(
    transaction: &mut DistributedTransaction,
    grant: &Grant,
    target: &GrantTarget,
    name: &str,
    granted: Privileges,
) -> Result<()> {
    let catalog = transaction.catalog();
    let role = if name == PUBLIC { Some(catalog.public()) } else { catalog.role(name) };
    let held = role.map(|role| role.privileges(&target.object)).unwrap_or_default();
    // An owner has all privileges. They cannot be revoked.
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
    let (role, object) = (name.to_owned(), target.object.clone());
    transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    Ok(())
}

fn targets(frame: &Frame<'_>, catalog: &Arc<Catalog>, grant: &Grant) -> Result<Vec<GrantTarget>> {
    let names = match &grant.on {
        GrantedOn::Named(names) => names,
        GrantedOn::Routines(routines) => {
            let target = |routine: &RoutineName| {
                let function = match named_functions::find(frame, catalog, routine) {
                    // An aggregate is a function here.
                    Err(error) if routine.kind == RoutineKind::Function => {
                        let kind = RoutineKind::Aggregate;
                        let aggregate = RoutineName { kind, ..routine.clone() };
                        named_functions::find(frame, catalog, &aggregate).map_err(|_| error)?
                    }
                    found => found?,
                };
                let function = function.ok_or_else(|| named_functions::undefined(routine))?;
                Ok(of_function(&function))
            };
            return routines.iter().map(target).collect();
        }
        GrantedOn::RoutinesIn(kind, schemas) => {
            for name in schemas {
                schema(catalog, name)?;
            }
            let all = schemas.iter().flat_map(|name| catalog.functions_in(name));
            let meant = all.filter(|function| match kind {
                RoutineKind::Routine => true,
                RoutineKind::Procedure => function.is_procedure,
                RoutineKind::Function | RoutineKind::Aggregate => !function.is_procedure,
            });
            return Ok(meant.map(|function| of_function(function)).collect());
        }
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
    let target = |name: &Vec<String>| {
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
    names.iter().map(target).collect()
}

/// The privileges named in a statement.
///
/// # Errors
/// 0LP01 for a privilege that does not exist for the kind of object.
fn wanted(grant: &Grant, target: &GrantTarget) -> Result<Privileges> {
    let Some(names) = &grant.privileges else { return Ok(target.all) };
    let mut wanted = Privileges::default();
    for name in names {
        if let Some(one) = Privileges::named(name) {
            if !target.all.contains(one) {
                return Err(invalid(name, target));
            }
            wanted = wanted.union(one);
            continue;
        }
        match name.as_str() {
            // Every user that can log in may connect and create temporary tables.
            "CONNECT" | "TEMP" | "TEMPORARY" if grant.kind == ObjectKind::Database => {
                if grant.revoke {
                    let message = format!("{name} on the database cannot be revoked");
                    return Err(Error::unsupported(message).with_hint(
                        "Use ALTER ROLE name NOLOGIN to prevent a user from connecting.",
                    ));
                }
            }
            "EXECUTE" | "CONNECT" | "TEMP" | "TEMPORARY" | "SET" | "ALTER SYSTEM" => {
                return Err(invalid(name, target));
            }
            _ => {
                let message = format!("unrecognized privilege type \"{}\"", name.to_lowercase());
                return Err(Error::new(SqlState::SyntaxError, message));
            }
        }
    }
    Ok(wanted)
}

fn invalid(privilege: &str, target: &GrantTarget) -> Error {
    let kind = match target.kind {
        "table" | "view" => "relation",
        other => other,
    };
    let message = format!("invalid privilege type {privilege} for {kind}");
    Error::new(SqlState::InvalidGrantOperation, message)
}
