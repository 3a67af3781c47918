//! The demo's front doors: PostgreSQL clients can connect while the shell is open.

use crate::quantity::{counted, duration};
use crate::remote::{Address, connect};
use crate::terminal::{faint, strong};
use anyhow::Context;
use pando::Database;
use server::Server;
use server::config::{Config, Values};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Instant;

/// Opens the doors at their usual ports, or at free ones where those are taken, and says where.
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

/// The address, or a free port beside it, which is told.
fn free(usual: SocketAddr) -> io::Result<SocketAddr> {
    match TcpListener::bind(usual) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let note = format!("   Port {} is taken: a free one is used.", usual.port());
            writeln!(io::stdout(), "{}", faint(&note))?;
            Ok(SocketAddr::new(usual.ip(), 0))
        }
        // Any other trouble is the server's to explain.
        _ => Ok(usual),
    }
}

/// Connects as any client would, and says what it was answered.
pub(super) async fn knock(server: &Server) -> anyhow::Result<()> {
    let started = Instant::now();
    let mut address = Address::of(Some(&url(server)), |_| None)?;
    let (mut connection, _) = connect(&mut address).await?;
    let rows = connection.texts("SELECT count(*) FROM person").await?;
    connection.close().await;
    let persons = rows.into_iter().flatten().flatten().next().context("there is no answer")?;
    let persons: u64 = persons.parse()?;
    let persons = counted(persons, "person");
    let time = duration(started.elapsed());
    writeln!(io::stdout(), "   A client has connected and counted {persons} in {time}.")?;
    Ok(())
}
