//! `pando.backup`, `pando.restore_table` and `pando.backup_progress`. The engine knows them as `pando_backup` and so on.

use crate::access::Access;
use crate::session_context::{SessionContext, TransactionStatus};
use backup::{Backup, NewTable, Progress, Report, Target};
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, volatile};
use parser::commands::RelationName;
use parser::object_name;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tokio::runtime::Builder;
use values::cells::{Cell, Form};
use values::{Error, Result, SqlState};

/// Threads that encode rows and wait for the object store.
const THREADS: usize = 2;
/// How often a backup asks whether its statement has to end.
const PERIOD: Duration = Duration::from_millis(50);

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let (of_backup, of_restore) = (Arc::clone(session), Arc::clone(session));
    let of_progress = Arc::clone(session);
    vec![
        volatile("pando_backup", 1..=1, Form::Text, move |row| write_backup(&*of_backup, row)),
        volatile("pando_restore_table", 2..=4, Form::Number, move |row| restore(&*of_restore, row)),
        volatile("pando_backup_progress", 1..=1, Form::Text, move |row| {
            Ok(progress(&*of_progress, row).into())
        }),
    ]
}

fn require_superuser(session: &dyn SessionContext, what: &str) -> Result<()> {
    let catalog = session.database().store().catalog();
    let role = session.role();
    if Access::new(&catalog, role.as_deref().map(String::as_str)).is_superuser() {
        return Ok(());
    }
    Err(Error::new(SqlState::InsufficientPrivilege, format!("must be superuser to {what}")))
}

/// `pando.backup(url)`: writes a backup, and returns what was written as JSON.
fn write_backup(session: &dyn SessionContext, row: &Row<'_>) -> Result<Cell> {
    require_superuser(session, "make a backup")?;
    let Some(url) = row.text(0) else { return Ok(Cell::Null) };
    let target = Target::open(url).map_err(translated)?;
    let store = Arc::clone(session.database().store());
    let progress = Arc::new(Progress::default());
    let database = session.database();
    let _running = database.backups().begin(session.process(), &progress);
    let report = wait(async move { backup::write(&store, &target, &progress).await })?;
    Ok(text(&report).into())
}

/// The text of a report, which is JSON.
fn text(report: &Report) -> String {
    let Report { name, tables, rows, bytes, files_written, bytes_written, files_reused } = report;
    format!(
        "{{\"backup\": \"{name}\", \"tables\": {tables}, \"rows\": {rows}, \"bytes\": {bytes}, \
         \"files_written\": {files_written}, \"bytes_written\": {bytes_written}, \
         \"files_reused\": {files_reused}}}"
    )
}

/// `pando.restore_table(url, table [, new name [, backup]])`: restores a table in a transaction of its own, and
/// returns the number of its rows.
fn restore(session: &dyn SessionContext, row: &Row<'_>) -> Result<Cell> {
    require_superuser(session, "restore a table")?;
    if session.activity().status == TransactionStatus::Open {
        let message = "pando.restore_table cannot run inside a transaction block";
        return Err(Error::new(SqlState::ActiveSqlTransaction, message));
    }
    let (Some(url), Some(table)) = (row.text(0), row.text(1)) else { return Ok(Cell::Null) };
    let target = Target::open(url).map_err(translated)?;
    let RelationName { schema, name } = object_name(table)?;
    let (new_schema, new_name) = match row.text(2) {
        Some(new) => object_name(new).map(|new| (new.schema, Some(new.name)))?,
        None => (None, None),
    };
    let owner = session.role().map(|role| role.as_ref().clone());
    let wanted = NewTable { schema, name, new_schema, new_name, owner };
    let backup = row.text(3).map(str::to_owned);
    let store = Arc::clone(session.database().store());
    let progress = Arc::new(Progress::default());
    let database = session.database();
    let _running = database.backups().begin(session.process(), &progress);
    let rows = wait(async move {
        let backup = Backup::open(&target, backup.as_deref()).await?;
        backup::restore_table(&store, &target, &backup, &wanted, &progress).await
    })?;
    Ok(i64::try_from(rows).unwrap_or(i64::MAX).into())
}

/// `pando.backup_progress(process)`: how far the backup or restore of a session is, as JSON; NULL if it makes none.
fn progress(session: &dyn SessionContext, row: &Row<'_>) -> Option<String> {
    let process = u32::try_from(row.number(0)?).ok()?;
    let progress = session.database().backups().progress(process)?;
    Some(format!("{{\"rows\": {}, \"total\": {}}}", progress.rows(), progress.total()))
}

fn translated(error: backup::Error) -> Error {
    store::Error::from(error).into()
}

/// Waits for work that needs a runtime, and ends it when the statement has to end.
fn wait<T: Send + 'static>(
    work: impl Future<Output = std::result::Result<T, backup::Error>> + Send + 'static,
) -> Result<T> {
    let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::new(SqlState::InternalError, error.to_string()))?;
    let (sender, receiver) = channel();
    runtime.spawn(async move {
        // A statement that has ended asks for no result.
        let _ = sender.send(work.await);
    });
    let done = loop {
        match receiver.recv_timeout(PERIOD) {
            Ok(done) => break done.map_err(translated),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = executor::check() {
                    break Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the statement ended early; the log says why";
                break Err(Error::new(SqlState::InternalError, message));
            }
        }
    };
    // Drops the work, if it goes on.
    runtime.shutdown_background();
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_an_object() {
        let report = Report {
            name: "000001-a".to_owned(),
            tables: 1,
            rows: 2,
            bytes: 3,
            files_written: 4,
            bytes_written: 5,
            files_reused: 6,
        };
        assert_eq!(
            text(&report),
            "{\"backup\": \"000001-a\", \"tables\": 1, \"rows\": 2, \"bytes\": 3, \"files_written\": 4, \
             \"bytes_written\": 5, \"files_reused\": 6}"
        );
    }
}
