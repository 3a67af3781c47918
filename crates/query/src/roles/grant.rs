//! GRANT and REVOKE, and who owns what.

use super::define::known;
use crate::session::Frame;
use catalog_views::access;
use catalog_views::access::{Access, denied};
use catalog_views::relation_names::find_parts;
use parser::roles::{Grant, GrantedOn, ObjectKind, RoleName};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, Object, PUBLIC, Privileges, Relation, Role};
use values::error::{Error, Result, SqlState};

/// The name of the one database, and what tools take it for.
const DATABASE: &str = "pando";

/// Something that privileges are granted on, and what it is called.
struct Thing {
    kind: &'static str,
    name: String,
    object: Object,
    all: Privileges,
}

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

fn relation<'a>(frame: &Frame<'_>, catalog: &'a Catalog, name: &[String]) -> Result<&'a Relation> {
    find_parts(catalog, frame.path(), name).ok_or_else(|| {
        let message = format!("relation \"{}\" does not exist", name.join("."));
        Error::new(SqlState::UndefinedTable, message)
    })
}

fn of_relation(relation: &Relation) -> Thing {
    let all = match relation {
        Relation::Sequence(_) => Privileges::OF_SEQUENCES,
        Relation::Table(_) | Relation::View(_) => Privileges::OF_TABLES,
    };
    let object = Object::Relation(relation.id());
    Thing { kind: relation.kind(), name: relation.name().to_owned(), object, all }
}

fn schema(catalog: &Catalog, name: &str) -> Result<Thing> {
    if catalog.schema(name).is_none() {
        let message = format!("schema \"{name}\" does not exist");
        return Err(Error::new(SqlState::InvalidSchemaName, message));
    }
    let object = Object::Schema(name.to_owned());
    Ok(Thing { kind: "schema", name: name.to_owned(), object, all: Privileges::OF_SCHEMAS })
}

fn database(name: &str) -> Result<Thing> {
    if name != DATABASE {
        let message = format!("database \"{name}\" does not exist");
        return Err(Error::new(SqlState::InvalidCatalogName, message));
    }
    let all = Privileges::CREATE;
    Ok(Thing { kind: "database", name: name.to_owned(), object: Object::Database, all })
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

/// Runs a GRANT or REVOKE of roles.
pub(super) fn membership(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    revoke: bool,
    roles: &[String],
    members: &[RoleName],
    admin: bool,
) -> Result<()> {
    for role in roles {
        for member in members {
            let catalog = Arc::clone(transaction.catalog());
            may_admit(frame.access(&catalog), role)?;
            let member = frame.role_named(member)?;
            let held = known(&catalog, &member)?.member_of.get(role).copied();
            match (revoke, held) {
                (false, Some(had)) if had || !admin => {
                    let message =
                        format!("role \"{member}\" is already a member of role \"{role}\"");
                    frame.session.notice(SqlState::SuccessfulCompletion, message);
                }
                (false, _) => admit(transaction, &catalog, role, &member, admin)?,
                (true, None) => {
                    let message = format!("role \"{member}\" is not a member of role \"{role}\"");
                    frame.session.warn(SqlState::Warning, message);
                }
                (true, Some(_)) => {
                    let mut changed = Role::clone(known(&catalog, &member)?);
                    match admin {
                        true => drop(changed.member_of.insert(role.clone(), false)),
                        false => drop(changed.member_of.remove(role)),
                    }
                    transaction.change_catalog(CatalogChange::PutRole(changed))?;
                }
            }
        }
    }
    Ok(())
}

/// Whether the session may make others members of a role.
pub(super) fn may_admit(access: Access<'_>, role: &str) -> Result<()> {
    let to = access.known(role).ok_or_else(|| super::define::undefined(role))?;
    if access.admits_to(to) {
        return Ok(());
    }
    let message = format!("must have admin option on role \"{role}\"");
    Err(Error::new(SqlState::InsufficientPrivilege, message))
}

/// Makes a role a member of another.
pub(super) fn admit(
    transaction: &mut DistributedTransaction,
    catalog: &Catalog,
    role: &str,
    member: &str,
    admin: bool,
) -> Result<()> {
    if role == member || Access::new(catalog, Some(role)).is_in(member) {
        let message = format!("role \"{role}\" is a member of role \"{member}\"");
        return Err(Error::new(SqlState::InvalidGrantOperation, message));
    }
    let mut changed = Role::clone(known(catalog, member)?);
    changed.member_of.insert(role.to_owned(), admin);
    transaction.change_catalog(CatalogChange::PutRole(changed))?;
    Ok(())
}

/// Runs an ALTER ... OWNER TO.
pub(super) fn owner(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    kind: ObjectKind,
    name: &[String],
    to: &RoleName,
    if_exists: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let access = frame.access(&catalog);
    let object = if kind == ObjectKind::Schema {
        let thing = schema(&catalog, name.last().map_or("", String::as_str))?;
        access.require_schema(&thing.name, Privileges::OWNER)?;
        thing.object
    } else {
        let relation = match relation(frame, &catalog, name) {
            Ok(relation) => relation,
            Err(_) if if_exists => return Ok(()),
            Err(error) => return Err(error),
        };
        let fits = kind == ObjectKind::Table || relation.kind() == kind.name();
        if !fits {
            let message = format!("\"{}\" is not a {}", relation.name(), kind.name());
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        access.require(relation, Privileges::OWNER)?;
        Object::Relation(relation.id())
    };
    let name = frame.role_named(to)?;
    if !access.has_role(&name) {
        let message = format!("must be member of role \"{name}\"");
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    let is_known = catalog.role(&name).is_some();
    if !is_known && name != catalog_views::names::BOOTSTRAP_SUPERUSER && !frame.is_me(&name) {
        return Err(super::define::undefined(&name));
    }
    if let Some(old) = access::owner(&catalog, &object) {
        let (role, object) = (old.name.clone(), object.clone());
        let privileges = Privileges::default();
        transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    }
    own(transaction, is_known.then_some(name.as_str()), object)
}

/// Makes a role the owner of something. What belongs to no role belongs to the one that is always there.
pub(crate) fn own(
    transaction: &mut DistributedTransaction,
    role: Option<&str>,
    object: Object,
) -> Result<()> {
    if let Some(role) = role {
        let (role, privileges) = (role.to_owned(), Privileges::ALL);
        transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    }
    Ok(())
}
