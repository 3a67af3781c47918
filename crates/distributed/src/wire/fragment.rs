//! A plan fragment as a message: what it reads, the rows that its joins need, and its operators.
//!
//! Plans are in the engine's own format (protocol buffers), the rest is in ours. Both servers have
//! the same catalog at a snapshot, so a table is identified by its id and version, and columns by
//! their positions in its definition.

use super::{Codec, rows::from_bytes};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;
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
use datafusion_proto::bytes::physical_plan_from_bytes_with_extension_codec;
use sdds::{KeyRange, ServerId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::ExchangeId;
use store::catalog::TableId;

/// Bytes of a fragment at most.
pub const BYTES_MAX: usize = 64 << 20;

/// Partitions of a fragment on one server at most.
const PARTITIONS_MAX: usize = 1 << 10;

/// The message.
#[derive(Serialize, Deserialize)]
pub(crate) struct Fragment<'a> {
    #[serde(borrow)]
    pub(crate) input: Input<'a>,
    /// The rows of each broadcast, in the order of the empty leaves that replace them.
    #[serde(borrow)]
    pub(crate) rows: Vec<&'a [u8]>,
    /// The exchange for which its rows are hash-partitioned. The first operator has the keys.
    pub(crate) exchange: Option<ExchangeId>,
    /// How its rows are stored for the fragment that runs next.
    pub(crate) store: Option<StoreAs>,
    /// The servers whose rows it reads, as far as the sender knows; the first of them receives the
    /// fragment.
    pub(crate) branch: Vec<ServerId>,
    /// Other servers that each server asks at most.
    pub(crate) fan_in: usize,
    /// Whether the server returns its metrics.
    pub(crate) is_measured: bool,
    /// The operators.
    pub(crate) plan: &'a [u8],
}

/// What a fragment reads.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Input<'a> {
    /// Rows of tables, by position of the leaf.
    #[serde(borrow)]
    Scans(Vec<Scan<'a>>),
    /// Parts of exchanges and their columns, by position of the leaf.
    Parts(Vec<(Parts, &'a [u8])>),
    /// The rows that another fragment has stored on the server.
    Stored(ExchangeId),
}

/// Rows of a table.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Scan<'a> {
    /// Number of servers that have forwarded these ranges.
    pub(crate) hops: u8,
    pub(crate) table: u32,
    pub(crate) version: u32,
    pub(crate) ranges: Vec<KeyRange>,
    /// The table's columns that are read.
    pub(crate) read: Vec<usize>,
    /// The positions in `read` of the columns that are returned.
    pub(crate) output: Vec<usize>,
    pub(crate) limit: Option<usize>,
    /// A filter over the columns that are read, as a plan; `None` for all rows.
    #[serde(borrow)]
    pub(crate) predicate: Option<&'a [u8]>,
    /// What is known of a dynamic filter, likewise. The operators above check it again.
    #[serde(borrow)]
    pub(crate) hint: Option<&'a [u8]>,
}

/// One server's parts of an exchange.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) exchange: ExchangeId,
    /// The servers that produce its rows.
    pub(crate) producers: Vec<ServerId>,
    /// The part that the first partition reads; the others follow.
    pub(crate) first: u32,
    /// Number of parts; each is read by one partition.
    pub(crate) partitions: u32,
}

/// How a server stores the rows of a fragment.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct StoreAs {
    /// The name of the rows.
    pub(crate) id: ExchangeId,
    /// Bytes that are kept in memory at most.
    pub(crate) bytes_max: usize,
}

