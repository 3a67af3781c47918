//! A bundle as bytes: what is to be scanned, the rows that the owner needs for joins, and the operators.
//!
//! Plans are in the engine's own form (protocol buffers), the rest around them in ours. Both servers have the same
//! catalog at a snapshot, so that a table is known by its id and version; columns are positions in its definition.

use super::broadcast::{self, Broadcast};
use super::codec::Codec;
use super::portable::is_plain;
use crate::scan::bucket_scan::BucketScan;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use sdds::KeyRange;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::catalog::TableId;

/// Bytes of a bundle that is sent or received, at most.
const BYTES_MAX: usize = 64 << 20;

/// What crosses between servers.
#[derive(Serialize, Deserialize)]
pub(super) struct Bundle<'a> {
    /// How many servers have sent these ranges on.
    pub(super) hops: u8,
    table: u32,
    version: u32,
    pub(super) ranges: Vec<KeyRange>,
    /// The table's columns that are read.
    pub(super) read: Vec<usize>,
    /// Which of them come out.
    pub(super) output: Vec<usize>,
    pub(super) limit: Option<usize>,
    /// A filter above the scan, over the columns that are read, as a plan; `None` for every row.
    #[serde(borrow)]
    predicate: Option<&'a [u8]>,
    #[serde(borrow)]
    rows: Vec<&'a [u8]>,
    /// The operators.
    plan: &'a [u8],
}

/// A bundle with nothing in it that is not known yet: joins have their rows.
pub(super) struct Ready {
    plan: Arc<dyn ExecutionPlan>,
    rows: Vec<Vec<u8>>,
}

impl Ready {
    /// Takes the gathered rows out of a bundle, and everything that belongs to its running here.
    pub(super) async fn of(
        bundle: &Arc<dyn ExecutionPlan>,
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let mut rows = Vec::new();
        for node in broadcasts(bundle)? {
            if let Some(broadcast) = node.downcast_ref::<Broadcast>() {
                let gathered = broadcast.gathered(context).await?;
                rows.push(broadcast::to_bytes(broadcast, &gathered.batches)?);
            }
        }
        Ok(Self { plan: without_state(bundle)?, rows })
    }

    /// The bytes to send for some of the rows.
    pub(super) fn to_bytes(&self, hops: u8, ranges: &[KeyRange]) -> Result<Vec<u8>> {
        let Some(leaf) = scan_of(&self.plan)? else { return plan_err!("a bundle without a scan") };
        let Some(scan) = leaf.downcast_ref::<BucketScan>() else {
            return plan_err!("a bundle without a scan");
        };
        let codec = Codec::default();
        let plan = physical_plan_to_bytes_with_extension_codec(Arc::clone(&self.plan), &codec)?;
        let predicate = match predicate(scan)? {
            Some(predicate) => {
                let none: Arc<dyn ExecutionPlan> =
                    Arc::new(EmptyExec::new(Arc::clone(&scan.read_schema)));
                let filter = Arc::new(FilterExec::try_new(predicate, none)?);
                Some(physical_plan_to_bytes_with_extension_codec(filter, &codec)?)
            }
            None => None,
        };
        let bundle = Bundle {
            hops,
            table: scan.table.id.0,
            version: scan.table.version,
            ranges: ranges.to_vec(),
            read: scan.read.clone(),
            output: scan.output.clone(),
            limit: scan.limit,
            predicate: predicate.as_deref(),
            rows: self.rows.iter().map(Vec::as_slice).collect(),
            plan: &plan,
        };
        let bytes = postcard::to_stdvec(&bundle)
            .map_err(|error| DataFusionError::Plan(format!("a bundle has no form: {error}")))?;
        match bytes.len() <= BYTES_MAX {
            true => Ok(bytes),
            false => plan_err!("a bundle of {} bytes is larger than {BYTES_MAX}", bytes.len()),
        }
    }
}

/// The predicate of a scan, with what a join or a top-N has found until now.
fn predicate(scan: &BucketScan) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let mut all: Vec<_> = scan.predicate.iter().cloned().collect();
    if let Some(hint) = &scan.hint {
        let hint = snapshot_physical_expr(Arc::clone(hint))?;
        all.extend(split_conjunction(&hint).into_iter().filter(|part| is_plain(part)).cloned());
    }
    Ok((!all.is_empty()).then(|| conjunction(all)))
}

