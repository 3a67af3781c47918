//! `pando backup`: through a running server, or of a data directory.

use super::asking::{ask, literal};
use super::explained;
use super::progress::Bar;
use crate::arguments::BackupArguments;
use crate::machine;
use anyhow::anyhow;
use backup::{Progress, Report, Target};
use pando::{Database, Options};
use query::{DataDirectory, Durability, Executors};
use serde_json::Value;
use shell::quantity::{bytes, counted};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Makes a backup, and says what was written.
pub(crate) async fn run(
    arguments: BackupArguments,
    executors: Executors,
) -> anyhow::Result<ExitCode> {
    let report = match &arguments.data {
        Some(path) => of_directory(&arguments.url, path, executors).await?,
        None => of_server(&arguments.url, arguments.server.as_deref()).await?,
    };
    announce(&report)?;
    Ok(ExitCode::SUCCESS)
}

fn announce(report: &Report) -> io::Result<()> {
    let (tables, rows) = (counted(report.tables, "table"), counted(report.rows, "row"));
    let (written, reused) = (counted(report.files_written, "file"), report.files_reused);
    let (all, new) = (bytes(report.bytes), bytes(report.bytes_written));
    let name = &report.name;
    writeln!(
        io::stdout(),
        "Backup {name}: {tables}, {rows}, {all}. {written} written ({new}), {reused} unchanged."
    )
}

async fn of_server(url: &str, server: Option<&str>) -> anyhow::Result<Report> {
    let sql = format!("SELECT pando.backup({})", literal(url));
    read(&ask(server, "backup", &sql).await?)
}

/// Reads the report of a server.
fn read(text: &str) -> anyhow::Result<Report> {
    let report: Value = serde_json::from_str(text)?;
    let missing = |name: &str| anyhow!("the report of the server has no {name}");
    let number = |name: &str| report[name].as_u64().ok_or_else(|| missing(name));
    Ok(Report {
        name: report["backup"].as_str().ok_or_else(|| missing("backup"))?.to_owned(),
        tables: number("tables")?,
        rows: number("rows")?,
        bytes: number("bytes")?,
        files_written: number("files_written")?,
        bytes_written: number("bytes_written")?,
        files_reused: number("files_reused")?,
    })
}

async fn of_directory(url: &str, path: &Path, executors: Executors) -> anyhow::Result<Report> {
    let target = Target::open(url).map_err(explained)?;
    if !path.is_dir() {
        return Err(anyhow!("{} is no data directory", path.display()));
    }
    let data = DataDirectory::new(path, Durability::Sync);
    let database = Database::open(Options {
        data: Some(data),
        executors: Some(executors),
        memory_limit: machine::default_memory_limit(),
        ..Options::default()
    })?;
    let progress = Arc::new(Progress::default());
    let work = backup::write(database.store(), &target, &progress);
    let report = Bar::new("backup").follow(&progress, work).await.map_err(explained)?;
    database.close()?;
    Ok(report)
}
