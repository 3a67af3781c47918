//! What answers other servers while this one is still becoming part of the cluster.

use crate::cluster::{Cluster, written};
use crate::net::{Answers, Caller, Service};
use bytes::Bytes;
use futures::{StreamExt, stream};
use std::sync::OnceLock;
use store::Error;

/// A cluster's service, once there is a cluster.
#[derive(Debug, Default)]
pub(crate) struct StartingService(pub(crate) OnceLock<Cluster>);

impl Service for StartingService {
    fn serve(&self, from: Caller, request: Bytes) -> Answers {
        if let Some(cluster) = self.0.get() {
            return cluster.serve(from, request);
        }
        let starting = Error::unreachable("that was called", "it is still starting");
        let answer = written(&Err(starting));
        stream::once(async move { Ok(answer) }).boxed()
    }
}
