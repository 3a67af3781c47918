//! `pando drain`: a server gives everything away, and whoever asked sees how far that is.

use crate::arguments::DrainArguments;
use crate::quantity::{bytes, counted};
use crate::remote::{Address, Connection, connect};
use anyhow::{anyhow, bail};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// How often the server is looked at.
const PERIOD: Duration = Duration::from_millis(100);

/// What a server is seen to be.
struct Seen {
    is_first: bool,
    state: String,
    weight: u64,
    buckets: u64,
    bytes: u64,
}

impl Seen {
    /// What it has.
    fn amount(&self) -> String {
        format!("{} ({})", counted(self.buckets, "bucket"), bytes(self.bytes))
    }
}

/// Gives a server another share, and waits until it is empty where that is none.
pub(crate) async fn run(arguments: DrainArguments) -> anyhow::Result<ExitCode> {
    let mut address = Address::of(arguments.url.as_deref(), |name| std::env::var(name).ok())?;
    let (mut connection, _) = connect(&mut address).await?;
    let DrainArguments { name, weight, .. } = &arguments;
    let quoted = name.replace('\'', "''");
    let before = look(&mut connection, &quoted).await?;
    connection.texts(&format!("select pando_set_weight('{quoted}', {weight})")).await?;
    let mut out = io::stdout();
    if *weight > 0 {
        writeln!(out, "Server {name} has weight {weight}: it gets its share of every table.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = before.map_or_else(|| "everything".to_owned(), |seen| seen.amount());
    writeln!(out, "Server {name} gives {all} away. Its clients work on meanwhile.")?;
    let others = "select count(*)::text from pando.servers where weight > 0 and state = 'up'";
    if first_text(&connection.texts(others).await?).as_deref() == Some("0") {
        bail!("no other server has a weight: nobody takes what {name} has");
    }
    if first_text(&connection.texts("show pando.moves").await?).as_deref() == Some("paused") {
        writeln!(out, "Moves are paused: ALTER SYSTEM SET pando.moves = running lets them go on.")?;
    }
    if arguments.no_wait {
        writeln!(out, "pando status shows how far it is.")?;
        return Ok(ExitCode::SUCCESS);
    }
    follow(&mut connection, &mut out, name, &quoted).await
}

/// Tells how much is left until nothing is.
async fn follow(
    connection: &mut Connection,
    out: &mut impl Write,
    name: &str,
    quoted: &str,
) -> anyhow::Result<ExitCode> {
    let mut told = (u64::MAX, u64::MAX);
    // The server that is asked may hear of the new weight a moment later.
    let mut has_begun = false;
    loop {
        let Some(seen) = look(connection, quoted).await? else {
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
                bail!("server {name} was given weight {}", seen.weight)
            }
            _ => has_begun |= seen.weight == 0,
        }
        if seen.state == "draining" && told != (seen.buckets, seen.bytes) {
            told = (seen.buckets, seen.bytes);
            writeln!(out, "{} left", seen.amount())?;
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// The server as it is now; `None` where it is none of the cluster's any more.
async fn look(connection: &mut Connection, quoted: &str) -> anyhow::Result<Option<Seen>> {
    let sql = format!(
        "select number::text, state, weight::text, buckets::text, bytes::text from pando.servers \
         where name = '{quoted}' order by number desc limit 1"
    );
    let rows = connection.texts(&sql).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let text = |at: usize| row.get(at).cloned().flatten();
    let number = |at: usize| text(at).and_then(|text| text.parse().ok()).unwrap_or(0);
    let state = text(1).ok_or_else(|| anyhow!("pando.servers says nothing of its state"))?;
    Ok(Some(Seen {
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