impl<'a> Fragment<'a> {
    /// Reads a fragment.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() > BYTES_MAX {
            return plan_err!("a fragment of {} bytes is larger than {BYTES_MAX}", bytes.len());
        }
        postcard::from_bytes(bytes).map_err(|error| {
            DataFusionError::Plan(format!("the bytes are not a fragment: {error}"))
        })
    }

    /// The bytes of the same fragment for other rows of its only table.
    pub(crate) fn forwarded(
        &self,
        ranges: Vec<KeyRange>,
        hops: u8,
        branch: Vec<ServerId>,
    ) -> Result<Vec<u8>> {
        let input = match &self.input {
            Input::Scans(scans) if scans.len() == 1 => {
                Input::Scans(vec![Scan { ranges, hops, ..scans[0].clone() }])
            }
            _ => return plan_err!("a fragment of several tables cannot be forwarded"),
        };
        Fragment { input, branch, rows: self.rows.clone(), exchange: None, store: None, ..*self }
            .to_bytes()
    }

    /// Writes the fragment.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = postcard::to_stdvec(self).map_err(|error| {
            DataFusionError::Plan(format!("a fragment cannot be serialized: {error}"))
        })?;
        if bytes.len() <= BYTES_MAX {
            Ok(bytes)
        } else {
            plan_err!("a fragment of {} bytes is larger than {BYTES_MAX}", bytes.len())
        }
    }

    /// The operators over these leaves. If the rows are hash-partitioned for an exchange, the root
    /// is the repartitioning.
    pub(crate) fn plan(
        &self,
        leaves: Vec<Arc<dyn ExecutionPlan>>,
        context: &Arc<TaskContext>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let codec = Codec::reading(leaves, context);
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
                let (_, batches) = from_bytes(bytes)?;
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
    pub(crate) fn table(&self) -> TableId {
        TableId(self.table)
    }

    /// The scan's predicate, over the columns that are read.
    pub(crate) fn predicate(
        &self,
        context: &Arc<TaskContext>,
    ) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        self.predicate.map(|bytes| filter_of(bytes, context)).transpose()
    }

    /// What is known of the scan's dynamic filter, over the columns that are read. The scan takes it as a dynamic filter that
    /// does not change: it stops to filter rows if most of them pass.
    pub(crate) fn hint(&self, context: &Arc<TaskContext>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let Some(bytes) = self.hint else { return Ok(None) };
        let known = filter_of(bytes, context)?;
        let columns = collect_columns(&known).into_iter();
        let columns = columns.map(|column| Arc::new(column) as Arc<dyn PhysicalExpr>).collect();
        Ok(Some(Arc::new(DynamicFilterPhysicalExpr::new(columns, known))))
    }
}

/// The predicate of a filter that was written as a plan.
fn filter_of(bytes: &[u8], context: &Arc<TaskContext>) -> Result<Arc<dyn PhysicalExpr>> {
    let codec = Codec::reading(Vec::new(), context);
    let plan = physical_plan_from_bytes_with_extension_codec(bytes, context, &codec)?;
    match plan.downcast_ref::<FilterExec>() {
        Some(filter) => Ok(Arc::clone(filter.predicate())),
        None => plan_err!("a fragment's predicate is not a filter"),
    }
}

/// Whether a fragment may contain the operator.
fn is_operator(node: &dyn ExecutionPlan) -> bool {
    node.downcast_ref::<FilterExec>().is_some()
        || node.downcast_ref::<ProjectionExec>().is_some()
        || node.downcast_ref::<LocalLimitExec>().is_some()
        || node.downcast_ref::<AggregateExec>().is_some()
        || node.downcast_ref::<SortExec>().is_some()
        || node.downcast_ref::<HashJoinExec>().is_some()
        || node.downcast_ref::<RepartitionExec>().is_some_and(repartitions_locally)
}

/// Whether rows are hash-partitioned within one server.
fn repartitions_locally(repartition: &RepartitionExec) -> bool {
    matches!(repartition.partitioning(), Partitioning::Hash(_, 1..=PARTITIONS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_have_their_bytes() {
        let exchange = ExchangeId { coordinator: ServerId(1), number: 300 };
        let scan = Scan {
            hops: 1,
            table: 5,
            version: 2,
            ranges: vec![KeyRange::all()],
            read: vec![0, 3],
            output: vec![1],
            limit: Some(9),
            predicate: Some(&[7]),
            hint: None,
        };
        let producers = vec![ServerId(2)];
        let parts = Parts { exchange, producers, first: 4, partitions: 2 };
        // What follows the input: rows, exchange, store, branch, fan-in, measured, plan.
        let rest = [1, 2, 8, 9, 1, 1, 172, 2, 1, 1, 172, 2, 128, 1, 2, 1, 2, 16, 1, 1, 6];
        for (input, expected) in [
            (
                Input::Scans(vec![scan]),
                vec![0, 1, 1, 5, 2, 1, 0, 2, 2, 0, 3, 1, 1, 1, 9, 1, 1, 7, 0],
            ),
            (Input::Parts(vec![(parts, &[7])]), vec![1, 1, 1, 172, 2, 1, 2, 4, 2, 1, 7]),
            (Input::Stored(exchange), vec![2, 1, 172, 2]),
        ] {
            let fragment = Fragment {
                input,
                rows: vec![&[8, 9]],
                exchange: Some(exchange),
                store: Some(StoreAs { id: exchange, bytes_max: 128 }),
                branch: vec![ServerId(1), ServerId(2)],
                fan_in: 16,
                is_measured: true,
                plan: &[6],
            };
            let bytes = fragment.to_bytes().expect("written");
            assert_eq!(bytes, [&expected[..], &rest].concat());
            let back = Fragment::from_bytes(&bytes).expect("read");
            assert_eq!(back.to_bytes().expect("written"), bytes);
        }
    }
}
