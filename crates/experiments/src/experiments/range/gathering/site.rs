//! The servers: each has one bucket and answers as the query says.

use super::message::{Query, Way, loopback, records};
use anyhow::Result;
use rand::RngExt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

/// A connection that is not established by then counts as refused. Linux does not report the refusal.
const REFUSED_AFTER: Duration = Duration::from_millis(20);
/// Bound of the first pause before a retry, and how often it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const DOUBLINGS: u32 = 6;
/// A server gives up after so many refusals.
const TRIES: u32 = 100;

/// The servers. Dropping this ends them.
#[derive(Debug)]
pub(super) struct Sites {
    /// The address of each server for queries, by bucket.
    pub(super) addresses: Vec<SocketAddr>,
    refusals: Arc<AtomicU64>,
    _tasks: JoinSet<Result<()>>,
}

impl Sites {
    /// Starts a server for each bucket.
    pub(super) async fn start(buckets: u16) -> Result<Self> {
        let (mut addresses, refusals) = (Vec::new(), Arc::<AtomicU64>::default());
        let mut tasks = JoinSet::new();
        for bucket in 0..buckets {
            // Datagrams and connections use the same port.
            let (queries, pulls) = loop {
                let pulls = TcpListener::bind(loopback(0)).await?;
                if let Ok(queries) = UdpSocket::bind(pulls.local_addr()?).await {
                    break (queries, pulls);
                }
            };
            addresses.push(queries.local_addr()?);
            tasks.spawn(listen(bucket, queries, Arc::clone(&refusals)));
            tasks.spawn(serve(bucket, pulls));
        }
        Ok(Self { addresses, refusals, _tasks: tasks })
    }

    /// Connections that the client has refused so far.
    pub(super) fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }
}

/// Receives queries and starts the answers.
async fn listen(bucket: u16, queries: UdpSocket, refusals: Arc<AtomicU64>) -> Result<()> {
    let mut answers = JoinSet::new();
    let mut datagram = [0; 16];
    loop {
        let (length, from) = queries.recv_from(&mut datagram).await?;
        let Some(query) = Query::from_bytes(&datagram[..length]) else { continue };
        if bucket >= query.before {
            continue;
        }
        let (client, refusals) = (loopback(query.port), Arc::clone(&refusals));
        match query.way {
            Way::Announce => drop(queries.send_to(&bucket.to_be_bytes(), from).await?),
            Way::ConnectOnce => drop(answers.spawn(push(bucket, client, 1, refusals))),
            Way::ConnectUntilAdmitted => {
                answers.spawn(push(bucket, client, TRIES, refusals));
            }
        }
        while answers.try_join_next().is_some() {}
    }
}

/// Connects to the client, with at most `tries` attempts, and sends the records.
async fn push(bucket: u16, client: SocketAddr, tries: u32, refusals: Arc<AtomicU64>) {
    for refused in 0..tries {
        let connected = tokio::time::timeout(REFUSED_AFTER, TcpStream::connect(client)).await;
        if let Ok(Ok(connection)) = connected {
            // A client that is gone queries again if it needs the records.
            return drop(send(bucket, connection).await);
        }
        refusals.fetch_add(1, Ordering::Relaxed);
        let longest = FIRST_PAUSE * 2u32.pow(refused.min(DOUBLINGS));
        let pause = rand::rng().random_range(Duration::ZERO..longest);
        if refused + 1 < tries {
            tokio::time::sleep(pause).await;
        }
    }
}

/// Sends the records to every client that connects.
async fn serve(bucket: u16, pulls: TcpListener) -> Result<()> {
    loop {
        let (connection, _) = pulls.accept().await?;
        let _ = send(bucket, connection).await;
    }
}

async fn send(bucket: u16, mut connection: TcpStream) -> Result<()> {
    connection.write_all(&records(bucket)).await?;
    Ok(connection.shutdown().await?)
}
