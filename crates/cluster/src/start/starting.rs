//! The answers of a server that is still joining its cluster.

use crate::cluster::Cluster;
use bytes::Bytes;
use futures::{StreamExt, stream};
use messages::encode_reply;
use net::{Answers, Caller, Service};
use std::sync::OnceLock;
use store::Error;

/// The service of a cluster, once the server has joined it.
#[derive(Debug)]
pub(super) struct StartingService {
    /// The name or the address of this server.
    name: String,
    pub(super) cluster: OnceLock<Cluster>,
}

impl StartingService {
    pub(super) fn new(name: String) -> Self {
        Self { name, cluster: OnceLock::new() }
    }
}

impl Service for StartingService {
    fn serve(&self, from: Caller, request: Bytes) -> Answers {
        if let Some(cluster) = self.cluster.get() {
            return cluster.serve(from, request);
        }
        let starting = Error::unreachable(self.name.clone(), "it is still starting");
        let answer = encode_reply::<()>(&Err(starting));
        stream::once(async move { Ok(answer) }).boxed()
    }
}
