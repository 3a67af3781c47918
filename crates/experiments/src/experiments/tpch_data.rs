//! `pando bench tpch-data`: TPC-H's tables as Parquet files, for other programs.

use crate::parquet_files;
use crate::report::Report;
use anyhow::{Context, Result};
use serde_json::json;
use std::path::PathBuf;
use workloads::tpch;

/// Options of `pando bench tpch-data`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TpchDataArgs {
    /// TPC-H's scale factor
    #[arg(long, default_value_t = 1.0, value_parser = tpch::parse_scale)]
    pub(crate) scale: f64,
    /// Directory for the files; created if it does not exist
    #[arg(long)]
    pub(crate) dir: PathBuf,
}

pub(super) fn run(args: &TpchDataArgs, report: Report) -> Result<()> {
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot create {}", args.dir.display()))?;
    for table in tpch::tables(args.scale) {
        let name = table.name.clone();
        let (path, rows) = parquet_files::write(table, &args.dir)?;
        let text = format!("{:<10} {rows:>12} rows   {}", name, path.display());
        report.result(&text, json!({"table": name, "rows": rows, "file": path}))?;
    }
    Ok(())
}
