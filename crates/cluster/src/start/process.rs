//! A server of a cluster as a process: its address, its certificate, and how it joins.

use super::NewServer;
use super::starting::StartingService;
use crate::cluster::Cluster;
use crate::facts::{self, Identity};
use crate::membership::ROOT;
use crate::timeouts::TIMEOUTS;
use net::{Address, Authority, JoinToken, Listening, NetError, Security, Tcp, TrustError, listen};
use sdds::ServerId;
use std::io;
use std::sync::Arc;
use store::{Error, Store};
use tokio::runtime::Handle;

/// How a server enters its cluster.
#[derive(Debug)]
pub enum Entry {
    /// It founds the cluster.
    First,
    /// It joins through a member.
    Through {
        /// The address of the member for servers.
        first: Address,
        /// The token that the first server printed. Without one traffic is plain, which is allowed
        /// on loopback only.
        token: Option<JoinToken>,
    },
}

/// Configuration of a server.
#[derive(Debug)]
pub struct ServerConfig {
    /// Its name, unique in the cluster; by default its address.
    pub name: Option<String>,
    /// The address to listen at for other servers: `host:port`; port 0 selects a free port.
    pub listen: Address,
    /// Its address for other servers, if different; port 0 is replaced by the port of `listen`.
    pub advertised: Option<Address>,
    /// Its share of each table, relative to the other servers.
    pub weight: u32,
    /// How it enters the cluster.
    pub entry: Entry,
    /// What it has of earlier starts.
    pub data: ServerData,
}

/// What a server has of earlier starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerData {
    /// It keeps nothing.
    None,
    /// It keeps its data in a directory from now on.
    New,
    /// The data directory of this server.
    Of(ServerId),
}

