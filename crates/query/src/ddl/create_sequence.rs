//! CREATE SEQUENCE, and the sequences of serial and identity columns.

use super::alter_sequence;
use super::place;
use crate::context::Frame;
use parser::commands::{CreateSequence, RelationName, SequenceOptions};
use parser::types;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, ColumnId, Object, Relation, RelationId, Sequence, SqlType, Table,
};
use table_rows::columns::is_integer;
use user_types::Visible;
use values::error::{Error, Result, SqlState};

/// Runs a CREATE SEQUENCE.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateSequence,
) -> Result<()> {
    let (schema, name) = place::of_new(frame, transaction, &create.name, create.is_temporary)?;
    let catalog = Arc::clone(transaction.catalog());
    if create.if_not_exists && catalog.relation(&schema, &name).is_some() {
        frame.skip_existing(SqlState::DuplicateTable, "relation", &name);
        return Ok(());
    }
    let sql_type = match &create.options.data_type {
        None => SqlType::BigInt,
        Some(written) => types::of_written(written, &Visible::default(), frame.text)?,
    };
    if !is_integer(&sql_type) {
        let message = "sequence type must be smallint, integer, or bigint";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    let id = frame.session.shared.store.next_relation_id();
    let mut sequence = sequence(id, schema, name, &sql_type, &create.options)?;
    if let Some(owner) = &create.options.owner {
        alter_sequence::set_owner(frame, transaction, &mut sequence, owner)?;
    }
    transaction.change_catalog(CatalogChange::Create(Relation::Sequence(Arc::new(sequence))))?;
    frame.own(transaction, Object::Relation(id))
}

/// The sequence of a serial or identity column, which has a name already.
pub(crate) fn owned_sequence(
    id: RelationId,
    table: &Table,
    column: ColumnId,
    options: &SequenceOptions,
) -> Result<Sequence> {
    let Some(definition) = table.columns.iter().find(|c| c.id == column) else {
        unreachable!("the column belongs to the table");
    };
    let Some(RelationName { schema, name }) = options.name.clone() else {
        unreachable!("who makes the sequence of a column chooses its name");
    };
    let schema = schema.unwrap_or_else(|| table.schema.clone());
    let mut sequence = sequence(id, schema, name, &definition.sql_type, options)?;
    sequence.owned_by = Some((table.id, column));
    Ok(sequence)
}

fn sequence(
    id: RelationId,
    schema: String,
    name: String,
    sql_type: &SqlType,
    options: &SequenceOptions,
) -> Result<Sequence> {
    let largest = match sql_type {
        SqlType::SmallInt => i64::from(i16::MAX),
        SqlType::Integer => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    for (what, bound) in [("MAXVALUE", options.max), ("MINVALUE", options.min)] {
        if let Some(bound) = bound.filter(|bound| !(-largest - 1..=largest).contains(bound)) {
            let message =
                format!("{what} ({bound}) is out of range for sequence data type {sql_type}");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
    }
    let increment = options.increment.unwrap_or(1);
    let min = options.min.unwrap_or(if increment > 0 { 1 } else { -largest - 1 });
    let max = options.max.unwrap_or(if increment > 0 { largest } else { -1 });
    let start = options.start.unwrap_or(if increment > 0 { min } else { max });
    let bad = |message: String| Err(Error::new(SqlState::InvalidParameterValue, message));
    if increment == 0 {
        return bad("INCREMENT must not be zero".to_owned());
    }
    if min > max {
        return bad(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})"));
    }
    if !(min..=max).contains(&start) {
        return bad(format!("START value ({start}) must be between {min} and {max}"));
    }
    Ok(Sequence {
        id,
        schema,
        name,
        start,
        increment,
        min,
        max,
        cycle: options.cycle,
        owned_by: None,
        comment: None,
    })
}
