//! Loads the rows of a table from the data files of a backup.

use crate::manifest::{DataFile, TableForm};
use crate::{Error, Progress, Target, rows};
use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;
use store::catalog::Table;
use store::{IngestPart, Store, Transaction};

/// Files that are read at the same time.
const FILES_AT_ONCE: usize = 4;

/// Loads all rows of a table, which the transaction has created.
pub(crate) async fn load(
    transaction: &mut Transaction,
    store: &Store,
    target: &Target,
    table: &Table,
    form: &TableForm,
    progress: &Progress,
) -> Result<(), Error> {
    let schema = table.arrow_schema();
    let shown = table.columns.iter().zip(schema.fields()).filter(|(column, _)| !column.hidden);
    let shown: Vec<_> = shown.map(|(_, field)| Arc::clone(field)).collect();
    let shown = Arc::new(Schema::new(shown));
    let read = |file: &DataFile| read(target.clone(), file.clone(), Arc::clone(&shown));
    let reads: Vec<_> = form.files.iter().map(read).collect();
    let mut files = futures::stream::iter(reads).buffered(FILES_AT_ONCE);
    let mut part = transaction.ingest(table.id)?;
    while let Some(batches) = files.try_next().await? {
        for batch in batches {
            let rows = batch.num_rows() as u64;
            append(&mut part, store, table, &schema, batch)?;
            progress.advance(rows);
        }
    }
    drop(files);
    transaction.finish_ingest(table.id, vec![part])?;
    Ok(())
}

async fn read(
    target: Target,
    file: DataFile,
    schema: SchemaRef,
) -> Result<Vec<RecordBatch>, Error> {
    let bytes = target.get(&file.path()).await?;
    let decoded = tokio::task::spawn_blocking(move || rows::decode(&file, &bytes, &schema));
    decoded.await.expect("decoding rows does not panic")
}

/// Adds rows, with new row ids if the table has no key.
fn append(
    part: &mut IngestPart,
    store: &Store,
    table: &Table,
    schema: &SchemaRef,
    batch: RecordBatch,
) -> Result<(), Error> {
    if !table.has_hidden_key() {
        return Ok(part.append(batch)?);
    }
    let rows = batch.num_rows() as u64;
    let first = store.allocate_row_ids(rows);
    let mut shown = batch.columns().iter();
    let column = |is_hidden: bool| -> Option<ArrayRef> {
        match is_hidden {
            true => Some(Arc::new(Int64Array::from_iter_values(first..first + rows as i64))),
            false => shown.next().cloned(),
        }
    };
    let columns = table.columns.iter().map(|column| column.hidden).filter_map(column).collect();
    let batch = RecordBatch::try_new(Arc::clone(schema), columns).map_err(store::Error::from)?;
    Ok(part.append(batch)?)
}
