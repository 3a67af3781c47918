//! A fragment as bytes: what is to be read, the rows that are needed for joins, and the operators.
//!
//! Plans are in the engine's own form (protocol buffers), the rest around them in ours. Both servers have the same
//! catalog at a snapshot, so that a table is known by its id and version; columns are positions in its definition.

use super::broadcast::{self, Broadcast};
use super::codec::Codec;
use super::exchange::Exchange;
use super::metrics::Measuring;
use super::reader::{ExchangeReader, Parts};
use super::storing::StoreAs;
use crate::bundles::Stored;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use scan::bucket_scan::BucketScan;
use scan::portable::is_plain;
use sdds::{GroupId, KeyRange};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::Arc;
use store::ExchangeId;
use store::catalog::TableId;

/// Bytes of a fragment that is sent or received, at most.
pub const BYTES_MAX: usize = 64 << 20;

/// Partitions that a server's work is divided into for another one, at most.
const PARTITIONS_MAX: usize = 1 << 10;

/// What crosses between servers.
#[derive(Serialize, Deserialize)]
pub(super) struct Fragment<'a> {
    #[serde(borrow)]
    pub(super) input: Input<'a>,
    #[serde(borrow)]
    rows: Vec<&'a [u8]>,
    /// Where its rows are dealt out instead of sent back. The first operator says how.
    pub(super) exchange: Option<ExchangeId>,
    /// Where its rows stay, for the fragment that runs next.
    pub(super) store: Option<StoreAs>,
    /// The servers whose rows it is for, as far as is known; the first of them is asked.
    pub(super) branch: Vec<GroupId>,
    /// How many others each server may ask for theirs, at most.
    pub(super) fan_in: usize,
    /// Whether the server is to say what it has spent.
    pub(super) is_measured: bool,
    /// The operators.
    plan: &'a [u8],
}

/// What a fragment reads.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Input<'a> {
    /// Rows of tables, by place.
    #[serde(borrow)]
    Scans(Vec<Scan<'a>>),
    /// Parts of exchanges, by place, and the columns of each.
    Parts(Vec<(Parts, &'a [u8])>),
    /// The rows that another fragment has left there.
    Stored(ExchangeId),
}

/// Rows of a table.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Scan<'a> {
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
}

/// A server that is sent a fragment, and those whose rows it is to gather.
#[derive(Clone, Copy)]
pub(super) struct Branch<'a> {
    /// The one that is asked first.
    pub(super) servers: &'a [GroupId],
    pub(super) fan_in: usize,
}

impl Branch<'static> {
    /// A server that is to ask nobody.
    pub(super) const ALONE: Self = Self { servers: &[], fan_in: 0 };
}

/// How a fragment's rows are dealt out.
pub(super) struct HashPartitioning {
    pub(super) exchange: ExchangeId,
    pub(super) by: Vec<Arc<dyn PhysicalExpr>>,
    pub(super) parts: usize,
}

/// What becomes of a fragment's rows where it runs.
#[derive(Clone, Copy)]
pub(super) enum Output<'a> {
    /// They are sent to whoever has sent it.
    Sent,
    /// They are dealt out.
    HashPartitioned(&'a HashPartitioning),
    /// They stay.
    Stored(StoreAs),
}

/// An exchange, or rows of another fragment, that are there for a fragment to read; they are gone when this is.
pub(super) type Opened = Arc<dyn Any + Send + Sync>;

/// A fragment with nothing in it that is not known yet: joins have their rows, exchanges run, and fragments below have run.
pub(super) struct Ready {
    plan: Arc<dyn ExecutionPlan>,
    rows: Vec<Vec<u8>>,
    /// By place.
    readers: Vec<Arc<ExchangeReader>>,
    /// The rows of another fragment that it reads.
    stored: Option<ExchangeId>,
    is_measured: bool,
    pub(super) opened: Vec<Opened>,
}

