//! What servers hold and do, for whoever looks.

use crate::cluster::{Cluster, Inner, unexpected};
use crate::heartbeat;
use crate::members::{Member, ServerLoad, TableLoad};
use crate::message::{Answer, Request};
use crate::moving::MoveInfo;
use futures::future::join_all;
use sdds::directory::Entry;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::catalog::TableId;
use store::{Error, Finding, MoveSetting, Traffic};

/// What one server holds and does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Held {
    /// Its tables.
    pub load: ServerLoad,
    /// Bytes of rows and queries in its memory.
    pub memory: u64,
    /// The last moves from there.
    pub moves: Vec<MoveInfo>,
    /// What finding rows has cost there.
    pub images: Vec<ImageInfo>,
    /// Transactions of its own clients that have written on other servers and go on.
    pub coordinated: u64,
    /// Transactions that have a part there and are coordinated elsewhere.
    pub participating: u64,
    /// What it has said to other servers and heard from them.
    pub traffic: Traffic,
}

/// A server's image of one table, and what it has cost.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImageInfo {
    /// The table.
    pub table: TableId,
    /// Who is believed to own what.
    pub entries: Vec<Entry>,
    /// What finding rows has cost with it.
    pub finding: Finding,
    /// Bytes of the directory and the image.
    pub bytes: u64,
    /// Pages of the directory that the server keeps.
    pub pages: u64,
}

impl Held {
    /// Something of all tables.
    pub(crate) fn sum(&self, of: fn(&TableLoad) -> u64) -> u64 {
        self.load.tables.iter().map(of).sum()
    }
}

impl Cluster {
    /// What every server holds; an error for those that cannot be reached.
    pub async fn report(&self) -> Vec<(Member, Result<Held, Error>)> {
        let members = self.members();
        let asked = members.list.iter().map(|member| async {
            let held = match member.group == self.0.here {
                true => Ok(held(&self.0)),
                false => self.ask_report(member).await,
            };
            (member.clone(), held)
        });
        join_all(asked).await
    }

    async fn ask_report(&self, member: &Member) -> Result<Held, Error> {
        match self.0.ask(member.group, &Request::Report).await? {
            Answer::Report(held) => Ok(*held),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives a server another share of every table, relative to the others; zero empties it.
    ///
    /// # Errors
    /// 42704 for a name that no server has; [`Error::Unreachable`] where the root is.
    pub async fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error> {
        let request = Request::SetWeight { name: name.to_owned(), weight };
        Ok(self.0.ask_root(&request).await.map(drop)?)
    }
}

impl Cluster {
    /// Changes how rows move, on all servers.
    ///
    /// # Errors
    /// [`Error::Unreachable`] where the root is.
    pub async fn change_moves(&self, change: MoveSetting) -> Result<(), Error> {
        Ok(self.0.ask_root(&Request::ChangeMoves { change }).await.map(drop)?)
    }
}

/// What this server holds.
pub(crate) fn held(inner: &Arc<Inner>) -> Held {
    let images = inner.files.all().into_iter().map(|file| ImageInfo {
        table: file.table(),
        entries: file.image(),
        finding: file.finding(),
        bytes: file.directory_bytes(),
        pages: file.pages(),
    });
    Held {
        load: heartbeat::load(inner),
        memory: inner.store.memory().table_bytes() + inner.store.memory().query_bytes(),
        moves: inner.moves.list(),
        images: images.collect(),
        coordinated: inner.coordinated.len() as u64,
        participating: inner.participants.len() as u64,
        traffic: inner.network.counters.traffic(),
    }
}
