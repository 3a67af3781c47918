//! Options of `pando load`.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Options of `pando load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Everything is loaded in one transaction: all files, or nothing. What the URL does not say, PGHOST, PGPORT, PGUSER,
PGPASSWORD, PGDATABASE, PGSSLMODE and PGSSLROOTCERT say. sslmode is disable, prefer, require or verify-full.

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
    /// Make the table, with the first file's columns.
    #[arg(long)]
    pub(crate) create: bool,
    /// The columns of the primary key, with commas between them.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "create")]
    pub(crate) key: Vec<String>,
    /// The files' format [default: what their names say].
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FileFormat>,
    /// What separates the values of a CSV file.
    #[arg(long, value_name = "CHARACTER", default_value_t = ',')]
    pub(crate) delimiter: char,
    /// The first line of a CSV file is a row; its columns are the table's.
    #[arg(long)]
    pub(crate) no_header: bool,
    /// What a CSV file writes for NULL [default: nothing between the delimiters].
    #[arg(long, value_name = "TEXT")]
    pub(crate) null: Option<String>,
}

/// The formats that files can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// Apache Parquet.
    Parquet,
    /// Values with commas, or other delimiters, between them.
    Csv,
    /// A JSON object a line.
    Jsonl,
}

impl FileFormat {
    /// The format that a file's name suggests.
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
