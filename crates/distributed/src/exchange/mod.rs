//! Rows of other operators for a fragment: an [`Exchange`] hash-partitions them among servers, a
//! [`Broadcast`] sends all of them to every server.

mod broadcast;
mod exchanges;
mod operator;
mod produce;
mod queues;
mod reader;

pub(crate) use broadcast::Broadcast;
pub use exchanges::Exchanges;
pub(crate) use operator::Exchange;
pub(crate) use produce::produce;
pub(crate) use reader::ExchangeReader;

use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Whether an operator brings rows of other operators to a fragment.
pub(crate) fn carries_rows(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.downcast_ref::<Broadcast>().is_some() || node.downcast_ref::<Exchange>().is_some()
}
