//! `pando drain`: sets the weight of a server, and shows the progress until it is empty.

use crate::arguments::DrainArguments;
use anyhow::{anyhow, bail};
use shell::protocol::{Address, Connection, connect};
use shell::quantity::{bytes, counted};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Interval of the queries for the server's state.
const PERIOD: Duration = Duration::from_millis(100);

/// The state of a server.
struct ServerState {
    is_first: bool,
    state: String,
    weight: u64,
    buckets: u64,
    bytes: u64,
}

impl ServerState {
    /// Buckets and bytes as text.
    fn amount(&self) -> String {
        format!("{} ({})", counted(self.buckets, "bucket"), bytes(self.bytes))
    }
}

/// Sets the weight of a server. If it is zero, waits until the server is empty.
pub(crate) async fn run(arguments: DrainArguments) -> anyhow::Result<ExitCode> {
    let mut address = Address::of(arguments.url.as_deref(), |name| std::env::var(name).ok())?;
    let (mut connection, _) = connect(&mut address).await?;
    let DrainArguments { name, weight, .. } = &arguments;
    let quoted = name.replace('\'', "''");
    let before = state_of(&mut connection, &quoted).await?;
    connection.texts(&format!("select pando.set_weight('{quoted}', {weight})")).await?;
    let mut out = io::stdout();
    if *weight > 0 {
        writeln!(out, "Server {name} has weight {weight} and gets its share of every table.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = before.map_or_else(|| "all data".to_owned(), |seen| seen.amount());
    writeln!(out, "Server {name} moves {all} away. It stays available.")?;
    let others = "select count(*)::text from pando.servers where weight > 0 and state = 'up'";
    if first_text(&connection.texts(others).await?).as_deref() == Some("0") {
        bail!(
            "no other server has a weight above 0: there is no destination for the data of {name}"
        );
    }
    if first_text(&connection.texts("show pando.moves").await?).as_deref() == Some("paused") {
        writeln!(out, "Moves are paused: ALTER SYSTEM SET pando.moves = running resumes them.")?;
    }
    if arguments.no_wait {
        writeln!(out, "pando status shows the progress.")?;
        return Ok(ExitCode::SUCCESS);
    }
    follow(&mut connection, &mut out, name, &quoted).await
}

/// Prints how much is left until the server is empty.
async fn follow(
    connection: &mut Connection,
    out: &mut impl Write,
    name: &str,
    quoted: &str,
) -> anyhow::Result<ExitCode> {
    let mut printed = (u64::MAX, u64::MAX);
    // The queried server may learn the new weight a moment later.
    let mut has_begun = false;
    loop {
        let Some(seen) = state_of(connection, quoted).await? else {
            writeln!(out, "Server {name} has left.")?;
            return Ok(ExitCode::SUCCESS);
        };
        match seen.state.as_str() {
            "empty" if seen.is_first => {
                writeln!(out, "Server {name} is empty. It leads the cluster: do not stop it.")?;
                return Ok(ExitCode::SUCCESS);
            }
            "empty" | "left" => {
                writeln!(out, "Server {name} is empty: it can be stopped.")?;
                return Ok(ExitCode::SUCCESS);
            }
            "lost" => bail!("server {name} was evicted before it was empty"),
            _ if seen.weight > 0 && has_begun => {
                bail!("the weight of server {name} was set to {} meanwhile", seen.weight)
            }
            _ => has_begun |= seen.weight == 0,
        }
        if seen.state == "draining" && printed != (seen.buckets, seen.bytes) {
            printed = (seen.buckets, seen.bytes);
            writeln!(out, "{} left", seen.amount())?;
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// The current state of the server; `None` if it is not a member of the cluster.
async fn state_of(
    connection: &mut Connection,
    quoted: &str,
) -> anyhow::Result<Option<ServerState>> {
    let sql = format!(
        "select number::text, state, weight::text, buckets::text, bytes::text from pando.servers \
         where name = '{quoted}' order by number desc limit 1"
    );
    let rows = connection.texts(&sql).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let text = |at: usize| row.get(at).cloned().flatten();
    let number = |at: usize| text(at).and_then(|text| text.parse().ok()).unwrap_or(0);
    let state = text(1).ok_or_else(|| anyhow!("pando.servers has no state of the server"))?;
    Ok(Some(ServerState {
        is_first: number(0) == 0,
        state,
        weight: number(2),
        buckets: number(3),
        bytes: number(4),
    }))
}

fn first_text(rows: &[Vec<Option<String>>]) -> Option<String> {
    rows.first()?.first()?.clone()
}
