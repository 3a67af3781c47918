//! Founding a cluster, or joining one.
//!
//! `process`: a server that listens over TCP. `starting`: its answers before it has joined.

mod process;
mod starting;

pub use process::{Entry, ServerConfig, StartError, Started, start};

use crate::calls::{CallError, CountingNetwork, DEADLINE};
use crate::cluster::Cluster;
use crate::membership::Members;
use crate::messages::{Answer, Envelope, Reply, Request, decode, encode, unexpected};
use net::{Address, Network, ask};
use std::sync::Arc;
use store::{Error, Store};
use tokio::runtime::Handle;

/// A server that founds or joins a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServer {
    /// Its name, unique in the cluster.
    pub name: String,
    /// Its address for other servers.
    pub address: Address,
    /// Its share of each table, relative to the other servers.
    pub weight: u32,
}

impl Cluster {
    /// Founds a cluster. The store may have tables; its group must be 0.
    pub fn found(
        introduction: NewServer,
        store: Arc<Store>,
        network: Arc<dyn Network>,
        runtime: Handle,
    ) -> Self {
        let mut members = Members::default();
        let NewServer { name, address, weight } = introduction;
        let member = members.join(name, address.as_str().to_owned(), weight);
        let now = store.snapshot().timestamp();
        let network = CountingNetwork::new(network);
        Self::start(&member, members, store, network, runtime, now)
    }

    /// Joins the cluster of the server `first`. `open` opens an empty store for the group that the
    /// root assigns.
    ///
    /// # Errors
    /// [`Error::Unreachable`]; 42710 if the name is taken; errors of `open`.
    pub async fn join(
        introduction: NewServer,
        first: &Address,
        open: impl FnOnce(sdds::GroupId) -> Result<Arc<Store>, Error>,
        network: Arc<dyn Network>,
        runtime: Handle,
    ) -> Result<Self, Error> {
        let NewServer { name, address, weight } = introduction;
        let request = Request::Join { name, address: address.as_str().to_owned(), weight };
        let envelope = encode(&Envelope { from: None, to: None, request })?;
        let network = CountingNetwork::new(network);
        let answer = ask(&network, first, envelope, DEADLINE).await;
        let answer = answer.map_err(|error| Error::from(CallError::of(error, first.as_str())))?;
        match decode::<Reply>(&answer)?? {
            Answer::Joined { member, members, catalog, timestamp } => {
                let store = open(member.group)?;
                store.install(&catalog, timestamp)?.wait().await?;
                Ok(Self::start(&member, members, store, network, runtime, timestamp))
            }
            other => Err(unexpected(&other)),
        }
    }
}