impl Ready {
    /// Takes the gathered rows out of a fragment, and everything that belongs to its running here, for one of those that run
    /// it.
    pub(super) async fn of(
        fragment: &Arc<dyn ExecutionPlan>,
        consumer: usize,
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let (mut rows, mut readers, mut all) = (Vec::new(), Vec::new(), Vec::<Opened>::new());
        let mut stored = None;
        for node in leaves(fragment)? {
            if let Some(broadcast) = node.downcast_ref::<Broadcast>() {
                let gathered = broadcast.gathered(context).await?;
                rows.push(broadcast::to_bytes(&broadcast.schema(), &gathered.batches)?);
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

    /// The bytes to send: for these rows of each table that it scans, and how often they will have been sent on.
    pub(super) fn to_bytes(
        &self,
        ranges: &[(Vec<KeyRange>, u8)],
        branch: Branch<'_>,
        output: Output<'_>,
    ) -> Result<Vec<u8>> {
        let codec = Codec { leaves: scans_of(&self.plan)? };
        let to_bytes = |plan| physical_plan_to_bytes_with_extension_codec(plan, &codec);
        let scans = codec.leaves.iter().filter_map(|leaf| leaf.downcast_ref::<BucketScan>());
        let scans: Vec<&BucketScan> = scans.collect();
        let mut predicates = Vec::with_capacity(scans.len());
        for scan in &scans {
            predicates.push(match predicate(scan)? {
                Some(predicate) => {
                    let none = Arc::new(EmptyExec::new(Arc::clone(&scan.read_schema)));
                    Some(to_bytes(Arc::new(FilterExec::try_new(predicate, none)?))?)
                }
                None => None,
            });
        }
        let schemas = self.readers.iter().map(|reader| broadcast::to_bytes(&reader.schema(), &[]));
        let schemas = schemas.collect::<Result<Vec<_>>>()?;
        let input = if let Some(rows) = self.stored {
            Input::Stored(rows)
        } else if scans.is_empty() {
            let parts = self.readers.iter().map(|reader| reader.parts.clone());
            Input::Parts(parts.zip(schemas.iter().map(Vec::as_slice)).collect())
        } else {
            let each = scans.iter().zip(ranges).zip(&predicates);
            let scans = each.map(|((scan, (ranges, hops)), predicate)| Scan {
                hops: *hops,
                table: scan.table.id.0,
                version: scan.table.version,
                ranges: ranges.clone(),
                read: scan.read.clone(),
                output: scan.output.clone(),
                limit: scan.limit,
                predicate: predicate.as_deref(),
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

/// The predicate of a scan, with what a join or a top-N has found until now.
fn predicate(scan: &BucketScan) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let mut all: Vec<_> = scan.predicate.iter().cloned().collect();
    if let Some(hint) = &scan.hint {
        let hint = snapshot_physical_expr(Arc::clone(hint))?;
        all.extend(split_conjunction(&hint).into_iter().filter(|part| is_plain(part)).cloned());
    }
    Ok((!all.is_empty()).then(|| conjunction(all)))
}

impl<'a> Fragment<'a> {
    /// A fragment from bytes of another server.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() > BYTES_MAX {
            return plan_err!("a fragment of {} bytes is larger than {BYTES_MAX}", bytes.len());
        }
        postcard::from_bytes(bytes)
            .map_err(|error| DataFusionError::Plan(format!("these bytes are no fragment: {error}")))
    }

    /// The bytes of the same fragment for other rows of the one table that it scans.
    pub(super) fn passed_on(
        &self,
        ranges: Vec<KeyRange>,
        hops: u8,
        branch: Vec<GroupId>,
    ) -> Result<Vec<u8>> {
        let input = match &self.input {
            Input::Scans(scans) if scans.len() == 1 => {
                Input::Scans(vec![Scan { ranges, hops, ..scans[0].clone() }])
            }
            _ => return plan_err!("a fragment of several tables cannot be sent on"),
        };
        Fragment { input, branch, rows: self.rows.clone(), exchange: None, store: None, ..*self }
            .to_bytes()
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = postcard::to_stdvec(self)
            .map_err(|error| DataFusionError::Plan(format!("a fragment has no form: {error}")))?;
        if bytes.len() <= BYTES_MAX {
            Ok(bytes)
        } else {
            plan_err!("a fragment of {} bytes is larger than {BYTES_MAX}", bytes.len())
        }
    }

    /// The operators over these leaves; where their rows are dealt out, the first one says how.
    pub(super) fn plan(
        &self,
        leaves: Vec<Arc<dyn ExecutionPlan>>,
        context: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let codec = Codec { leaves };
        let plan = physical_plan_from_bytes_with_extension_codec(self.plan, context, &codec)?;
        let mut rows = self.rows.iter();
        let root = Arc::clone(&plan);
        let plan = plan.transform_down(|node| {
            if codec.leaves.iter().any(|leaf| Arc::ptr_eq(&node, leaf)) {
                return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
            }
            if node.downcast_ref::<EmptyExec>().is_some() {
                let Some(bytes) = rows.next() else {
                    return plan_err!("rows of a fragment are missing");
                };
                let (_, batches) = broadcast::from_bytes(bytes)?;
                let rows = MemorySourceConfig::try_new_exec(&[batches], node.schema(), None)?;
                return Ok(Transformed::new(rows, true, TreeNodeRecursion::Jump));
            }
            if node.downcast_ref::<PlaceholderRowExec>().is_some() {
                return match (&self.input, &codec.leaves[..]) {
                    (Input::Stored(_), [stored]) if stored.schema() == node.schema() => {
                        let stored = Arc::clone(stored);
                        Ok(Transformed::new(stored, true, TreeNodeRecursion::Jump))
                    }
                    _ => plan_err!("a fragment does not fit the rows that it reads"),
                };
            }
            let repartitions = self.exchange.is_some()
                && Arc::ptr_eq(&node, &root)
                && node.downcast_ref::<RepartitionExec>().is_some();
            if repartitions || is_operator(node.as_ref()) {
                Ok(Transformed::no(node))
            } else {
                plan_err!("{} cannot be part of a fragment", node.name())
            }
        })?;
        Ok(plan.data)
    }
}

impl Scan<'_> {
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
            None => plan_err!("a fragment's predicate is no filter"),
        }
    }
}

/// Whether fragments have such an operator.
fn is_operator(node: &dyn ExecutionPlan) -> bool {
    node.downcast_ref::<FilterExec>().is_some()
        || node.downcast_ref::<ProjectionExec>().is_some()
        || node.downcast_ref::<LocalLimitExec>().is_some()
        || node.downcast_ref::<AggregateExec>().is_some()
        || node.downcast_ref::<SortExec>().is_some()
        || node.downcast_ref::<HashJoinExec>().is_some()
        || node.downcast_ref::<RepartitionExec>().is_some_and(repartitions_locally)
}

/// Whether rows are dealt out to a few partitions by a hash.
fn repartitions_locally(repartition: &RepartitionExec) -> bool {
    matches!(repartition.partitioning(), Partitioning::Hash(_, 1..=PARTITIONS_MAX))
}

/// Whether an operator brings rows of other operators to a fragment.
pub fn carries_rows(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.downcast_ref::<Broadcast>().is_some() || node.downcast_ref::<Exchange>().is_some()
}

/// Whether a fragment goes on below one of its operators: not below gathered rows, nor below an exchange, nor below the
/// rows of another fragment.
pub(super) fn below(node: &Arc<dyn ExecutionPlan>) -> TreeNodeRecursion {
    if carries_rows(node) || node.downcast_ref::<Stored>().is_some() {
        TreeNodeRecursion::Jump
    } else {
        TreeNodeRecursion::Continue
    }
}

/// The places of gathered rows, of exchanges and of stored rows, from the root on.
fn leaves(fragment: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let mut found = Vec::new();
    fragment.apply(|node| {
        let next = below(node);
        if next == TreeNodeRecursion::Jump {
            found.push(Arc::clone(node));
        }
        Ok(next)
    })?;
    Ok(found)
}

/// Bytes of the rows that have been gathered for a fragment.
pub(super) async fn gathered_bytes(
    fragment: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> Result<usize> {
    let mut bytes = 0;
    for node in leaves(fragment)? {
        if let Some(broadcast) = node.downcast_ref::<Broadcast>() {
            bytes += broadcast.gathered(context).await?.bytes;
        }
    }
    Ok(bytes)
}

/// The same operators, empty where rows are gathered, with readers of exchanges in their places and one that stands for stored
/// rows, and knowing nothing of their running here.
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

/// The scans of a fragment, from the root on.
fn scans_of(fragment: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let mut found = Vec::new();
    fragment.apply(|node| {
        if node.downcast_ref::<BucketScan>().is_some() {
            found.push(Arc::clone(node));
        }
        Ok(below(node))
    })?;
    Ok(found)
}

/// The innermost of a fragment's operators that cannot run elsewhere than its input is: the scan of a table, the join of
/// tables that lie together, or what is right above exchanges.
pub(super) fn core_of(fragment: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let mut core = fragment;
    loop {
        let is_gathered =
            |child: &&Arc<dyn ExecutionPlan>| child.downcast_ref::<Broadcast>().is_some();
        let mut inputs = core.children().into_iter().filter(|child| !is_gathered(child));
        match (inputs.next(), inputs.next()) {
            (Some(input), None) if input.downcast_ref::<Exchange>().is_none() => core = input,
            _ => return Arc::clone(core),
        }
    }
}
