//! ALTER TABLE ... ALTER COLUMN ... ADD GENERATED, SET GENERATED and DROP IDENTITY.

use super::alter_sequence;
use super::create_sequence::owned_sequence;
use super::uses;
use crate::context::Frame;
use crate::dml::declared_column;
use integrity::names::of_sequence;
use parser::commands::{self, AlterSequence, IdentityChange, RelationName, SequenceOptions};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Identity, Object, Relation, Sequence, Table, TableId};
use table_rows::columns::is_integer;
use values::error::{Error, Result, SqlState};

/// Changes the identity of a column. Returns whether the definition of the table has changed.
pub(super) fn change(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &mut Table,
    (name, change): (&str, &IdentityChange),
) -> Result<bool> {
    let at = declared_column(table, name)?;
    let not_identity = || {
        let message =
            format!("column \"{name}\" of relation \"{}\" is not an identity column", table.name);
        Error::new(SqlState::ObjectNotInPrerequisiteState, message)
    };
    match change {
        IdentityChange::Add { identity, sequence } => {
            refuse_identity(table, at)?;
            add_sequence(frame, transaction, table, at, sequence)?;
            table.columns[at].identity = Some(held(*identity));
        }
        IdentityChange::Set { identity, sequence } => {
            let before = table.columns[at].identity.ok_or_else(not_identity)?;
            if let Some(owned) = owned(transaction, table.id, at, table) {
                let (schema, name) = (Some(owned.schema.clone()), owned.name.clone());
                let alter =
                    AlterSequence { name: RelationName { schema, name }, ..(**sequence).clone() };
                alter_sequence::run(frame, transaction, &alter)?;
            }
            table.columns[at].identity = Some(identity.map_or(before, held));
        }
        IdentityChange::Drop { if_exists } => {
            if table.columns[at].identity.is_none() {
                if *if_exists {
                    let message = format!(
                        "column \"{name}\" of relation \"{}\" is not an identity column, skipping",
                        table.name
                    );
                    frame.session.notice(SqlState::SuccessfulCompletion, message);
                    return Ok(false);
                }
                return Err(not_identity());
            }
            if let Some(owned) = owned(transaction, table.id, at, table) {
                transaction.change_catalog(CatalogChange::Drop(owned.id))?;
            }
            table.columns[at].identity = None;
            table.columns[at].default = None;
        }
    }
    Ok(true)
}

fn held(identity: commands::Identity) -> Identity {
    match identity {
        commands::Identity::Always => Identity::Always,
        commands::Identity::ByDefault => Identity::ByDefault,
    }
}

/// The default of a column that a sequence fills.
pub(super) fn next_value(schema: &str, name: &str) -> String {
    let quoted = |name: &str| name.replace('"', "\"\"").replace('\'', "''");
    format!("nextval('\"{}\".\"{}\"')", quoted(schema), quoted(name))
}

/// Refuses a column that cannot become an identity column.
fn refuse_identity(table: &Table, at: usize) -> Result<()> {
    let column = &table.columns[at];
    let (name, of) = (&column.name, &table.name);
    let state = SqlState::ObjectNotInPrerequisiteState;
    if !is_integer(&column.sql_type) {
        let message = "identity column type must be smallint, integer, or bigint";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    let message = if column.nullable {
        format!(
            "column \"{name}\" of relation \"{of}\" must be declared NOT NULL before identity can be added"
        )
    } else if column.identity.is_some() {
        format!("column \"{name}\" of relation \"{of}\" is already an identity column")
    } else if column.default.is_some() {
        format!("column \"{name}\" of relation \"{of}\" already has a default value")
    } else {
        return Ok(());
    };
    Err(Error::new(state, message))
}

/// Creates the sequence of a column, which fills it from now on.
///
/// # Errors
/// 42P07 if its name is taken; what is wrong with its options.
pub(super) fn add_sequence(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &mut Table,
    at: usize,
    options: &SequenceOptions,
) -> Result<()> {
    let id = frame.session.shared.store.next_relation_id();
    let mut options = options.clone();
    if options.name.is_none() {
        let column = &table.columns[at].name;
        let name = of_sequence(transaction.catalog(), table, column, &[]);
        options.name = Some(RelationName { schema: None, name });
    }
    let sequence = owned_sequence(id, table, table.columns[at].id, &options)?;
    table.columns[at].default = Some(next_value(&sequence.schema, &sequence.name));
    transaction.change_catalog(CatalogChange::Create(Relation::Sequence(Arc::new(sequence))))?;
    frame.own(transaction, Object::Relation(id))?;
    // The rest of the statement may take values from it.
    frame.session.context.see(transaction, frame);
    Ok(())
}

/// Drops the sequence of a column that its table does not have any more.
///
/// # Errors
/// 2BP01 if other columns take values from it, without CASCADE.
pub(super) fn drop_sequence(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    before: &Table,
    column: &str,
    cascade: bool,
) -> Result<()> {
    let at = before.column(column).map(|(at, _)| at);
    let owned = at.and_then(|at| owned(transaction, before.id, at, before));
    let Some(owned) = owned else { return Ok(()) };
    uses::drop_of_sequence(frame, transaction, &owned, cascade, &|_| false)?;
    transaction.change_catalog(CatalogChange::Drop(owned.id))?;
    Ok(())
}

/// The sequence that a column owns.
fn owned(
    transaction: &DistributedTransaction,
    id: TableId,
    at: usize,
    table: &Table,
) -> Option<Arc<Sequence>> {
    let owner = Some((id, table.columns[at].id));
    transaction.catalog().relations().find_map(|relation| match relation {
        Relation::Sequence(sequence) if sequence.owned_by == owner => Some(Arc::clone(sequence)),
        _ => None,
    })
}
