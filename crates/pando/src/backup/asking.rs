//! Asks a server for a backup or a restore, and shows how far it is.

use super::progress::Bar;
use anyhow::Context;
use serde_json::Value;
use shell::protocol::{Address, Connection, connect};
use std::time::Duration;

/// The time between two questions how far it is.
const PERIOD: Duration = Duration::from_millis(200);

/// The SQL constant of a text.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Runs a query with one value, and returns it.
pub(super) async fn ask(
    server: Option<&str>,
    title: &'static str,
    sql: &str,
) -> anyhow::Result<String> {
    let mut address = Address::of(server, |name| std::env::var(name).ok())?;
    let (mut connection, _) = connect(&mut address).await?;
    let bar = Bar::new(title);
    let value = if bar.is_hidden() {
        value(&mut connection, sql).await?
    } else {
        let process = value(&mut connection, "SELECT pg_backend_pid()::text").await?;
        let process = process.context("the server has returned no process number")?;
        tokio::select! {
            value = value(&mut connection, sql) => value?,
            error = follow(&bar, &mut address, &process) => return Err(error),
        }
    };
    value.context("the server has returned nothing")
}

async fn value(connection: &mut Connection, sql: &str) -> anyhow::Result<Option<String>> {
    let rows = connection.texts(sql).await?;
    Ok(rows.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
}

/// Shows how far the statement of another session is. Ends only if that cannot be asked for.
async fn follow(bar: &Bar, address: &mut Address, process: &str) -> anyhow::Error {
    let sql = format!("SELECT pando.backup_progress({process})");
    let (mut connection, _) = match connect(address).await {
        Ok(connected) => connected,
        Err(error) => return error.into(),
    };
    loop {
        match value(&mut connection, &sql).await {
            Ok(Some(text)) => {
                let progress: Value = serde_json::from_str(&text).unwrap_or_default();
                let number = |name: &str| progress[name].as_u64().unwrap_or(0);
                bar.show(number("rows"), number("total"));
            }
            Ok(None) => {}
            Err(error) => return error,
        }
        tokio::time::sleep(PERIOD).await;
    }
}
