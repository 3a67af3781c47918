//! The demo's listeners: PostgreSQL clients can connect while the shell is open.

use anyhow::Context;
use pando::Database;
use server::Server;
use server::config::{Config, Values};
use shell::protocol::{Address, connect};
use shell::quantity::{counted, duration};
use shell::terminal::{faint, strong};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Instant;

/// Listens on the default ports, or on free ones if these are in use, and prints the addresses.
pub(super) async fn open(database: &Database) -> anyhow::Result<Server> {
    let mut config = Config::of(&Values::gather(&[], |_| None, None)?)?;
    writeln!(io::stdout(), "\n{}\n", strong("4  Connect"))?;
    config.pg = free(config.pg)?;
    config.http = free(config.http)?;
    let server = Server::start(&config, database.clone()).await?;
    let (url, http) = (url(&server), server.http());
    let mut out = io::stdout().lock();
    writeln!(out, "   PostgreSQL clients    {url}")?;
    writeln!(out, "   this shell            pando sql '{url}'")?;
    writeln!(out, "   psql                  psql '{url}'")?;
    writeln!(
        out,
        "   a file into a table   pando load --url '{url}' --create trips trips.parquet"
    )?;
    writeln!(out, "   metrics               http://{http}/metrics\n")?;
    Ok(server)
}

fn url(server: &Server) -> String {
    format!("postgres://pando@{}/pando", server.pg())
}

/// The address, with a free port if its port is in use.
fn free(usual: SocketAddr) -> io::Result<SocketAddr> {
    match TcpListener::bind(usual) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let note = format!("   Port {} is in use; another one is used instead.", usual.port());
            writeln!(io::stdout(), "{}", faint(&note))?;
            Ok(SocketAddr::new(usual.ip(), 0))
        }
        // The server reports any other error.
        _ => Ok(usual),
    }
}

/// Connects as a client, and prints the answer to a query.
pub(super) async fn connect_once(server: &Server) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut address = Address::of(Some(&url(server)), |_| None)?;
    let (mut connection, _) = connect(&mut address).await?;
    let rows = connection.texts("SELECT count(*) FROM person").await?;
    connection.close().await;
    let persons =
        rows.into_iter().flatten().flatten().next().context("the query returned no row")?;
    let persons: u64 = persons.parse()?;
    let persons = counted(persons, "person");
    let time = duration(started.elapsed());
    writeln!(io::stdout(), "   A client has connected and counted {persons} in {time}.")?;
    Ok(())
}
