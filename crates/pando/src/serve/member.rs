//! Starts a server as the first member of a cluster or as a new one, and prints its addresses.

use anyhow::{Context, anyhow};
use cluster::net::Address;
use cluster::{Entry, ServerConfig, ServerData, StartError, Started};
use pando::Database;
use sdds::ServerId;
use server::config::ClusterPart;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use store::Error;

/// Founds or joins a cluster. `open` opens the database once it is known which server it is.
pub(super) async fn start(
    part: &ClusterPart,
    data: Option<&Path>,
    open: impl FnOnce(ServerId) -> anyhow::Result<Database>,
) -> anyhow::Result<(Database, Started)> {
    let token = part.token.as_deref().map(str::parse).transpose();
    let token = token.context("--token")?;
    let entry = match &part.join {
        None => Entry::First,
        Some(first) => Entry::Through { first: Address::new(first.as_str()), token },
    };
    let listen = match (&part.listen, &part.join) {
        (Some(listen), _) => listen.clone(),
        (None, first) => listen_address_for(first.as_deref().unwrap_or("127.0.0.1:0"))?,
    };
    let through = part.join.clone();
    let part = ServerConfig {
        name: part.name.clone(),
        listen: Address::new(listen),
        advertised: part.advertised.as_deref().map(Address::new),
        weight: part.weight,
        entry,
        data: kept(data)?,
    };
    let mut opened = None;
    let started = cluster::start(part, |server| {
        let database = open(server).map_err(|error| refused(&error))?;
        let store = Arc::clone(database.store());
        opened = Some(database);
        Ok(store)
    });
    let started = started.await.map_err(|error| explained(&error, through.as_deref()))?;
    let database = opened.context("the cluster did not open the database")?;
    started.cluster.set_fragments(database.fragments());
    Ok((database, started))
}

/// What a data directory has of earlier starts.
fn kept(data: Option<&Path>) -> anyhow::Result<ServerData> {
    let Some(path) = data else { return Ok(ServerData::None) };
    Ok(store::server_of(path)?.map_or(ServerData::New, ServerData::Of))
}

/// Publishes the address for PostgreSQL clients: the listen address, with the host for other servers if the server listens on
/// all interfaces.
pub(super) fn open_to_clients(member: &Started, pg: SocketAddr) {
    let members = member.cluster.members();
    let own = members.get(member.cluster.here()).map(|own| own.address.as_str());
    let host = own.and_then(|address| Some(address.rsplit_once(':')?.0));
    member.cluster.set_pg(match host {
        Some(host) if pg.ip().is_unspecified() => format!("{host}:{}", pg.port()),
        _ => pg.to_string(),
    });
}

/// The local address from which this machine reaches another one, with a free port.
fn listen_address_for(other: &str) -> anyhow::Result<String> {
    let context =
        || format!("cannot find a local address that reaches {other}; give one with --cluster");
    let other = other.to_socket_addrs().with_context(context)?.next().with_context(context)?;
    // Connecting a UDP socket sends nothing; it only selects the local address.
    let socket = UdpSocket::bind(if other.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    socket.connect(other).with_context(context)?;
    Ok(SocketAddr::new(socket.local_addr()?.ip(), 0).to_string())
}

/// Adds to an error through which server it came, and a hint.
fn explained(error: &StartError, through: Option<&str>) -> anyhow::Error {
    let hint = match error {
        StartError::Refused(Error::Remote { hint: Some(hint), .. }) => format!(". {hint}"),
        StartError::Refused(Error::Unreachable { .. }) => {
            ". Use an address that a server of the cluster prints as \"called at\", and the --token of its \
             first server, if that printed one."
                .to_owned()
        }
        _ => String::new(),
    };
    match (error, through) {
        (StartError::Refused(_) | StartError::Join(_), Some(first)) => {
            anyhow!("cannot join (--join {first}): {error}{hint}")
        }
        _ => anyhow!("{error}{hint}"),
    }
}

/// Converts the error of opening the database.
fn refused(error: &anyhow::Error) -> Error {
    Error::Remote {
        sql_state: "58000".into(),
        message: format!("{error:#}"),
        detail: None,
        hint: None,
    }
}

/// Prints the server's name and address, and on the first server the command for others to join.
pub(super) fn announce(out: &mut impl Write, member: &Started) -> io::Result<()> {
    let members = member.cluster.members();
    let own = members.get(member.cluster.here());
    let (name, address) = own.map_or(("", ""), |own| (own.name.as_str(), own.address.as_str()));
    let servers = match members.present().count() {
        1 => "1 server".to_owned(),
        count => format!("{count} servers"),
    };
    writeln!(out, "Cluster      server {name} of {servers}, called at {address}")?;
    let token = match &member.token {
        Some(token) => format!(" --token {token}"),
        None => String::new(),
    };
    if member.cluster.is_root() {
        let one_more = "Another      pando serve --pg 127.0.0.1:0 --http 127.0.0.1:0";
        writeln!(out, "{one_more} --join {address}{token}")?;
    }
    Ok(())
}
