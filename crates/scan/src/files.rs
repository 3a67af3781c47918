//! Files as tables: `SELECT * FROM 'trips.parquet'`.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::SessionState;
use datafusion::object_store::{ObjectMeta, ObjectStore};
use futures::TryStreamExt;
use std::path::Path;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// CSV with a header line.
    Csv,
    /// Newline-delimited JSON.
    Json,
}

impl Format {
    /// The format of a name. Case does not matter.
    ///
    /// # Errors
    /// 22023 for an unknown name.
    pub fn named(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "parquet" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "json" | "jsonl" | "ndjson" => Ok(Self::Json),
            other => Err(Error::new(
                SqlState::InvalidParameterValue,
                format!("file format \"{other}\" is not supported"),
            )
            .with_hint("Supported formats: parquet, csv, json.")),
        }
    }

    /// The format of a file by its extension.
    ///
    /// # Errors
    /// 22023 for an unknown extension.
    pub fn of_path(path: &str) -> Result<Self> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
        Self::named(extension).map_err(|_| {
            Error::new(
                SqlState::InvalidParameterValue,
                format!("cannot determine the format of file \"{path}\""),
            )
            .with_hint("Supported extensions: .parquet, .csv, .json, .jsonl, .ndjson.")
        })
    }
}

/// A file as a table. The schema is inferred from the file.
///
/// # Errors
/// As [`Format::of_path`] and [`listing`].
pub async fn table(engine: &SessionState, path: &str) -> Result<Arc<dyn TableProvider>> {
    let format: Arc<dyn FileFormat> = match Format::of_path(path)? {
        Format::Parquet => Arc::new(ParquetFormat::default()),
        Format::Csv => Arc::new(CsvFormat::default().with_has_header(true)),
        Format::Json => Arc::new(JsonFormat::default()),
    };
    listing(engine, path, format, None).await
}

/// A file, or all files that match a pattern, as a table. Without `schema` it is inferred.
///
/// # Errors
/// 58P01 if the file does not exist; errors of the engine if it cannot be read.
pub async fn listing(
    engine: &SessionState,
    path: &str,
    format: Arc<dyn FileFormat>,
    schema: Option<SchemaRef>,
) -> Result<Arc<dyn TableProvider>> {
    check_exists(path)?;
    let options = ListingOptions::new(format).with_file_extension("");
    let config =
        ListingTableConfig::new(ListingTableUrl::parse(path)?).with_listing_options(options);
    let config = match schema {
        Some(schema) => config.with_schema(schema),
        None => config.infer_schema(engine).await?,
    };
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// The file of a path, or all files that match a pattern, in the order of their names, and where they are.
///
/// # Errors
/// 58P01 if the file does not exist; errors of the engine if files cannot be listed.
pub async fn matching(
    engine: &SessionState,
    path: &str,
) -> Result<(Arc<dyn ObjectStore>, Vec<ObjectMeta>)> {
    check_exists(path)?;
    let url = ListingTableUrl::parse(path)?;
    let store = engine.runtime_env().object_store(&url)?;
    let found = url.list_all_files(engine, &*store, "").await?;
    let mut files: Vec<ObjectMeta> = found.try_collect().await?;
    files.sort_by(|left, right| left.location.cmp(&right.location));
    Ok((store, files))
}

fn check_exists(path: &str) -> Result<()> {
    if Path::new(path).exists() || path.contains('*') {
        return Ok(());
    }
    let message = format!("file \"{path}\" does not exist");
    Err(Error::new(SqlState::UndefinedFile, message))
}
