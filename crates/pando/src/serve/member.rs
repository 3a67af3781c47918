//! A server as one of a cluster: how it begins or joins one, and what it says of that.

use anyhow::{Context, anyhow};
use cluster::net::Address;
use cluster::{Entry, ServerConfig, StartError, Started};
use pando::Database;
use sdds::GroupId;
use server::config::ClusterPart;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use store::Error;

/// Begins a cluster, or joins one; the database is opened once its group is known.
pub(super) async fn start(
    part: &ClusterPart,
    open: impl FnOnce(GroupId) -> anyhow::Result<Database>,
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
    };
    let mut opened = None;
    let started = cluster::start(part, |group| {
        let database = open(group).map_err(|error| refused(&error))?;
        let store = Arc::clone(database.store());
        opened = Some(database);
        Ok(store)
    });
    let started = started.await.map_err(|error| explained(&error, through.as_deref()))?;
    let database = opened.context("the cluster did not open the database")?;
    started.cluster.set_fragments(database.fragments());
    Ok((database, started))
}

/// Tells the others where PostgreSQL clients call this server: where it listens, or where other servers call it if it
/// listens everywhere.
pub(super) fn open_to_clients(member: &Started, pg: SocketAddr) {
    let members = member.cluster.members();
    let own = members.get(member.cluster.here()).map(|own| own.address.as_str());
    let host = own.and_then(|address| Some(address.rsplit_once(':')?.0));
    member.cluster.set_pg(match host {
        Some(host) if pg.ip().is_unspecified() => format!("{host}:{}", pg.port()),
        _ => pg.to_string(),
    });
}

/// A free port of the address from which this machine reaches another.
fn listen_address_for(other: &str) -> anyhow::Result<String> {
    let context = || format!("cannot find the way to {other}; say where to listen (--cluster)");
    let other = other.to_socket_addrs().with_context(context)?.next().with_context(context)?;
    // Nothing is sent: connecting such a socket only looks the way up.
    let socket = UdpSocket::bind(if other.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    socket.connect(other).with_context(context)?;
    Ok(SocketAddr::new(socket.local_addr()?.ip(), 0).to_string())
}

/// Why a server does not become part of a cluster, by way of whom, and what to do.
fn explained(error: &StartError, through: Option<&str>) -> anyhow::Error {
    let way_out = match error {
        StartError::Refused(Error::Remote { hint: Some(hint), .. }) => format!(". {hint}"),
        StartError::Refused(Error::Unreachable { .. }) => {
            let called_at = ". Give what a server of the cluster is \"called at\"";
            format!("{called_at}, and the --token of its first server, if that printed one.")
        }
        _ => String::new(),
    };
    match (error, through) {
        (StartError::Refused(_) | StartError::Join(_), Some(first)) => {
            anyhow!("cannot join (--join {first}): {error}{way_out}")
        }
        _ => anyhow!("{error}{way_out}"),
    }
}

/// A reason why the database cannot be opened, as the cluster passes it on.
fn refused(error: &anyhow::Error) -> Error {
    Error::Remote {
        sql_state: "58000".into(),
        message: format!("{error:#}"),
        detail: None,
        hint: None,
    }
}

/// Says what the server is in its cluster, and how others come to it.
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
    if member.cluster.here() == GroupId(0) {
        let one_more = "Another      pando serve --pg 127.0.0.1:0 --http 127.0.0.1:0";
        writeln!(out, "{one_more} --join {address}{token}")?;
    }
    Ok(())
}
