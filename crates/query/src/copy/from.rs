//! COPY table FROM 'file'.

use super::client::{BATCHES_AHEAD, Piece, check_row_bytes};
use super::options::{Format, Options};
use super::{copied_columns, refuse_view};
use crate::context::outcome::{Outcome, Tag};
use crate::context::{Frame, start};
use crate::dml::firing_load::FiringLoad;
use crate::dml::{declared_column, ingest, named_target};
use catalog_views::access::FileUse;
use copy_formats::RowReader;
use datafusion::catalog::TableProvider;
use datafusion::common::DataFusionError;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::TryStreamExt;
use parser::client_copy;
use parser::commands::{Copied, Copy};
use scan::files;
use scan::provider::plan_schema;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Privileges, SqlType, Table};
use table_rows::Assembly;
use tokio::sync::mpsc;
use values::error::{Error, Result, SqlState};

/// Runs a COPY FROM.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    copy: &Copy,
) -> Result<Outcome> {
    let Copied::Relation(name, columns) = &copy.what else {
        return Err(Error::new(SqlState::SyntaxError, "COPY FROM requires a table, not a query"));
    };
    frame.access(transaction.catalog()).require_files(FileUse::CopyFrom)?;
    let options = Options::of(copy)?;
    refuse_view(transaction.catalog(), frame.path(), name)?;
    let table = named_target(frame, transaction, name, Privileges::INSERT)?;
    let given = copied_columns(&table, columns)?;
    let rows = match &options.format {
        Format::Rows(rows) => {
            text_file(frame, transaction, &options.path, rows, &table, &given).await?
        }
        Format::Json => {
            let schema = Arc::new(plan_schema(&table, &given));
            let format = Arc::new(JsonFormat::default());
            let file = files::listing(frame.engine(), &options.path, format, Some(schema)).await?;
            engine_file(frame, transaction, copy, &table, &given, file).await?
        }
        Format::Parquet => {
            let format = Arc::new(ParquetFormat::default());
            let file = files::listing(frame.engine(), &options.path, format, None).await?;
            let schema = file.schema();
            let columns = schema.fields().iter().map(|f| declared_column(&table, f.name()));
            let columns: Vec<usize> = columns.collect::<Result<_>>()?;
            engine_file(frame, transaction, copy, &table, &columns, file).await?
        }
    };
    Ok(Outcome::Done(Tag::counted("COPY", rows)))
}

/// Loads the rows of a file that the engine reads.
async fn engine_file(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    copy: &Copy,
    table: &Arc<Table>,
    given: &[usize],
    file: Arc<dyn TableProvider>,
) -> Result<u64> {
    let plan = LogicalPlanBuilder::scan("file", provider_as_source(file), None)?.build()?;
    let (physical, assembly) = {
        let planner = frame.planner(transaction);
        let assembly = Assembly::new(&planner, &frame.session.shared.store, table, given)?;
        let assembly = assembly.with_condition(&planner, copy.condition.as_deref())?;
        (planner.physical(&plan).await?, assembly)
    };
    if let Some(load) = FiringLoad::begin(frame, transaction, table).await? {
        return load.run(frame, transaction, start(frame, physical)?, &assembly).await;
    }
    ingest(frame, transaction, table.id, physical, assembly).await
}

/// Loads the rows of files in PostgreSQL's formats. A task reads them ahead of the load.
async fn text_file(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    path: &str,
    options: &client_copy::Options,
    table: &Arc<Table>,
    given: &[usize],
) -> Result<u64> {
    let (store, files) = files::matching(frame.engine(), path).await?;
    let columns = given.iter().map(|index| &table.columns[*index]);
    let (names, types): (Vec<String>, Vec<SqlType>) =
        columns.map(|column| (column.name.clone(), column.sql_type.clone())).unzip();
    let (pieces, mut receiver) = mpsc::channel(BATCHES_AHEAD);
    let reading = {
        let (name, options) = (table.name.clone(), options.clone());
        SpawnedTask::spawn(async move {
            for file in files {
                let reader = RowReader::new(&options, &name, names.clone(), types.clone());
                if !read(&*store, &file, reader, &pieces).await? {
                    return Ok(());
                }
            }
            // The load may have failed; it has the error.
            let _ = pieces.send(Piece::End).await;
            Ok(())
        })
    };
    let session = frame.session;
    let loaded =
        session.copy_into(frame.text, transaction, table, given, options, &mut receiver).await;
    drop(receiver);
    match reading.join().await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(())) => loaded.map(|loaded| loaded.rows),
        Err(error) => Err(Error::new(SqlState::InternalError, error.to_string())),
    }
}

/// Sends the rows of a file to the load. Returns false if the load has failed.
async fn read(
    store: &dyn ObjectStore,
    file: &ObjectMeta,
    mut reader: RowReader,
    pieces: &mpsc::Sender<Piece>,
) -> Result<bool> {
    let found = store.get(&file.location).await.map_err(DataFusionError::from)?;
    let mut parts = found.into_stream();
    let mut pending = Vec::new();
    loop {
        let part = parts.try_next().await.map_err(DataFusionError::from)?;
        let is_last = part.is_none();
        pending.extend_from_slice(&part.unwrap_or_default());
        let mut used = 0;
        loop {
            used += reader.read(&pending[used..], is_last)?;
            if !reader.is_full() {
                break;
            }
            if !send(&mut reader, pieces).await? {
                return Ok(false);
            }
        }
        pending.drain(..used);
        check_row_bytes(pending.len())?;
        if is_last {
            reader.finish(&pending)?;
            return send(&mut reader, pieces).await;
        }
    }
}

/// Sends the rows read so far to the load. Returns false if the load has failed.
async fn send(reader: &mut RowReader, pieces: &mpsc::Sender<Piece>) -> Result<bool> {
    match reader.batch()? {
        Some((batch, first_line)) => Ok(pieces.send(Piece::Rows(batch, first_line)).await.is_ok()),
        None => Ok(true),
    }
}
