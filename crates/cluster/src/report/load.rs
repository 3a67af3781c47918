//! What this server stores of each table.

use crate::membership::{ServerLoad, TableLoad};
use crate::node::Node;
use store::Holdings;
use store::catalog::Relation;

/// What this server stores. Tables without buckets here are left out.
pub(crate) fn load(node: &Node) -> ServerLoad {
    let catalog = node.store.catalog();
    let shared = catalog.relations().filter(|relation| !relation.is_temporary());
    let tables = shared.filter_map(Relation::file).filter_map(|table| {
        let Holdings { buckets, rows, bytes } = node.store.holdings(table.id);
        let bucket_size = table.bucket_size;
        let accesses = node.store.accesses(table.id);
        let load = TableLoad { table: table.id, bytes, rows, buckets, accesses, bucket_size };
        (buckets > 0).then_some(load)
    });
    let newest = node.transactions.low_watermark.lock().oldest(None);
    let is_moving = node.moves.outgoing.is_moving();
    ServerLoad { tables: tables.collect(), is_moving, newest }
}
