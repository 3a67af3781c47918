//! Files as tables: `SELECT * FROM 'trips.parquet'`.

use crate::values::error::{Error, Result, SqlState};
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
use std::path::Path;
use std::sync::Arc;

/// The formats that files can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv,
    Json,
}

impl Format {
    /// The format of a name, as statements give it.
    pub(crate) fn named(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "parquet" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            "json" | "jsonl" | "ndjson" => Ok(Self::Json),
            other => Err(Error::new(
                SqlState::InvalidParameterValue,
                format!("format \"{other}\" is not known"),
            )
            .with_hint("Formats: parquet, csv, json.")),
        }
    }

    /// The format that a file's name suggests.
    pub(crate) fn of_path(path: &str) -> Result<Self> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
        Self::named(extension).map_err(|_| {
            Error::new(
                SqlState::InvalidParameterValue,
                format!("cannot tell the format of file \"{path}\" from its name"),
            )
            .with_hint("Names end in .parquet, .csv, .json, .jsonl or .ndjson.")
        })
    }
}

/// A file as a table, with the columns that the file has.
pub(crate) async fn table(engine: &SessionState, path: &str) -> Result<Arc<dyn TableProvider>> {
    let format: Arc<dyn FileFormat> = match Format::of_path(path)? {
        Format::Parquet => Arc::new(ParquetFormat::default()),
        Format::Csv => Arc::new(CsvFormat::default().with_has_header(true)),
        Format::Json => Arc::new(JsonFormat::default()),
    };
    listing(engine, path, format, None).await
}

/// A file as a table in some format, with its own columns or given ones.
pub(crate) async fn listing(
    engine: &SessionState,
    path: &str,
    format: Arc<dyn FileFormat>,
    schema: Option<SchemaRef>,
) -> Result<Arc<dyn TableProvider>> {
    if !Path::new(path).exists() && !path.contains('*') {
        let message = format!("file \"{path}\" does not exist");
        return Err(Error::new(SqlState::UndefinedFile, message));
    }
    let options = ListingOptions::new(format).with_file_extension("");
    let config =
        ListingTableConfig::new(ListingTableUrl::parse(path)?).with_listing_options(options);
    let config = match schema {
        Some(schema) => config.with_schema(schema),
        None => config.infer_schema(engine).await?,
    };
    Ok(Arc::new(ListingTable::try_new(config)?))
}
