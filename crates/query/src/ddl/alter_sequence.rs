//! ALTER SEQUENCE.

use super::truncate::replace_sequence;
use crate::context::Frame;
use crate::dml::{declared_column, named_target};
use catalog_views::relation_names::{find_named, missing_relation};
use parser::commands::{AlterSequence, SequenceOwner};
use parser::types;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, Privileges, Relation, Sequence, SqlType};
use table_rows::columns::is_integer;
use user_types::Visible;
use values::error::{Error, Result, SqlState};

/// Runs an ALTER SEQUENCE. A rollback keeps the old definition, and the values of a sequence that it restarts.
pub(super) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    alter: &AlterSequence,
) -> Result<()> {
    let name = &alter.name;
    let Some(relation) = find_named(transaction.catalog(), frame.path(), name)?.cloned() else {
        if alter.if_exists {
            frame.skip_missing("relation", &name.name);
            return Ok(());
        }
        return Err(missing_relation(transaction.catalog(), frame.path(), name));
    };
    let Relation::Sequence(old) = &relation else {
        let message = format!("\"{}\" is not a sequence", relation.name());
        return Err(Error::new(SqlState::WrongObjectType, message));
    };
    frame.access(transaction.catalog()).require(&relation, Privileges::OWNER)?;
    let mut new = changed(frame, old, alter)?;
    if let Some(owner) = &alter.owner {
        if is_identity(transaction.catalog(), old) {
            let message = "cannot change ownership of identity sequence";
            return Err(Error::unsupported(message));
        }
        set_owner(frame, transaction, &mut new, owner)?;
    }
    let store = &frame.session.shared.store;
    match alter.restart {
        None => {
            let last = store.sequence_last(old)?.unwrap_or(new.start);
            refuse_outside("RESTART", last, &new)?;
            let new = Relation::Sequence(Arc::new(new));
            transaction.change_catalog(CatalogChange::Replace(new))?;
        }
        Some(value) => {
            let value = value.unwrap_or(new.start);
            refuse_outside("RESTART", value, &new)?;
            let new = replace_sequence(frame, transaction, &new)?;
            if value != new.start {
                store.sequence_set(&new, value, false)?;
            }
        }
    }
    Ok(())
}

/// Whether a sequence belongs to an identity column.
fn is_identity(catalog: &Catalog, sequence: &Sequence) -> bool {
    let Some((table, column)) = sequence.owned_by else { return false };
    let table = catalog.table_by_id(table);
    table.is_some_and(|t| t.columns.iter().any(|c| c.id == column && c.identity.is_some()))
}

/// Makes a column the owner of a sequence, or none.
///
/// # Errors
/// 55000 if the table is in another schema; 42703 for the column; errors of the table's name.
pub(super) fn set_owner(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    sequence: &mut Sequence,
    owner: &SequenceOwner,
) -> Result<()> {
    sequence.owned_by = match owner {
        SequenceOwner::None => None,
        SequenceOwner::Column { table, column } => {
            let table = named_target(frame, transaction, table, Privileges::OWNER)?;
            if table.schema != sequence.schema {
                let message = "sequence must be in same schema as table it is linked to";
                return Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message));
            }
            let at = declared_column(&table, column)?;
            Some((table.id, table.columns[at].id))
        }
    };
    Ok(())
}

/// The sequence with the options of the statement.
fn changed(frame: &Frame<'_>, old: &Sequence, alter: &AlterSequence) -> Result<Sequence> {
    let mut new = Sequence::clone(old);
    let bad = |message: String| Err(Error::new(SqlState::InvalidParameterValue, message));
    new.increment = alter.increment.unwrap_or(old.increment);
    if new.increment == 0 {
        return bad("INCREMENT must not be zero".to_owned());
    }
    // The type is not kept: it is what the bounds allow.
    let (mut least, mut most) = match (i32::try_from(old.min), i32::try_from(old.max)) {
        (Ok(_), Ok(_)) if old.owned_by.is_some() => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let mut resets = false;
    if let Some(written) = &alter.data_type {
        let sql_type = types::of_written(written, &Visible::default(), frame.text)?;
        if !is_integer(&sql_type) {
            return bad("sequence type must be smallint, integer, or bigint".to_owned());
        }
        (least, most) = match sql_type {
            SqlType::SmallInt => (i64::from(i16::MIN), i64::from(i16::MAX)),
            SqlType::Integer => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        resets = true;
    }
    let is_limit = |value: i64| {
        [i64::from(i16::MAX), i64::from(i32::MAX), i64::MAX]
            .into_iter()
            .any(|most| value == most || value == -most - 1)
    };
    let up = new.increment > 0;
    match alter.max {
        Some(Some(max)) => new.max = max,
        Some(None) => new.max = if up { most } else { -1 },
        None if resets && is_limit(old.max) => new.max = most,
        None => {}
    }
    match alter.min {
        Some(Some(min)) => new.min = min,
        Some(None) => new.min = if up { 1 } else { least },
        None if resets && is_limit(old.min) => new.min = least,
        None => {}
    }
    for (name, value) in [("MAXVALUE", new.max), ("MINVALUE", new.min)] {
        if !(least..=most).contains(&value) {
            return bad(format!("{name} ({value}) is out of range for sequence data type"));
        }
    }
    if new.min >= new.max {
        return bad(format!("MINVALUE ({}) must be less than MAXVALUE ({})", new.min, new.max));
    }
    new.start = alter.start.unwrap_or(old.start);
    refuse_outside("START", new.start, &new)?;
    new.cycle = alter.cycle.unwrap_or(old.cycle);
    Ok(new)
}

/// Refuses a value that a sequence cannot have.
fn refuse_outside(what: &str, value: i64, sequence: &Sequence) -> Result<()> {
    let message = match value {
        low if low < sequence.min => {
            format!("{what} value ({low}) cannot be less than MINVALUE ({})", sequence.min)
        }
        high if high > sequence.max => {
            format!("{what} value ({high}) cannot be greater than MAXVALUE ({})", sequence.max)
        }
        _ => return Ok(()),
    };
    Err(Error::new(SqlState::InvalidParameterValue, message))
}
