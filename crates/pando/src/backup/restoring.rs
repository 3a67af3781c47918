//! `pando restore`: everything into a new data directory, or one table into a running server.

use super::asking::{ask, literal};
use super::explained;
use super::progress::Bar;
use crate::arguments::RestoreArguments;
use crate::machine;
use anyhow::bail;
use backup::{Backup, Progress, Target};
use shell::quantity::counted;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Restores, and says what.
pub(crate) async fn run(arguments: RestoreArguments) -> anyhow::Result<ExitCode> {
    match (&arguments.data, &arguments.table) {
        (Some(path), None) => directory(&arguments, path).await?,
        (None, Some(table)) => one_table(&arguments, table).await?,
        _ => bail!("either --data or --table is required"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn directory(arguments: &RestoreArguments, path: &Path) -> anyhow::Result<()> {
    let target = Target::open(&arguments.url).map_err(explained)?;
    let backup = Backup::open(&target, arguments.backup.as_deref()).await.map_err(explained)?;
    let memory_limit = arguments.memory.or_else(machine::default_memory_limit);
    let progress = Arc::new(Progress::default());
    let indexes = query::index_expressions()?;
    let work = backup::restore(&target, &backup, path, memory_limit, indexes, &progress);
    let restored = Bar::new("restore").follow(&progress, work).await.map_err(explained)?;
    let (tables, rows) = (counted(restored.tables, "table"), counted(restored.rows, "row"));
    let (name, path) = (backup.name(), path.display());
    writeln!(io::stdout(), "Restored {tables} with {rows} of backup {name} into {path}.")?;
    writeln!(io::stdout(), "Next: pando serve --data {path}")?;
    Ok(())
}

async fn one_table(arguments: &RestoreArguments, table: &str) -> anyhow::Result<()> {
    let optional =
        |text: &Option<String>| text.as_deref().map_or_else(|| "NULL".to_owned(), literal);
    let sql = format!(
        "SELECT pando.restore_table({}, {}, {}, {})::text",
        literal(&arguments.url),
        literal(table),
        optional(&arguments.new_name),
        optional(&arguments.backup)
    );
    let rows = ask(arguments.server.as_deref(), "restore", &sql).await?.parse()?;
    let name = arguments.new_name.as_deref().unwrap_or(table);
    writeln!(io::stdout(), "Restored table {name} with {}.", counted(rows, "row"))?;
    Ok(())
}
