//! COPY query TO 'file'.

use super::options::{Format, Options};
use crate::analysis;
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::context::start;
use catalog_views::access::FileUse;
use copy_formats::RowWriter;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::json::LineDelimitedWriter;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parser::commands::{Copied, Copy};
use planner::results::for_clients;
use scan::tables::Tables;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use store::catalog::SqlType;
use values::assign::as_decimals;
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::translate::of_file;

/// Runs a COPY TO.
pub(crate) async fn run(frame: &Frame<'_>, tables: &dyn Tables, copy: &Copy) -> Result<Outcome> {
    frame.access(tables.catalog()).require_files(FileUse::CopyTo)?;
    let options = Options::of(copy)?;
    let planner = frame.planner(tables);
    let (plan, fields) = match &copy.what {
        Copied::Relation(name, columns) => {
            let text = super::query_of(tables.catalog(), frame.path(), name, columns)?;
            analysis::plan_text(&planner, &text).await?
        }
        Copied::Query => analysis::plan_source(frame, &planner).await?,
    };
    let plan = for_clients(plan, &fields, planner.functions)?;
    let physical = planner.physical(&plan).await?;
    let mut stream = start(frame, physical)?;
    let mut sink = Sink::create(options, &stream.schema(), fields)?;
    let mut rows = 0;
    while let Some(batch) = stream.try_next().await? {
        rows += batch.num_rows() as u64;
        sink.write(&batch)?;
    }
    sink.finish()?;
    Ok(Outcome::Done(Tag::counted("COPY", rows)))
}

/// Writes batches to a file.
enum Sink {
    Rows(Box<RowWriter>, BufWriter<File>),
    Json(LineDelimitedWriter<BufWriter<File>>),
    Parquet(Box<ArrowWriter<BufWriter<File>>>),
}

impl Sink {
    fn create(options: Options, schema: &SchemaRef, fields: Vec<Field>) -> Result<Self> {
        if let (Format::Parquet, Some(column)) = (&options.format, without_parquet(&fields)) {
            let what = format!("column {} of type {} in Parquet", column.name, column.sql_type);
            let hint = "Cast the column to text.";
            return Err(Error::unsupported(format!("{what} is not supported")).with_hint(hint));
        }
        let file = File::create(&options.path).map_err(|error| {
            let message = format!("cannot write file \"{}\": {error}", options.path);
            of_file(message, &error)
        })?;
        let file = BufWriter::new(file);
        Ok(match options.format {
            // Binary, which numbers the types of items, is not for files.
            Format::Rows(rows) => {
                Self::Rows(Box::new(RowWriter::new(rows, fields.into(), |_| 0)), file)
            }
            Format::Json => Self::Json(LineDelimitedWriter::new(file)),
            Format::Parquet => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                let schema = as_decimals(&RecordBatch::new_empty(schema.clone()))?.schema();
                let writer = ArrowWriter::try_new(file, schema, Some(properties));
                Self::Parquet(Box::new(writer.map_err(parquet_error)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Rows(writer, file) => with_file(file, |row| {
                writer.begin(row);
                writer.write(batch, row)
            })?,
            Self::Json(writer) => writer.write(&as_decimals(batch)?)?,
            Self::Parquet(writer) => {
                writer.write(&as_decimals(batch)?).map_err(parquet_error)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let flushed = match self {
            Self::Rows(mut writer, mut file) => {
                with_file(&mut file, |row| {
                    writer.begin(row);
                    Ok(())
                })?;
                file.flush()
            }
            Self::Json(mut writer) => {
                writer.finish()?;
                writer.into_inner().flush()
            }
            Self::Parquet(writer) => writer.into_inner().map_err(parquet_error)?.flush(),
        };
        flushed.map_err(|error| of_file(error.to_string(), &error))
    }
}

/// Lets a writer of rows write to a file.
fn with_file(
    file: &mut BufWriter<File>,
    write: impl FnOnce(&mut (dyn FnMut(&[u8]) + Send)) -> Result<()>,
) -> Result<()> {
    let mut written = Ok(());
    write(&mut |row| {
        if written.is_ok() {
            written = file.write_all(row);
        }
    })?;
    written.map_err(|error| of_file(error.to_string(), &error))
}

/// The first column of a type that the writer of Parquet does not have.
fn without_parquet(fields: &[Field]) -> Option<&Field> {
    fn has_interval(sql_type: &SqlType) -> bool {
        match sql_type {
            SqlType::Interval => true,
            SqlType::Array(item) => has_interval(item),
            _ => false,
        }
    }
    fields.iter().find(|field| has_interval(&field.sql_type))
}

fn parquet_error(error: ParquetError) -> Error {
    let message = error.to_string();
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => of_file(message, &error),
            Err(_) => Error::new(SqlState::IoError, message),
        },
        _ => Error::new(SqlState::IoError, message),
    }
}

#[cfg(test)]
mod tests {
    use super::SqlState;
    use crate::{Database, Options};

    #[tokio::test]
    async fn a_full_disk_is_reported() {
        let database = Database::open(Options::default()).expect("opens");
        let session = database.session();
        for format in ["csv", "json", "parquet"] {
            let rows = "SELECT i, i + i AS n FROM generate_series(1, 100000) t(i)";
            let sql = format!("COPY ({rows}) TO '/dev/full' (FORMAT {format})");
            let error = session.execute(&sql).await.err().expect("/dev/full is always full");
            assert_eq!(error.state(), SqlState::DiskFull, "{format}: {error}");
        }
    }
}