impl<'a> Bundle<'a> {
    /// A bundle from bytes of another server.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() > BYTES_MAX {
            return plan_err!("a bundle of {} bytes is larger than {BYTES_MAX}", bytes.len());
        }
        postcard::from_bytes(bytes)
            .map_err(|error| DataFusionError::Plan(format!("these bytes are no bundle: {error}")))
    }

    pub(super) fn table(&self) -> TableId {
        TableId(self.table)
    }

    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// The scan's predicate, over the columns that are read.
    pub(super) fn predicate(&self, context: &TaskContext) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let Some(bytes) = self.predicate else { return Ok(None) };
        let plan =
            physical_plan_from_bytes_with_extension_codec(bytes, context, &Codec::default())?;
        match plan.downcast_ref::<FilterExec>() {
            Some(filter) => Ok(Some(Arc::clone(filter.predicate()))),
            None => plan_err!("a bundle's predicate is no filter"),
        }
    }

    /// The operators over a scan.
    pub(super) fn plan(
        &self,
        scan: Arc<dyn ExecutionPlan>,
        context: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let codec = Codec { scan: Some(Arc::clone(&scan)) };
        let plan = physical_plan_from_bytes_with_extension_codec(self.plan, context, &codec)?;
        let mut rows = self.rows.iter();
        let plan = plan.transform_down(|node| {
            if Arc::ptr_eq(&node, &scan) {
                return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
            }
            if node.downcast_ref::<EmptyExec>().is_some() {
                let Some(bytes) = rows.next() else {
                    return plan_err!("rows of a bundle are missing");
                };
                let batches = broadcast::from_bytes(bytes)?;
                let rows = MemorySourceConfig::try_new_exec(&[batches], node.schema(), None)?;
                return Ok(Transformed::new(rows, true, TreeNodeRecursion::Jump));
            }
            match is_operator(node.as_ref()) {
                true => Ok(Transformed::no(node)),
                false => plan_err!("{} cannot be part of a bundle", node.name()),
            }
        })?;
        Ok(plan.data)
    }
}

/// Whether bundles have such an operator.
fn is_operator(node: &dyn ExecutionPlan) -> bool {
    node.downcast_ref::<FilterExec>().is_some()
        || node.downcast_ref::<ProjectionExec>().is_some()
        || node.downcast_ref::<LocalLimitExec>().is_some()
        || node.downcast_ref::<AggregateExec>().is_some()
        || node.downcast_ref::<SortExec>().is_some()
        || node.downcast_ref::<HashJoinExec>().is_some()
}

/// The places of gathered rows, from the root on.
fn broadcasts(bundle: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let mut found = Vec::new();
    bundle.apply(|node| {
        Ok(match node.downcast_ref::<Broadcast>() {
            Some(_) => {
                found.push(Arc::clone(node));
                TreeNodeRecursion::Jump
            }
            None => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(found)
}

/// Bytes of the rows that have been gathered for a bundle.
pub(super) async fn gathered_bytes(
    bundle: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> Result<usize> {
    let mut bytes = 0;
    for node in broadcasts(bundle)? {
        if let Some(broadcast) = node.downcast_ref::<Broadcast>() {
            bytes += broadcast.gathered(context).await?.bytes;
        }
    }
    Ok(bytes)
}

/// The same operators, empty where rows are gathered, and knowing nothing of their running here.
fn without_state(bundle: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = Arc::clone(bundle).transform_down(|node| {
        if node.downcast_ref::<Broadcast>().is_some() {
            let empty = Arc::new(EmptyExec::new(node.schema())) as Arc<dyn ExecutionPlan>;
            return Ok(Transformed::new(empty, true, TreeNodeRecursion::Jump));
        }
        match node.children().is_empty() {
            true => Ok(Transformed::no(node)),
            false => Ok(Transformed::yes(node.reset_state()?)),
        }
    })?;
    Ok(plan.data)
}

/// The one scan of a bundle.
pub(super) fn scan_of(bundle: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let mut scan = None;
    bundle.apply(|node| {
        if node.downcast_ref::<BucketScan>().is_some() {
            scan = Some(Arc::clone(node));
        }
        Ok(match node.downcast_ref::<Broadcast>() {
            Some(_) => TreeNodeRecursion::Jump,
            None => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(scan)
}
