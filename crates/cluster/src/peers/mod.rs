//! The other servers, as transactions of this server use them ([`store::Peers`]).
//!
//! `calls`: calls of procedures. `changes`: whether tables have changed. `numbers`: advisory locks. `rows`: rows by key. `waiting`: waiting for locks. `writes`: writes and DML pushdowns. `streams`: plan fragments and
//! exchanges.

mod calls;
mod changes;
pub(crate) mod numbers;
mod rows;
mod streams;
mod waiting;
mod writes;

pub(crate) use waiting::granted;

use crate::membership::Member;
use crate::node::Node;
use crate::report;
use crate::routing::View;
use crate::timeouts::TIMEOUTS;
use arrow::array::{ArrayRef, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use futures::future::{BoxFuture, join_all};
use messages::{RootAnswer, RootRequest, RowsAnswer, RowsRequest, WireReader, unexpected};
use sdds::{GroupId, Key, KeyRange, ServerId, Timestamp};
use std::sync::Arc;
use store::catalog::{Sequence, Table, TableId};
use store::locks::{Mode, Owner, Party, Space};
use store::{
    BatchStream, Changed, ClusterPeers, Delivery, Error, ExchangeId, Finding, Knowledge,
    MoveSetting, MoveSettings, Prepared, Reader, RequiredLocks, RowLocks, RowPeers, Snapshot,
    TableTotal, Traffic, TransactionId, TransactionPeers, Whereabouts, Write, Written,
};

/// Rows column by column, and the position of each row's key.
pub(crate) type Found = (Vec<ArrayRef>, Vec<usize>);

/// The other servers, as a coordinator or a server on its behalf uses them.
#[derive(Debug, Clone)]
pub(crate) struct NodePeers {
    node: Arc<Node>,
    pub(crate) view: View,
}

impl NodePeers {
    /// The peers of a coordinator.
    pub(crate) fn coordinating(node: &Arc<Node>) -> Self {
        let view = View::coordinating(Arc::clone(&node.routing));
        Self { node: Arc::clone(node), view }
    }

    /// The other members.
    fn others(&self) -> Vec<Member> {
        let here = self.node.membership.here;
        let members = self.node.membership.list();
        members.present().filter(|member| member.server != here).cloned().collect()
    }

    /// A reader, for requests to a group.
    fn wire(&self, reader: &Reader, to: GroupId) -> WireReader {
        let coordinated = &self.node.transactions.coordinated;
        WireReader::new(reader, coordinated.has_surely_written(reader.transaction, to))
    }

    /// The peers of a server that works on a request after `hops` hops.
    pub(crate) fn serving(node: &Arc<Node>, hops: u32) -> Self {
        let view = View::serving(Arc::clone(&node.routing), hops);
        Self { node: Arc::clone(node), view }
    }
}

impl Knowledge for NodePeers {
    fn here(&self) -> ServerId {
        self.node.membership.here
    }

    fn group_of(&self, server: ServerId) -> GroupId {
        self.node.membership.group_of(server)
    }

    fn leader_of(&self, group: GroupId) -> ServerId {
        self.node.membership.leader_of(group)
    }

    fn refusal(&self) -> Option<Error> {
        self.node.membership.eviction()
    }

    fn server_name(&self, server: ServerId) -> String {
        self.node.membership.name_of(server)
    }

    fn traffic(&self) -> Traffic {
        self.node.calls.counters().traffic()
    }

    fn finding(&self, table: TableId) -> Finding {
        self.node.files.find(table).map(|file| file.finding()).unwrap_or_default()
    }

    fn patience(&self) -> BoxFuture<'static, Error> {
        let server = self.node.membership.name.clone();
        let waited = self.node.calls.tasks.sleep(TIMEOUTS.row);
        Box::pin(async move {
            waited.await;
            let reason = "a prepared transaction that writes the row was not decided in time";
            Error::unreachable(server, reason)
        })
    }

    fn transaction_id(&self) -> TransactionId {
        self.node.transactions.new_id()
    }

    fn whereabouts(&self, table: &Arc<Table>, key: &Key) -> Whereabouts {
        let entries = self.node.files.of(table).around(key);
        let members = self.node.membership.list();
        let mut groups: Vec<GroupId> = entries.iter().map(|entry| entry.owner.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let address = |group| Some((group, members.get(members.leader_of(group))?.pg.clone()?));
        Whereabouts { servers: groups.into_iter().filter_map(address).collect(), entries }
    }

    fn total(&self, table: TableId) -> Option<TableTotal> {
        self.node.totals.read().get(&table).copied()
    }

    fn move_settings(&self) -> MoveSettings {
        self.node.membership.list().moves
    }
}

#[async_trait]
impl RowPeers for NodePeers {
    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error> {
        self.view.cover(table, range).await
    }

    async fn get(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<Found, Error> {
        self.get_rows(reader, table, keys, columns).await
    }

    async fn entries(
        &self,
        reader: &Reader,
        file: &Arc<Table>,
        owner: GroupId,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Vec<Key>, Error> {
        self.entries_of(reader, file, owner, range, limit).await
    }

    async fn newest(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        self.newest_row(table, key, columns).await
    }

    async fn row_operation(
        &self,
        table: &Arc<Table>,
        key: &Key,
        operation: Bytes,
    ) -> Result<u64, Error> {
        self.send_row_operation(table, key, operation).await
    }

    async fn call(
        &self,
        table: &Arc<Table>,
        key: &Key,
        call: Bytes,
        ending: BoxFuture<'_, ()>,
    ) -> Result<Bytes, Error> {
        self.send_call(table, key, call, ending).await
    }

    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<Written, Error> {
        self.send_write(reader, table, owner, write).await
    }

    async fn lock(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        rows: RowLocks,
    ) -> Result<Vec<bool>, Error> {
        self.send_lock(reader, table, owner, rows).await
    }

    async fn pushdown(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        pushdown: Bytes,
    ) -> Result<Changed, Error> {
        self.send_pushdown(reader, table, owner, pushdown).await
    }

    fn run(
        &self,
        reader: &Reader,
        on: ServerId,
        fragment: Bytes,
        delivery: Delivery,
    ) -> BatchStream {
        self.send(reader, on, fragment, 1, delivery)
    }

    fn pass_on(&self, reader: &Reader, on: ServerId, fragment: Bytes) -> BatchStream {
        self.view.count_forward();
        self.send(reader, on, fragment, self.view.hops + 1, Delivery::Pushed)
    }

    fn take(&self, on: ServerId, exchange: ExchangeId, part: u32) -> BatchStream {
        self.rows(on, RowsRequest::Take { exchange, part }, Delivery::Pushed)
    }
}

#[async_trait]
impl TransactionPeers for NodePeers {
    async fn snapshot(&self) -> Result<Snapshot, Error> {
        self.node.transactions.snapshot().await
    }

    async fn rollback_to(&self, transaction: TransactionId, savepoint: u64) -> Result<(), Error> {
        self.node.transactions.rollback_to(transaction, savepoint).await
    }

    async fn commit(
        &self,
        reader: &Reader,
        here: Option<Prepared>,
        locks: Option<RequiredLocks>,
    ) -> Result<Timestamp, Error> {
        let of = |locks: RequiredLocks| RequiredLocks { owner: locks.owner.elsewhere(), ..locks };
        self.node.transactions.commit(reader, here, locks.map(of)).await
    }

    fn roll_back(&self, transaction: TransactionId) {
        self.node.transactions.roll_back(transaction);
    }

    async fn lock_number(
        &self,
        owner: Owner,
        number: (Space, i64),
        mode: Mode,
        waits: bool,
    ) -> Result<bool, Error> {
        self.send_number(owner.elsewhere(), (number, mode), waits).await
    }

    fn unlock_numbers(
        &self,
        owner: Owner,
        one: Option<((Space, i64), Mode)>,
    ) -> BoxFuture<'static, ()> {
        self.end_numbers(owner.elsewhere(), one)
    }

    async fn is_unchanged(&self, table: TableId, since: Timestamp) -> Result<bool, Error> {
        self.is_unchanged_everywhere(table, since).await
    }

    async fn waits(&self) -> Vec<(Party, Party)> {
        let others = self.others();
        let asked = others.iter().map(async |member| {
            match self.node.calls.ask(member.server, &RowsRequest::Waits).await {
                Ok(RowsAnswer::Waits(waits)) => waits,
                _ => Vec::new(),
            }
        });
        join_all(asked).await.into_iter().flatten().collect()
    }
}

#[async_trait]
impl ClusterPeers for NodePeers {
    async fn describe(&self, name: &str) -> Result<Option<RecordBatch>, Error> {
        report::table(&self.node, name).await
    }

    async fn gather(&self, name: &str) -> Vec<(String, RecordBatch)> {
        let others = self.others();
        let asked = others.iter().map(async |member| {
            let rows = self.describe_at(member.server, name).await;
            if let Err(error) = &rows {
                tracing::debug!(%error, name, "a server is left out of a system table");
            }
            Some((member.name.clone(), rows.ok().flatten()?))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    async fn publish(&self, notifications: Bytes) {
        let others = self.others();
        let sent = others.iter().map(async |member| {
            let request = RowsRequest::Publish { notifications: notifications.clone().into() };
            let answer = self.node.calls.ask(member.server, &request).await;
            if let Err(error) = answer.map_err(Error::from) {
                tracing::debug!(%error, server = member.name, "a server misses notifications");
            }
        });
        join_all(sent).await;
    }

    fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error> {
        self.node
            .calls
            .ask_root_blocking(RootRequest::SetWeight { name: name.to_owned(), weight })
            .map(drop)
    }

    fn change_moves(&self, change: MoveSetting) -> Result<(), Error> {
        self.node.calls.ask_root_blocking(RootRequest::ChangeMoves { change })?;
        if self.node.calls.root.is_none() {
            // The root's next heartbeat would tell it; the caller may look before.
            self.node.membership.learn_setting(change);
        }
        Ok(())
    }

    fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error> {
        let request = RootRequest::SequenceNext { sequence: sequence.clone(), count };
        match self.node.calls.ask_root_blocking(request)? {
            RootAnswer::Value(Some(value)) => Ok(value),
            other => Err(unexpected(&other)),
        }
    }

    fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error> {
        let request = RootRequest::SequenceSet { sequence: sequence.clone(), last, called };
        self.node.calls.ask_root_blocking(request).map(drop)
    }

    fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error> {
        match self
            .node
            .calls
            .ask_root_blocking(RootRequest::SequenceLast { sequence: sequence.clone() })?
        {
            RootAnswer::Value(value) => Ok(value),
            other => Err(unexpected(&other)),
        }
    }
}
