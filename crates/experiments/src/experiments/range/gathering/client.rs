//! The client: sends a query, receives answers, and repeats the query for missing buckets.

use super::message::{Query, Records, Way, loopback, read};
use super::{Ending, Sites, Strategy};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// After so long without an answer, missing buckets are queried again.
const RESEND_AFTER: Duration = Duration::from_millis(200);
/// A query fails after so many rounds.
const ROUNDS_MAX: u32 = 50;

/// The sockets for answers.
#[derive(Debug)]
pub(super) struct Client {
    pushes: TcpListener,
    datagrams: UdpSocket,
}

/// The result of a query.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) records: u32,
    pub(super) time: Duration,
    /// Connections that the client's backlog refused.
    pub(super) refusals: u64,
}

/// The answers so far.
struct Answers {
    missing: BTreeSet<u16>,
    records: u32,
    ending: Ending,
}

impl Client {
    /// A client with a listen backlog of this length.
    pub(super) async fn start(backlog: u32) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(loopback(0))?;
        let pushes = socket.listen(backlog)?;
        Ok(Self { pushes, datagrams: UdpSocket::bind(loopback(0)).await? })
    }

    /// Queries the first `buckets` buckets.
    ///
    /// # Errors
    /// With deterministic termination, if buckets are still missing after all rounds.
    pub(super) async fn gather(
        &self,
        sites: &Sites,
        strategy: Strategy,
        buckets: u16,
        ending: Ending,
    ) -> Result<Gathered> {
        let (refusals, started) = (sites.refusals(), Instant::now());
        let mut answers = Answers { missing: (0..buckets).collect(), records: 0, ending };
        for _ in 0..ROUNDS_MAX {
            self.send(sites, strategy, &answers, buckets).await?;
            match strategy {
                Strategy::Pull(window) => self.pull(&mut answers, window).await?,
                Strategy::PushOnce | Strategy::PushWithRetries => self.accept(&mut answers).await?,
            }
            if answers.is_complete() || ending != Ending::Deterministic {
                break;
            }
        }
        let is_short = ending == Ending::Deterministic && !answers.is_complete();
        ensure!(!is_short, "buckets are still missing after {ROUNDS_MAX} rounds");
        Ok(Gathered {
            records: answers.records,
            time: started.elapsed(),
            refusals: sites.refusals() - refusals,
        })
    }

    /// Sends the query: to the servers of missing buckets, or with probabilistic termination to all.
    async fn send(
        &self,
        sites: &Sites,
        strategy: Strategy,
        answers: &Answers,
        buckets: u16,
    ) -> Result<()> {
        let way = match strategy {
            Strategy::PushOnce => Way::ConnectOnce,
            Strategy::PushWithRetries => Way::ConnectUntilAdmitted,
            Strategy::Pull(_) => Way::Announce,
        };
        let port = self.pushes.local_addr()?.port();
        let query = Query { way, port, before: buckets }.to_bytes();
        for (bucket, address) in (0..).zip(&sites.addresses) {
            if answers.missing.contains(&bucket) || answers.ending != Ending::Deterministic {
                self.datagrams.send_to(&query, address).await?;
            }
        }
        Ok(())
    }

    /// Accepts connections one after another, until all buckets are there or the wait times out.
    async fn accept(&self, answers: &mut Answers) -> Result<()> {
        while !answers.is_complete() {
            let Ok(connection) = timeout(answers.timeout(), self.pushes.accept()).await else {
                break;
            };
            answers.add(read(connection?.0).await?);
        }
        Ok(())
    }

    /// Connects to the servers that announce themselves, at most `window` at a time.
    async fn pull(&self, answers: &mut Answers, window: usize) -> Result<()> {
        let mut open = JoinSet::new();
        let mut datagram = [0; 16];
        while !answers.is_complete() {
            tokio::select! {
                announced = timeout(answers.timeout(), self.datagrams.recv_from(&mut datagram)), if open.len() < window => {
                    let Ok(announced) = announced else {
                        if open.is_empty() { break } else { continue }
                    };
                    let (_, from) = announced?;
                    open.spawn(async move { read(TcpStream::connect(from).await?).await });
                }
                Some(answer) = open.join_next() => answers.add(answer??),
            }
        }
        Ok(())
    }
}

impl Answers {
    /// Whether the client need not wait for more. With probabilistic termination it never knows.
    fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.ending == Ending::Deterministic
    }

    /// How long to wait for the next answer.
    fn timeout(&self) -> Duration {
        match self.ending {
            Ending::Deterministic => RESEND_AFTER,
            Ending::Probabilistic(timeout) => timeout,
        }
    }

    /// Adds the answer of a bucket. A second answer of the same bucket is ignored.
    fn add(&mut self, Records { bucket, records }: Records) {
        if self.missing.remove(&bucket) {
            self.records += records;
        }
    }
}
