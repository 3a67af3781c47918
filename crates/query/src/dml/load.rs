//! Loading Arrow batches from the embedding program.

use super::assembly::Assembly;
use super::{declared_column, ingest, target};
use crate::context::Frame;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::TableObject;
use store::DistributedTransaction;
use store::catalog::Privileges;
use values::error::Result;

/// Appends the rows of a stream to a table and returns their number. Columns are matched by name.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &str,
    batches: SendableRecordBatchStream,
) -> Result<u64> {
    let statement = parser::parse_sql(&format!("INSERT INTO {table} DEFAULT VALUES"))?;
    let datafusion::sql::sqlparser::ast::Statement::Insert(insert) = statement else {
        unreachable!("an INSERT is an INSERT");
    };
    let TableObject::TableName(name) = &insert.table else {
        return Err(crate::Error::unsupported(format!("{table} is not a table")));
    };
    let table = target(frame, transaction, name, Privileges::INSERT)?;
    let given: Result<Vec<usize>> = batches
        .schema()
        .fields()
        .iter()
        .map(|field| declared_column(&table, field.name()))
        .collect();
    let assembly = {
        let planner = frame.planner(transaction);
        Assembly::new(&planner, &frame.session.shared.store, &table, &given?)?
    };
    ingest::load_streams(frame, transaction, table.id, vec![batches], assembly).await
}
