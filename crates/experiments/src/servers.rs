//! The servers of an experiment: separate processes, or all in this process.

use crate::endpoint::Endpoint;
use crate::process::processor_time_of;
use crate::processes::Processes;
use crate::usage::Usage;
use anyhow::{Result, bail};
use query::Executors;
use workloads::{Embedded, InProcess};

/// The servers of one cluster, numbered from zero in the order in which they joined.
pub(crate) enum Servers {
    /// Each is a process. Its clients use PostgreSQL's protocol.
    Processes(Processes),
    /// All are in this process. Its clients are sessions.
    InProcess(InProcess),
}

impl Servers {
    /// Starts `servers` servers. Those in this process run their statements on `executors`.
    pub(crate) async fn start(
        servers: u16,
        in_process: bool,
        executors: &Executors,
    ) -> Result<Self> {
        if in_process {
            return Ok(Self::InProcess(InProcess::on_executors(servers, executors).await?));
        }
        Ok(Self::Processes(Processes::start(servers.into()).await?))
    }

    /// The number of servers.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Processes(processes) => processes.len(),
            Self::InProcess(cluster) => cluster.servers().len(),
        }
    }

    /// A new client of a server.
    pub(crate) async fn endpoint(&self, server: usize) -> Result<Endpoint> {
        match self {
            Self::Processes(processes) => processes.endpoint(server).await,
            Self::InProcess(cluster) => {
                let session = cluster.servers()[server].database.session();
                Ok(Endpoint::Session(Embedded { session }))
            }
        }
    }

    /// A new client with an image, which connects to this server first.
    ///
    /// # Errors
    /// Also if the servers are in this process: such clients need connections.
    pub(crate) async fn client_with_image(&self, server: usize) -> Result<client::Client> {
        match self {
            Self::Processes(processes) => processes.client_with_image(server).await,
            Self::InProcess(_) => bail!("servers in this process have no clients with images"),
        }
    }

    /// What each server has used so far, asked through a client. The processor time of servers in this process is not
    /// known.
    pub(crate) async fn usage(&self, endpoint: &Endpoint) -> Result<Usage> {
        let processor = |server| match self {
            Self::Processes(processes) => processor_time_of(processes.id(server)),
            Self::InProcess(_) => None,
        };
        Usage::of(endpoint, processor).await
    }
}
