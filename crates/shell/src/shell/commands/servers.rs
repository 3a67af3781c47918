//! Commands on the cluster: `\servers`, `\buckets`, `\drain`, `\add`.

use super::command::CommandError;
use crate::output::{Align, Grid, Heading};
use crate::quantity::{bytes, count};
use crate::shell::Shell;
use std::io::Write;

const SERVERS: &str = "\
SELECT name, state, weight::text, buckets::text, rows::text, bytes::text, address \
FROM pando.servers ORDER BY number";

/// Lists the servers and their data.
pub(crate) async fn list(shell: &mut Shell) -> Result<(), CommandError> {
    let rows = shell.place.texts(SERVERS).await?;
    let text = |name| Heading::new(name, Align::Left);
    let number = |name| Heading::new(name, Align::Right);
    let headings = [
        text("server"),
        text("state"),
        number("weight"),
        number("buckets"),
        number("rows"),
        number("bytes"),
        text("address"),
    ];
    let mut grid = Grid::new(headings.into());
    for row in rows {
        let mut cells = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || cells.next().unwrap_or_default();
        let (name, state, weight) = (next(), next(), next());
        let (buckets, rows) = (grouped(&next()), grouped(&next()));
        let size = next().parse().map(bytes).unwrap_or_default();
        grid.push([name, state, weight, buckets, rows, size, next()]);
    }
    let total = grid.rows() as u64;
    shell.view.write_grid(&grid, total, None, &mut shell.out)?;
    Ok(())
}

fn grouped(number: &str) -> String {
    number.parse().map(count).unwrap_or_default()
}

/// Lists the buckets of a table on all servers.
pub(crate) async fn buckets(shell: &mut Shell, table: &str) -> Result<(), CommandError> {
    let (schema, name) = table.split_once('.').unwrap_or(("public", table));
    let sql = format!(
        "SELECT server, low, high, rows::text, bytes::text FROM pando.buckets \
         WHERE schema = '{}' AND \"table\" = '{}'",
        schema.replace('\'', "''"),
        name.replace('\'', "''")
    );
    let rows = shell.place.texts(&sql).await?;
    let headings = [
        Heading::new("server", Align::Left),
        Heading::new("from", Align::Left),
        Heading::new("up to", Align::Left),
        Heading::new("rows", Align::Right),
        Heading::new("bytes", Align::Right),
    ];
    let mut grid = Grid::new(headings.into());
    for row in rows {
        let mut cells = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || cells.next().unwrap_or_default();
        let (server, low, high, rows) = (next(), next(), next(), grouped(&next()));
        grid.push([server, low, high, rows, next().parse().map(bytes).unwrap_or_default()]);
    }
    let total = grid.rows() as u64;
    shell.view.write_grid(&grid, total, None, &mut shell.out)?;
    Ok(())
}

/// Sets the weight of a server to zero, so that its data moves away.
pub(crate) async fn drain(shell: &mut Shell, server: &str) -> Result<(), CommandError> {
    let sql = format!("SELECT pando.set_weight('{}', 0)", server.replace('\'', "''"));
    shell.place.texts(&sql).await?;
    writeln!(shell.out, "All data moves away from {server}; \\servers shows the progress.")?;
    Ok(())
}

/// Starts one more server in this process.
pub(crate) async fn add(shell: &mut Shell) -> Result<(), CommandError> {
    let Some(servers) = &mut shell.servers else {
        let message =
            "\\add works in pando demo only; start a server with pando serve --join HOST:PORT";
        return Err(CommandError::Misused(message.to_owned()));
    };
    let added = servers.start().await.map_err(CommandError::Output)?;
    writeln!(shell.out, "Server {added} has joined; \\servers shows its data.")?;
    Ok(())
}
