//! Founding a cluster, or joining one.
//!
//! `process`: a server that listens over TCP. `starting`: its answers before it has joined.

mod process;
mod starting;

pub use process::{Entry, Part, StartError, Started, start};

use crate::calls::{CallError, Counted, DEADLINE};
use crate::cluster::Cluster;
use crate::membership::Members;
use crate::messages::{Answer, Envelope, Reply, Request, decode, encode, unexpected};
use net::{Address, Network, ask};
use std::sync::Arc;
use store::{Error, Store};
use tokio::runtime::Handle;

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduction {
    /// What people call it; unique in the cluster.
    pub name: String,
    /// Where other servers call it.
    pub address: Address,
    /// How large a share of each table it should have, relative to the others.
    pub weight: u32,
}

impl Cluster {
    /// Makes a store the first of a cluster. The store may hold tables; group 0 is its own.
    pub fn found(
        introduction: Introduction,
        store: Arc<Store>,
        network: Arc<dyn Network>,
        runtime: Handle,
    ) -> Self {
        let mut members = Members::default();
        let Introduction { name, address, weight } = introduction;
        let member = members.join(name, address.as_str().to_owned(), weight);
        let now = store.snapshot().timestamp();
        let network = Counted::new(network);
        Self::start(&member, members, store, network, runtime, now)
    }

    /// Becomes part of the cluster that a server belongs to, with an empty store: `open` is called with the group that
    /// the root has given it.
    ///
    /// # Errors
    /// [`Error::Unreachable`], and what the root refuses: a name that is taken.
    pub async fn join(
        introduction: Introduction,
        first: &Address,
        open: impl FnOnce(sdds::GroupId) -> Result<Arc<Store>, Error>,
        network: Arc<dyn Network>,
        runtime: Handle,
    ) -> Result<Self, Error> {
        let Introduction { name, address, weight } = introduction;
        let request = Request::Join { name, address: address.as_str().to_owned(), weight };
        let envelope = encode(&Envelope { from: None, to: None, request })?;
        let network = Counted::new(network);
        let answer = ask(&network, first, envelope, DEADLINE).await;
        let answer = answer.map_err(|error| Error::from(CallError::of(error, first.as_str())))?;
        match decode::<Reply>(&answer)?? {
            Answer::Joined { member, members, catalog, timestamp } => {
                let store = open(member.group)?;
                store.install(&catalog, timestamp);
                Ok(Self::start(&member, members, store, network, runtime, timestamp))
            }
            other => Err(unexpected(&other)),
        }
    }
}
