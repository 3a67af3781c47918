//! COPY query TO 'file'.

use super::options::Options;
use crate::analysis;
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::context::start;
use catalog_views::access::FileUse;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::json::LineDelimitedWriter;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parser::commands::{Copied, Copy};
use scan::files::Format;
use scan::tables::Tables;
use std::fs::File;
use std::io::{self, BufWriter};
use values::error::{Error, Result, SqlState};
use values::translate::of_file;

/// Runs a COPY TO.
pub(crate) async fn run(frame: &Frame<'_>, tables: &dyn Tables, copy: &Copy) -> Result<Outcome> {
    frame.access(tables.catalog()).require_files(FileUse::CopyTo)?;
    let options = Options::of(copy)?;
    let planner = frame.planner(tables);
    let plan = match &copy.what {
        Copied::Relation(name, columns) => {
            let text = super::query_of(tables.catalog(), frame.path(), name, columns)?;
            analysis::plan_text(&planner, &text).await?
        }
        Copied::Query => match analysis::plan_source(frame, &planner).await? {
            Some((plan, _)) => plan,
            None => return Err(analysis::missing_source()),
        },
    };
    let physical = planner.physical(&plan).await?;
    let mut stream = start(frame, physical)?;
    let mut sink = Sink::create(&options, &stream.schema())?;
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
    Csv(Box<datafusion::arrow::csv::Writer<BufWriter<File>>>),
    Json(LineDelimitedWriter<BufWriter<File>>),
    Parquet(Box<ArrowWriter<BufWriter<File>>>),
}

impl Sink {
    fn create(options: &Options, schema: &SchemaRef) -> Result<Self> {
        let file = File::create(&options.path).map_err(|error| {
            let message = format!("cannot write file \"{}\": {error}", options.path);
            of_file(message, &error)
        })?;
        let file = BufWriter::new(file);
        Ok(match options.format {
            Format::Csv => {
                let builder = WriterBuilder::new()
                    .with_header(options.header)
                    .with_delimiter(options.delimiter)
                    .with_quote(options.quote)
                    .with_null(options.null.clone().unwrap_or_default());
                Self::Csv(Box::new(builder.build(file)))
            }
            Format::Json => Self::Json(LineDelimitedWriter::new(file)),
            Format::Parquet => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
                Self::Parquet(Box::new(writer.map_err(parquet_error)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Csv(writer) => writer.write(batch)?,
            Self::Json(writer) => writer.write(batch)?,
            Self::Parquet(writer) => writer.write(batch).map_err(parquet_error)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        use std::io::Write;
        let flushed = match self {
            Self::Csv(writer) => writer.into_inner().flush(),
            Self::Json(mut writer) => {
                writer.finish()?;
                writer.into_inner().flush()
            }
            Self::Parquet(writer) => writer.into_inner().map_err(parquet_error)?.flush(),
        };
        flushed.map_err(|error| of_file(error.to_string(), &error))
    }
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
