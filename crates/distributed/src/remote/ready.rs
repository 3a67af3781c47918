//! Preparation of a fragment for another server: its leaves are opened, and its operators are
//! written as bytes.

use super::leaves::{leaves_of, scans_of};
use crate::boundary::Stored;
use crate::exchange::{Broadcast, Exchange, ExchangeReader};
use crate::metrics::Measuring;
use crate::shipped::KeepAlive;
use crate::wire::Codec;
use crate::wire::fragment::{Fragment, Input, Scan};
use crate::wire::output::{Branch, Output};
use crate::wire::rows;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion_proto::bytes::physical_plan_to_bytes_with_extension_codec;
use scan::bucket_scan::BucketScan;
use scan::portable::is_plain;
use sdds::KeyRange;
use std::sync::Arc;
use store::ExchangeId;

/// A fragment that can be sent: the rows of its broadcasts are computed, its exchanges are open,
/// and the fragments below have run.
pub(crate) struct Ready {
    plan: Arc<dyn ExecutionPlan>,
    /// The rows of each broadcast.
    rows: Vec<Vec<u8>>,
    /// The readers of its exchanges, by place.
    readers: Vec<Arc<ExchangeReader>>,
    /// The stored rows that it reads.
    stored: Option<ExchangeId>,
    is_measured: bool,
    /// The exchanges and stored rows.
    pub(super) opened: Vec<KeepAlive>,
}

impl Ready {
    /// Prepares a fragment for one of its servers; `consumer` is that server's position among the
    /// participants.
    pub(crate) async fn of(
        fragment: &Arc<dyn ExecutionPlan>,
        consumer: usize,
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let (mut rows, mut readers, mut all) = (Vec::new(), Vec::new(), Vec::<KeepAlive>::new());
        let mut stored = None;
        for node in leaves_of(fragment)? {
            if let Some(broadcast) = node.downcast_ref::<Broadcast>() {
                let gathered = broadcast.gathered(context).await?;
                rows.push(rows::to_bytes(&broadcast.schema(), &gathered.batches)?);
            } else if let Some(exchange) = node.downcast_ref::<Exchange>() {
                let opened = exchange.opened(context).await?;
                let reader = exchange.reader(&opened, consumer, readers.len() as u32);
                readers.push(Arc::new(reader));
                all.push(opened);
            } else if let Some(boundary) = node.downcast_ref::<Stored>() {
                let opened = boundary.opened(context).await?;
                stored = opened.rows_elsewhere.map(|rows| rows.id);
                all.push(opened);
            }
        }
        let plan = without_state(fragment, &readers)?;
        let is_measured = Measuring::is_on(context);
        Ok(Self { plan, rows, readers, stored, is_measured, opened: all })
    }

