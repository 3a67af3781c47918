//! Loading Arrow batches from the embedding program.

use super::firing_load::FiringLoad;
use super::{declared_column, ingest, named_target};
use crate::context::Frame;
use datafusion::execution::SendableRecordBatchStream;
use parser::object_name;
use store::DistributedTransaction;
use store::catalog::Privileges;
use table_rows::Assembly;
use values::error::Result;

/// Appends the rows of a stream to a table and returns their number. Columns are matched by name.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &str,
    batches: SendableRecordBatchStream,
) -> Result<u64> {
    let table = named_target(frame, transaction, &object_name(table)?, Privileges::INSERT)?;
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
    if let Some(load) = FiringLoad::begin(frame, transaction, &table).await? {
        return load.run(frame, transaction, batches, &assembly).await;
    }
    ingest::load_streams(frame, transaction, table.id, vec![batches], assembly).await
}
