//! Colocated tables follow the table that they are colocated with.

use crate::support::World;
use store::catalog::{CatalogChange, Relation, Table, TableId};

/// A table that is colocated with another one.
async fn colocated_table(world: &World, other: TableId) -> TableId {
    let table = Table { colocate_with: Some(other), ..world.definition(0, "u") };
    let id = table.id;
    world
        .retried(0, async |transaction| {
            let create = CatalogChange::Create(Relation::Table(table.clone().into()));
            transaction.change_catalog(create)
        })
        .await;
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_where_the_keys_are_with_which_theirs_begin() {
    let mut world = World::of(3).await;
    let table = world.table(0, "t").await;
    let colocated = colocated_table(&world, table).await;
    let rows: Vec<(i64, i64)> = (0..3000).map(|key| (key, key)).collect();
    world.insert(0, table, &rows).await;
    // It has more rows on the right than the other table: without colocation its rows would be
    // elsewhere.
    let theirs: Vec<(i64, i64)> =
        (0..3000).filter(|k| k % 10 == 0 || *k > 2500).map(|k| (k, k)).collect();
    world.insert(1, colocated, &theirs).await;
    let is_spread = |world: &World| (0..3).all(|site| world.share(table, site) > 0.2);
    world.until("the table spreads", is_spread).await;
    let are_colocated = |world: &World| match (world.owners(table), world.owners(colocated)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    world.until("the other table is colocated", are_colocated).await;

    world.add(1).await;
    world.sites[0].cluster.set_weight("s1", 0).await.expect("there is such a server");
    world.until("a server is drained", |w| w.bytes(table)[1] == 0 && w.share(table, 3) > 0.2).await;
    world.until("the other table is colocated again", are_colocated).await;
    let keys: Vec<i64> = (0..3000).collect();
    for site in 0..4 {
        assert_eq!(world.read(site, colocated, &keys).await.len(), theirs.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_other_table_it_spreads_by_itself() {
    let world = World::of(2).await;
    let table = world.table(0, "t").await;
    let colocated = colocated_table(&world, table).await;
    let rows: Vec<(i64, i64)> = (0..2000).map(|key| (key, key)).collect();
    world.insert(0, colocated, &rows).await;
    world.settled(colocated).await;
    assert_eq!(world.bytes(colocated)[1], 0, "the other one has not moved");
    world
        .retried(0, async |transaction| {
            transaction.change_catalog(CatalogChange::Drop(table.relation()))
        })
        .await;
    world.until("it spreads", |world| world.share(colocated, 1) > 0.3).await;
}