/// A running server.
#[derive(Debug)]
pub struct Started {
    /// The cluster.
    pub cluster: Cluster,
    /// The listener for other servers, which closes on drop.
    pub listening: Listening,
    /// The token for joining through this server, if traffic is encrypted and this server may sign
    /// certificates.
    pub token: Option<JoinToken>,
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Listening failed.
    #[error(transparent)]
    Listen(#[from] io::Error),
    /// Its certificate could not be created.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The member could not be reached, or refused the token.
    #[error(transparent)]
    Join(#[from] NetError),
    /// The root server refused, or could not be reached.
    #[error(transparent)]
    Refused(#[from] Error),
    /// Its address is a wildcard address.
    #[error(
        "other servers cannot connect to {0}; set their address for this server (--advertise HOST:PORT)"
    )]
    Unspecified(Address),
}

/// Starts a server. `open` opens the store of the server.
///
/// # Errors
/// See [`StartError`]. A server that the root admitted before the error is evicted later.
pub async fn start(
    config: ServerConfig,
    open: impl FnOnce(ServerId) -> Result<Arc<Store>, Error>,
) -> Result<Started, StartError> {
    let ServerConfig { name, listen: at, advertised, weight, entry, data } = config;
    let own = advertised.clone().unwrap_or_else(|| at.clone());
    let mut open = Some(open);
    let mut open =
        move |server| open.take().map_or_else(|| Err(opened_twice()), |open| open(server));
    // The first server has the authority of the cluster in its store.
    let opened = match (&entry, data) {
        (Entry::First, _) => Some(open(ROOT.founder())?),
        (Entry::Through { .. }, ServerData::Of(server)) if server == ROOT.founder() => {
            return Err(first_server().into());
        }
        (Entry::Through { .. }, ServerData::Of(server)) => Some(open(server)?),
        (Entry::Through { .. }, ServerData::None | ServerData::New) => None,
    };
    let (security, token) = secure(&at, &own, &entry, opened.as_deref()).await?;
    let starting = Arc::new(StartingService::new(name.clone().unwrap_or_else(|| own.to_string())));
    let listening =
        listen(&at, security.clone(), Arc::clone(&starting) as _, TIMEOUTS.network).await?;
    let address = called_at(advertised, listening.address());
    if address.as_str().starts_with("0.0.0.0:") || address.as_str().starts_with("[::]:") {
        return Err(StartError::Unspecified(address));
    }
    let network = Arc::new(Tcp::new(address.clone(), security, TIMEOUTS.network));
    let kept = match &opened {
        Some(store) => facts::read::<Identity>(store, facts::IDENTITY)?.map(|known| known.name),
        None => None,
    };
    let name = name.or(kept).unwrap_or_else(|| address.as_str().to_owned());
    let introduction = NewServer { name, address, weight };
    let runtime = Handle::current();
    let cluster = match (entry, opened) {
        (Entry::First, Some(store)) => {
            Cluster::found(introduction, store, network, runtime).await?
        }
        (Entry::Through { first, .. }, Some(store)) => {
            Cluster::come_back(introduction, &first, store, network, runtime).await?
        }
        (Entry::Through { first, .. }, None) => {
            let keeps_data = data == ServerData::New;
            Cluster::join(introduction, &first, keeps_data, open, network, runtime).await?
        }
        (Entry::First, None) => return Err(opened_twice().into()),
    };
    let _ = starting.cluster.set(cluster.clone());
    Ok(Started { cluster, listening, token })
}

/// The address for other servers, with the actual port.
fn called_at(advertised: Option<Address>, listening: &Address) -> Address {
    let Some(advertised) = advertised else { return listening.clone() };
    match (advertised.as_str().strip_suffix(":0"), listening.as_str().rsplit_once(':')) {
        (Some(host), Some((_, port))) => Address::new(format!("{host}:{port}")),
        _ => advertised,
    }
}

/// How the server authenticates others. The first server becomes the authority of the cluster
/// unless it listens on loopback.
async fn secure(
    at: &Address,
    own: &Address,
    entry: &Entry,
    store: Option<&Store>,
) -> Result<(Security, Option<JoinToken>), StartError> {
    match entry {
        Entry::First if is_loopback(at).await => Ok((Security::Plain, None)),
        Entry::First => {
            let authority = Arc::new(authority(store).await?);
            let identity = Arc::new(authority.identity()?);
            let token = authority.token();
            Ok((Security::Mutual { identity, authority: Some(authority) }, Some(token)))
        }
        Entry::Through { token: None, .. } => Ok((Security::Plain, None)),
        Entry::Through { first, token: Some(token) } => {
            let identity = Arc::new(net::join(first, own, token, TIMEOUTS.network).await?);
            Ok((Security::Mutual { identity, authority: None }, None))
        }
    }
}

async fn is_loopback(address: &Address) -> bool {
    let Ok(mut found) = tokio::net::lookup_host(address.as_str()).await else { return false };
    found.all(|address| address.ip().to_canonical().is_loopback())
}

/// The authority of the cluster: that of earlier starts, or a new one.
async fn authority(store: Option<&Store>) -> Result<Authority, StartError> {
    let Some(store) = store.filter(|store| store.journal().is_some()) else {
        return Ok(Authority::found()?);
    };
    if let Some(kept) = store.fact(facts::AUTHORITY) {
        return Ok(Authority::from_bytes(&kept)?);
    }
    let authority = Authority::found()?;
    let kept = store.set_fact(facts::AUTHORITY, Some(authority.to_bytes()?))?;
    kept.wait().await?;
    Ok(authority)
}

fn first_server() -> Error {
    Error::Remote {
        sql_state: "55000".into(),
        message: "the data directory is of a single server, or of the first one of a cluster"
            .into(),
        detail: None,
        hint: Some("Start it without --join.".into()),
    }
}

fn opened_twice() -> Error {
    Error::Remote {
        sql_state: "XX000".into(),
        message: "the store was opened twice".into(),
        detail: None,
        hint: None,
    }
}
