//! Names in the parse tree.

use crate::error::{Error, Result};
use grammar::tree::{Node, NodeEnum};

/// The node of an optional field that the grammar always fills.
pub(super) fn node(node: Option<&Node>) -> Result<&NodeEnum> {
    node.and_then(|node| node.node.as_ref()).ok_or_else(|| Error::missing("this form"))
}

/// The text of a name's part.
pub(super) fn text(node: &Node) -> Option<&str> {
    match &node.node {
        Some(NodeEnum::String(string)) => Some(&string.sval),
        _ => None,
    }
}

/// The parts of a name.
pub(super) fn parts(nodes: &[Node]) -> Vec<&str> {
    nodes.iter().filter_map(text).collect()
}

/// A name with an optional schema, as functions and operators have them. Names of `pg_catalog` lose it.
pub(super) fn qualified(nodes: &[Node]) -> (Option<&str>, &str) {
    let parts = parts(nodes);
    match parts.as_slice() {
        [name] => (None, name),
        ["pg_catalog", name] => (None, name),
        [.., schema, name] => (Some(schema), name),
        [] => (None, ""),
    }
}
