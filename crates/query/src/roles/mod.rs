//! Roles and privileges: CREATE, ALTER and DROP ROLE, GRANT, REVOKE, ALTER ... OWNER TO.
//!
//! The statements are read by [`parser::commands`]. Privileges are checked by
//! [`catalog_views::access`].

mod change;
mod define;
mod grant;
mod lookup;
mod membership;
mod objects;
mod owned;
mod owner;
mod password;
mod set_role;

use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
pub(crate) use define::superuser;
use parser::commands::{ObjectKind, RoleName, RoleStatement};
use store::DistributedTransaction;
use values::error::Result;

/// Makes a role the owner of a schema.
pub(crate) fn give_schema(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    schema: String,
    to: &RoleName,
) -> Result<()> {
    owner::change(frame, transaction, ObjectKind::Schema, &[schema], to, false)
}

/// Runs a statement about roles.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &RoleStatement,
) -> Result<Outcome> {
    match statement {
        RoleStatement::Create { name, options } => {
            define::create(frame, transaction, name, options)?;
        }
        RoleStatement::Alter { name, options } => {
            change::alter(frame, transaction, name, options)?;
        }
        RoleStatement::Rename { name, to } => change::rename(frame, transaction, name, to)?,
        RoleStatement::Drop { names, if_exists } => {
            change::drop_roles(frame, transaction, names, *if_exists)?;
        }
        RoleStatement::Privileges(granted) => grant::privileges(frame, transaction, granted)?,
        RoleStatement::Membership { revoke, roles, members, admin } => {
            membership::grant(frame, transaction, *revoke, roles, members, *admin)?;
        }
        RoleStatement::Reassign { from, to } => owned::reassign(frame, transaction, from, to)?,
        RoleStatement::DropOwned(roles) => owned::drop_owned(frame, transaction, roles)?,
        RoleStatement::RoutineOwner { routine, owner } => {
            owner::of_routine(frame, transaction, routine, owner)?;
        }
        RoleStatement::Owner { kind, name, owner, if_exists } => {
            owner::change(frame, transaction, *kind, name, owner, *if_exists)?;
        }
    }
    Ok(Outcome::Done(Tag::plain(statement.command())))
}
