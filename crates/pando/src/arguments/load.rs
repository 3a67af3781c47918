//! Options of `pando load`.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Options of `pando load`.
#[derive(Debug, Args)]
#[command(after_help = "\
One transaction loads all files or none. PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGSSLMODE and PGSSLROOTCERT are
the defaults for what the URL omits. sslmode is disable, prefer, require or verify-full.

Examples:
  pando load --url postgres://localhost:5433/pando --create --key id trips trips.parquet
  pando load --url postgres://localhost:5433/pando trips 2025-*.csv")]
pub(crate) struct LoadArguments {
    /// The server, like postgres://user:password@host:port/database.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The table, as SQL writes it.
    #[arg(value_name = "TABLE")]
    pub(crate) table: String,
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Create the table with the first file's columns.
    #[arg(long)]
    pub(crate) create: bool,
    /// The columns of the primary key, separated by commas.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "create")]
    pub(crate) key: Vec<String>,
    /// The files' format [default: from their names].
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FileFormat>,
    /// The character that separates values of a CSV file.
    #[arg(long, value_name = "CHARACTER", default_value_t = ',')]
    pub(crate) delimiter: char,
    /// The CSV files have no header; their columns are the table's.
    #[arg(long)]
    pub(crate) no_header: bool,
    /// The text that stands for NULL in a CSV file [default: an empty value].
    #[arg(long, value_name = "TEXT")]
    pub(crate) null: Option<String>,
}

/// The formats of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Apache Parquet.
    Parquet,
    /// Values separated by commas or another delimiter.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

impl FileFormat {
    /// The format by the extension of a file's name.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let extension = Path::new(path).extension()?.to_str()?;
        match extension.to_ascii_lowercase().as_str() {
            "parquet" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            "json" | "jsonl" | "ndjson" => Some(Self::Jsonl),
            _ => None,
        }
    }
}
