//! Streams of rows from other servers.

use super::NodePeers;
use crate::calls::CallError;
use crate::timeouts::TIMEOUTS;
use arrow::array::RecordBatch;
use bytes::Bytes;
use futures::{StreamExt, stream};
use messages::{Reply, RowsAnswer, RowsRequest, batches, decode, unexpected};
use net::NetError;
use sdds::ServerId;
use std::collections::BTreeSet;
use store::catalog::TableId;
use store::{BatchStream, Delivery, Error, Reader};

impl NodePeers {
    /// Sends a plan fragment that arrives after `hops` hops.
    pub(super) fn send(
        &self,
        reader: &Reader,
        on: ServerId,
        fragment: Bytes,
        hops: u32,
        delivery: Delivery,
    ) -> BatchStream {
        let (reader, fragment) =
            (self.wire(reader, self.node.membership.group_of(on)), fragment.into());
        self.rows(on, RowsRequest::Run { reader, hops, fragment }, delivery)
    }

    /// The rows that a request to another server yields.
    pub(super) fn rows(
        &self,
        on: ServerId,
        request: RowsRequest,
        delivery: Delivery,
    ) -> BatchStream {
        let peers = self.clone();
        let called = async move {
            let calls = &peers.node.calls;
            let called = calls.stream(on, request, TIMEOUTS.run, net_delivery(delivery)).await;
            let (answers, name) = match called {
                Ok(called) => called,
                Err(error) => return stream::once(async { Err(error) }).boxed(),
            };
            let batches = answers.filter_map(move |answer| {
                let batch = peers.batch(answer, &name);
                async move { batch.transpose() }
            });
            batches.boxed()
        };
        stream::once(called).flatten().boxed()
    }

    /// The rows of another server in a system table.
    pub(super) async fn describe_at(
        &self,
        at: ServerId,
        name: &str,
    ) -> Result<Option<RecordBatch>, Error> {
        let request = RowsRequest::Describe { name: name.to_owned() };
        let called = self.node.calls.stream(at, request, TIMEOUTS.call, net::Delivery::Pushed);
        let (mut answers, server) = called.await?;
        let mut batches = Vec::new();
        while let Some(answer) = answers.next().await {
            batches.extend(self.batch(answer, &server)?);
        }
        let Some(first) = batches.first() else { return Ok(None) };
        Ok(Some(arrow::compute::concat_batches(&first.schema(), &batches)?))
    }

    /// Decodes one answer to a request for rows; `None` for an adjustment, which is applied.
    fn batch(
        &self,
        answer: Result<Bytes, NetError>,
        server: &str,
    ) -> Result<Option<RecordBatch>, Error> {
        let answer = answer.map_err(|error| Error::from(CallError::of(error, server)))?;
        match decode::<Reply<RowsAnswer>>(&answer)?? {
            RowsAnswer::Batch(batch) => Ok(Some(batches::read(&batch)?)),
            RowsAnswer::Adjustment(adjustment) => {
                let tables: BTreeSet<TableId> =
                    adjustment.entries.iter().map(|(table, _)| *table).collect();
                let mut rest = adjustment;
                for table in tables {
                    if let Ok(file) = self.node.files.by_id(table) {
                        self.view.learn(&file, rest.clone());
                        // Forwards are counted once.
                        rest.forwards = 0;
                    }
                }
                Ok(None)
            }
            other => Err(unexpected(&other)),
        }
    }
}

fn net_delivery(delivery: Delivery) -> net::Delivery {
    match delivery {
        Delivery::Pushed => net::Delivery::Pushed,
        Delivery::Pulled => net::Delivery::Pulled,
    }
}
