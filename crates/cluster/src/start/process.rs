//! A server of a cluster as a process: its address, its certificate, and how it joins.

use super::Introduction;
use super::starting::StartingService;
use crate::cluster::Cluster;
use crate::membership::ROOT;
use net::{Address, Authority, JoinToken, Listening, NetError, Security, Tcp, TrustError, listen};
use sdds::GroupId;
use std::io;
use std::sync::Arc;
use store::{Error, Store};
use tokio::runtime::Handle;

/// How a server gets into its cluster.
#[derive(Debug)]
pub enum Entry {
    /// It is the first.
    First,
    /// By way of a server that is in it.
    Through {
        /// Where that one listens for servers.
        first: Address,
        /// What it printed; without one, traffic is plain, which is for one machine only.
        token: Option<JoinToken>,
    },
}

/// What a server says of itself, where it listens, and how it gets in.
#[derive(Debug)]
pub struct Part {
    /// Unique in the cluster; its address where there is none.
    pub name: Option<String>,
    /// Where it listens for other servers: `host:port`; port 0 takes a free one.
    pub listen: Address,
    /// Where others call it, if that is not where it listens; port 0 is the port where it does.
    pub advertised: Option<Address>,
    /// How large a share of each table it should have, relative to the others.
    pub weight: u32,
    /// How it gets in.
    pub entry: Entry,
}

/// A server that is part of a cluster, and listens to the others.
#[derive(Debug)]
pub struct Started {
    /// What it knows of the others.
    pub cluster: Cluster,
    /// Its door; dropped, it closes.
    pub listening: Listening,
    /// What other servers need to join by way of this one, if it may let them in, and traffic is encrypted.
    pub token: Option<JoinToken>,
}

/// Why a server does not become part of a cluster.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] io::Error),
    /// Its certificate could not be made.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The token was not taken, or nobody is there.
    #[error(transparent)]
    Join(#[from] NetError),
    /// The root refuses.
    #[error(transparent)]
    Refused(#[from] Error),
    /// Its address says nothing to others.
    #[error("other servers cannot call {0}; say where they can (--advertise HOST:PORT)")]
    Unspecified(Address),
}

/// Starts. `open` is called with the group that the server leads.
///
/// # Errors
/// Nothing has changed anywhere then, but that a server that fails after the root took it in will be given up.
pub async fn start(
    part: Part,
    open: impl FnOnce(GroupId) -> Result<Arc<Store>, Error>,
) -> Result<Started, StartError> {
    let Part { name, listen: at, advertised, weight, entry } = part;
    let own = advertised.clone().unwrap_or_else(|| at.clone());
    let (security, token) = secure(&at, &own, &entry).await?;
    let starting = Arc::new(StartingService::new(name.clone().unwrap_or_else(|| own.to_string())));
    let listening = listen(&at, security.clone(), Arc::clone(&starting) as _).await?;
    let address = called_at(advertised, listening.address());
    if address.as_str().starts_with("0.0.0.0:") || address.as_str().starts_with("[::]:") {
        return Err(StartError::Unspecified(address));
    }
    let network = Arc::new(Tcp::new(address.clone(), security));
    let name = name.unwrap_or_else(|| address.as_str().to_owned());
    let introduction = Introduction { name, address, weight };
    let cluster = match entry {
        Entry::First => Cluster::found(introduction, open(ROOT)?, network, Handle::current()),
        Entry::Through { first, .. } => {
            Cluster::join(introduction, &first, open, network, Handle::current()).await?
        }
    };
    let _ = starting.cluster.set(cluster.clone());
    Ok(Started { cluster, listening, token })
}

/// Where others call a server that listens somewhere.
fn called_at(advertised: Option<Address>, listening: &Address) -> Address {
    let Some(advertised) = advertised else { return listening.clone() };
    match (advertised.as_str().strip_suffix(":0"), listening.as_str().rsplit_once(':')) {
        (Some(host), Some((_, port))) => Address::new(format!("{host}:{port}")),
        _ => advertised,
    }
}

/// How the server and the others trust one another. The first one of a cluster that goes beyond this machine becomes its
/// authority.
async fn secure(
    at: &Address,
    own: &Address,
    entry: &Entry,
) -> Result<(Security, Option<JoinToken>), StartError> {
    match entry {
        Entry::First if is_loopback(at).await => Ok((Security::Plain, None)),
        Entry::First => {
            let authority = Arc::new(Authority::found()?);
            let identity = Arc::new(authority.identity()?);
            let token = authority.token();
            Ok((Security::Mutual { identity, authority: Some(authority) }, Some(token)))
        }
        Entry::Through { token: None, .. } => Ok((Security::Plain, None)),
        Entry::Through { first, token: Some(token) } => {
            let identity = Arc::new(net::join(first, own, token).await?);
            Ok((Security::Mutual { identity, authority: None }, None))
        }
    }
}

async fn is_loopback(address: &Address) -> bool {
    let Ok(mut found) = tokio::net::lookup_host(address.as_str()).await else { return false };
    found.all(|address| address.ip().to_canonical().is_loopback())
}
