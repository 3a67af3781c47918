//! The client: it asks, takes what comes, and asks again for what is missing.

use super::message::{Query, Way, loopback, read};
use super::{Ending, Sites, Strategy};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// When nothing has come for so long, what is missing is asked for again.
const QUIET: Duration = Duration::from_millis(200);
/// A query that was asked so often and is not answered fails.
const ROUNDS: u32 = 50;

/// Where answers come.
#[derive(Debug)]
pub(super) struct Client {
    pushes: TcpListener,
    datagrams: UdpSocket,
}

/// What came of a query.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) records: u32,
    pub(super) time: Duration,
    /// Connections that were not admitted.
    pub(super) refusals: u64,
}

/// What has come and what has not.
struct Answers {
    missing: BTreeSet<u16>,
    records: u32,
    ending: Ending,
}

impl Client {
    /// A client whose operating system keeps so many connections that it has not taken yet.
    pub(super) async fn start(backlog: u32) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(loopback(0))?;
        let pushes = socket.listen(backlog)?;
        Ok(Self { pushes, datagrams: UdpSocket::bind(loopback(0)).await? })
    }

    /// Asks for the first so many buckets.
    ///
    /// # Errors
    /// With deterministic termination, where some do not come.
    pub(super) async fn gather(
        &self,
        sites: &Sites,
        strategy: Strategy,
        buckets: u16,
        ending: Ending,
    ) -> Result<Gathered> {
        let (refusals, begun) = (sites.refusals(), Instant::now());
        let mut answers = Answers { missing: (0..buckets).collect(), records: 0, ending };
        for _ in 0..ROUNDS {
            self.ask(sites, strategy, &answers, buckets).await?;
            match strategy {
                Strategy::Pull(window) => self.pull(&mut answers, window).await?,
                Strategy::PushOnce | Strategy::PushWithRetries => self.take(&mut answers).await?,
            }
            if answers.are_all() || ending != Ending::Deterministic {
                break;
            }
        }
        let is_short = ending == Ending::Deterministic && !answers.are_all();
        ensure!(!is_short, "buckets are still missing after {ROUNDS} rounds");
        Ok(Gathered {
            records: answers.records,
            time: begun.elapsed(),
            refusals: sites.refusals() - refusals,
        })
    }

    /// Asks those whose buckets are missing, or everybody.
    async fn ask(
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

    /// Takes connections one after the other, until nothing is missing or none comes.
    async fn take(&self, answers: &mut Answers) -> Result<()> {
        while !answers.are_all() {
            let Ok(connection) = timeout(answers.patience(), self.pushes.accept()).await else {
                break;
            };
            answers.came(read(connection?.0).await?);
        }
        Ok(())
    }

    /// Connects to those who announce themselves, a few at a time.
    async fn pull(&self, answers: &mut Answers, window: usize) -> Result<()> {
        let mut open = JoinSet::new();
        let mut datagram = [0; 16];
        while !answers.are_all() {
            tokio::select! {
                announced = timeout(answers.patience(), self.datagrams.recv_from(&mut datagram)), if open.len() < window => {
                    let Ok(announced) = announced else {
                        if open.is_empty() { break } else { continue }
                    };
                    let (_, from) = announced?;
                    open.spawn(async move { read(TcpStream::connect(from).await?).await });
                }
                Some(answer) = open.join_next() => answers.came(answer??),
            }
        }
        Ok(())
    }
}

impl Answers {
    /// Whether nothing more will be waited for: who does not know what is missing never knows.
    fn are_all(&self) -> bool {
        self.missing.is_empty() && self.ending == Ending::Deterministic
    }

    /// How long to wait for the next one.
    fn patience(&self) -> Duration {
        match self.ending {
            Ending::Deterministic => QUIET,
            Ending::Probabilistic(patience) => patience,
        }
    }

    /// A bucket's records have come; those of one that was asked twice count once.
    fn came(&mut self, (bucket, records): (u16, u32)) {
        if self.missing.remove(&bucket) {
            self.records += records;
        }
    }
}