    /// The bytes to send. `ranges` are those of each table that it scans, with the number of their
    /// hops.
    pub(crate) fn to_bytes(
        &self,
        ranges: &[(Vec<KeyRange>, u8)],
        branch: Branch<'_>,
        output: Output<'_>,
    ) -> Result<Vec<u8>> {
        let mut leaves = scans_of(&self.plan)?;
        leaves.extend(self.readers.iter().map(|reader| Arc::clone(reader) as _));
        let codec = Codec::writing(leaves);
        let to_bytes = |plan| physical_plan_to_bytes_with_extension_codec(plan, &codec);
        let scans = codec.leaves.iter().filter_map(|leaf| leaf.downcast_ref::<BucketScan>());
        let scans: Vec<&BucketScan> = scans.collect();
        let filters = |scan: &&BucketScan| {
            let to_bytes = |filter| {
                let none = Arc::new(EmptyExec::new(Arc::clone(&scan.read_schema)));
                to_bytes(Arc::new(FilterExec::try_new(filter, none)?))
            };
            let predicate = scan.predicate.clone().map(to_bytes).transpose()?;
            Ok((predicate, known_hint(scan)?.map(to_bytes).transpose()?))
        };
        let filters = scans.iter().map(filters).collect::<Result<Vec<_>>>()?;
        let schemas = self.readers.iter().map(|reader| rows::to_bytes(&reader.schema(), &[]));
        let schemas = schemas.collect::<Result<Vec<_>>>()?;
        let input = if let Some(rows) = self.stored {
            Input::Stored(rows)
        } else if scans.is_empty() {
            let parts = self.readers.iter().map(|reader| reader.parts.clone());
            Input::Parts(parts.zip(schemas.iter().map(Vec::as_slice)).collect())
        } else {
            let each = scans.iter().zip(ranges).zip(&filters);
            let scans = each.map(|((scan, (ranges, hops)), (predicate, hint))| Scan {
                hops: *hops,
                table: scan.table.id.0,
                version: scan.table.version,
                ranges: ranges.clone(),
                read: scan.read.clone(),
                output: scan.output.clone(),
                limit: scan.limit,
                predicate: predicate.as_deref(),
                hint: hint.as_deref(),
            });
            Input::Scans(scans.collect())
        };
        let (mut plan, mut exchange, mut store) = (Arc::clone(&self.plan), None, None);
        match output {
            Output::Sent => {}
            Output::HashPartitioned(hash) => {
                let partitioning = Partitioning::Hash(hash.by.clone(), hash.parts);
                plan = Arc::new(RepartitionExec::try_new(plan, partitioning)?);
                exchange = Some(hash.exchange);
            }
            Output::Stored(rows) => store = Some(rows),
        }
        let plan = to_bytes(plan)?;
        let fragment = Fragment {
            input,
            rows: self.rows.iter().map(Vec::as_slice).collect(),
            exchange,
            store,
            branch: branch.servers.to_vec(),
            fan_in: branch.fan_in,
            is_measured: self.is_measured,
            plan: &plan,
        };
        fragment.to_bytes()
    }
}

/// The present state of a scan's dynamic filter, as far as it compares columns with constants.
fn known_hint(scan: &BucketScan) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let Some(hint) = &scan.hint else { return Ok(None) };
    let hint = snapshot_physical_expr(Arc::clone(hint))?;
    let parts = split_conjunction(&hint).into_iter().filter(|part| is_plain(part));
    let known: Vec<_> = parts.filter(|part| !is_true(part)).cloned().collect();
    Ok((!known.is_empty()).then(|| conjunction(known)))
}

fn is_true(expression: &Arc<dyn PhysicalExpr>) -> bool {
    let literal = expression.downcast_ref::<Literal>();
    literal.is_some_and(|literal| *literal.value() == ScalarValue::Boolean(Some(true)))
}

/// The operators without their state on this server. An empty leaf replaces a broadcast, a reader
/// replaces an exchange, and a placeholder replaces stored rows.
fn without_state(
    fragment: &Arc<dyn ExecutionPlan>,
    readers: &[Arc<ExchangeReader>],
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut readers = readers.iter();
    let plan = Arc::clone(fragment).transform_down(|node| {
        if node.downcast_ref::<Broadcast>().is_some() {
            let empty = Arc::new(EmptyExec::new(node.schema())) as Arc<dyn ExecutionPlan>;
            return Ok(Transformed::new(empty, true, TreeNodeRecursion::Jump));
        }
        if node.downcast_ref::<Exchange>().is_some() {
            let Some(reader) = readers.next() else {
                return plan_err!("an exchange of a fragment has no reader");
            };
            let reader = Arc::clone(reader) as Arc<dyn ExecutionPlan>;
            return Ok(Transformed::new(reader, true, TreeNodeRecursion::Jump));
        }
        if node.downcast_ref::<Stored>().is_some() {
            let place = Arc::new(PlaceholderRowExec::new(node.schema())) as Arc<dyn ExecutionPlan>;
            return Ok(Transformed::new(place, true, TreeNodeRecursion::Jump));
        }
        if node.children().is_empty() {
            Ok(Transformed::no(node))
        } else {
            Ok(Transformed::yes(node.reset_state()?))
        }
    })?;
    Ok(plan.data)
}
