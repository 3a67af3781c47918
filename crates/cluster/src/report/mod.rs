//! The state of servers, for system tables and status commands.
//!
//! `load`: what a server stores. `tables`: system tables about the cluster.

mod load;
mod tables;

pub(crate) use load::load;
pub(crate) use tables::table;

use crate::membership::Member;
use crate::node::Node;
use futures::future::join_all;
use messages::{ImageInfo, RowsAnswer, RowsRequest, ServerReport, unexpected};
use store::Error;

/// The state of all servers; an error for those that cannot be reached.
pub(crate) async fn report(node: &Node) -> Vec<(Member, Result<ServerReport, Error>)> {
    let members = node.membership.list().clone();
    let asked = members.list.iter().map(|member| async {
        let held = if member.server == node.membership.here {
            Ok(held(node))
        } else {
            ask(node, member).await
        };
        (member.clone(), held)
    });
    join_all(asked).await
}

async fn ask(node: &Node, member: &Member) -> Result<ServerReport, Error> {
    match node.calls.ask(member.server, &RowsRequest::Report).await? {
        RowsAnswer::Report(held) => Ok(*held),
        other => Err(unexpected(&other)),
    }
}

/// The state of this server.
pub(crate) fn held(node: &Node) -> ServerReport {
    let images = node.files.all().into_iter().map(|file| ImageInfo {
        table: file.table(),
        entries: file.image(),
        finding: file.finding(),
        bytes: file.directory_bytes(),
        pages: file.pages(),
    });
    ServerReport {
        load: load(node),
        memory: node.store.memory().table_bytes() + node.store.memory().query_bytes(),
        moves: node.moves.outgoing.list(node.calls.tasks.now()),
        images: images.collect(),
        coordinated: node.transactions.coordinated.len() as u64,
        participating: node.transactions.participants.len() as u64,
        traffic: node.calls.counters().traffic(),
    }
}
