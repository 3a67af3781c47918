//! Collations of the keys of aggregates.

use crate::tree::{FuncCall, Node, NodeEnum};

/// Whether a call is ordered by a key with COLLATE, and has no argument with COLLATE, or the other way round. Such a key is no
/// argument of the call.
pub fn has_other_collation(call: &FuncCall) -> bool {
    let is_argument = |key: &Node| call.args.iter().any(|arg| is_collated(arg) == is_collated(key));
    !call.agg_order.iter().all(is_argument)
}

/// Whether an expression, or the one of a key, is COLLATE.
fn is_collated(node: &Node) -> bool {
    match &node.node {
        Some(NodeEnum::SortBy(sort)) => sort.node.as_deref().is_some_and(is_collated),
        node => matches!(node, Some(NodeEnum::CollateClause(_))),
    }
}
