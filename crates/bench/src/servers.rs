//! The servers that an experiment runs on: processes of their own, or all in this one.

use crate::endpoint::Endpoint;
use crate::process::processor_time_of;
use crate::processes::Processes;
use crate::usage::Usage;
use crate::{Embedded, InProcess};
use anyhow::{Result, bail};
use tokio::runtime::Handle;

/// Servers of one cluster, numbered from zero in the order in which they joined.
pub(crate) enum Servers {
    /// Each is a process, and its clients are PostgreSQL clients.
    Processes(Processes),
    /// All are in this process, and its clients are sessions.
    InProcess(InProcess),
}

impl Servers {
    /// Starts so many. Those of this process run their statements on `workers`.
    pub(crate) async fn start(servers: u16, in_process: bool, workers: &Handle) -> Result<Self> {
        Ok(match in_process {
            true => Self::InProcess(InProcess::on_workers(servers, workers).await?),
            false => Self::Processes(Processes::start(servers.into()).await?),
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Processes(processes) => processes.len(),
            Self::InProcess(cluster) => cluster.servers().len(),
        }
    }

    /// A new client of one of them.
    pub(crate) async fn endpoint(&self, server: usize) -> Result<Endpoint> {
        match self {
            Self::Processes(processes) => processes.endpoint(server).await,
            Self::InProcess(cluster) => {
                let session = cluster.servers()[server].database.session();
                Ok(Endpoint::Session(Embedded { session }))
            }
        }
    }

    /// A new client that begins with one of them and learns where rows are.
    ///
    /// # Errors
    /// Also for servers of this process: nobody connects to them.
    pub(crate) async fn client_with_image(&self, server: usize) -> Result<client::Client> {
        match self {
            Self::Processes(processes) => processes.client_with_image(server).await,
            Self::InProcess(_) => bail!("servers of this process have no clients with images"),
        }
    }

    /// What each has used so far, as a client hears it. How much of the processors is not known of servers of this
    /// process.
    pub(crate) async fn usage(&self, endpoint: &Endpoint) -> Result<Usage> {
        let processor = |server| match self {
            Self::Processes(processes) => processor_time_of(processes.id(server)),
            Self::InProcess(_) => None,
        };
        Usage::of(endpoint, processor).await
    }
}
