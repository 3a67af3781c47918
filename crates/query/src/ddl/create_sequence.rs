//! CREATE SEQUENCE, and the sequences of serial and identity columns.

use super::columns::integer;
use super::place;
use crate::context::Frame;
use datafusion::sql::sqlparser::ast::{SequenceOptions, Statement};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, ColumnId, Object, Relation, RelationId, Sequence, SqlType, Table,
};
use values::error::{Error, Result, SqlState};
use values::types;

/// Runs a CREATE SEQUENCE.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &Statement,
) -> Result<&'static str> {
    let Statement::CreateSequence {
        temporary,
        if_not_exists,
        name,
        data_type,
        sequence_options,
        ..
    } = statement
    else {
        unreachable!("the statement is a CREATE SEQUENCE");
    };
    let (schema, name) = place::of_new(frame, transaction, name, *temporary)?;
    let catalog = Arc::clone(transaction.catalog());
    if *if_not_exists && catalog.relation(&schema, &name).is_some() {
        frame.skip_existing(SqlState::DuplicateTable, "relation", &name);
        return Ok("CREATE SEQUENCE");
    }
    let sql_type = match data_type {
        None => SqlType::BigInt,
        Some(data_type) => types::from_ast(data_type)?,
    };
    let id = frame.session.shared.store.next_relation_id();
    let sequence = sequence(id, schema, name, &sql_type, sequence_options)?;
    transaction.change_catalog(CatalogChange::Create(Relation::Sequence(Arc::new(sequence))))?;
    frame.own(transaction, Object::Relation(id))?;
    Ok("CREATE SEQUENCE")
}

/// The sequence of a serial or identity column.
pub(crate) fn owned_sequence(
    id: RelationId,
    table: &Table,
    column: ColumnId,
    options: &[SequenceOptions],
) -> Result<Sequence> {
    let Some(definition) = table.columns.iter().find(|c| c.id == column) else {
        unreachable!("the column belongs to the table");
    };
    let name = format!("{}_{}_seq", table.name, definition.name);
    let mut sequence = sequence(id, table.schema.clone(), name, &definition.sql_type, options)?;
    sequence.owned_by = Some((table.id, column));
    Ok(sequence)
}

fn sequence(
    id: RelationId,
    schema: String,
    name: String,
    sql_type: &SqlType,
    options: &[SequenceOptions],
) -> Result<Sequence> {
    let largest = match sql_type {
        SqlType::SmallInt => i64::from(i16::MAX),
        SqlType::Integer => i64::from(i32::MAX),
        _ => i64::MAX,
    };
    let (mut increment, mut start, mut min, mut max, mut cycle) = (1, None, None, None, false);
    for option in options {
        match option {
            SequenceOptions::IncrementBy(value, _) => increment = integer(value)?,
            SequenceOptions::StartWith(value, _) => start = Some(integer(value)?),
            SequenceOptions::MinValue(value) => min = value.as_ref().map(integer).transpose()?,
            SequenceOptions::MaxValue(value) => max = value.as_ref().map(integer).transpose()?,
            SequenceOptions::Cycle(no) => cycle = !no,
            SequenceOptions::Cache(_) => {}
        }
    }
    let min = min.unwrap_or(if increment > 0 { 1 } else { -largest - 1 });
    let max = max.unwrap_or(if increment > 0 { largest } else { -1 });
    let start = start.unwrap_or(if increment > 0 { min } else { max });
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
        cycle,
        owned_by: None,
        comment: None,
    })
}
