//! Changes of the catalog on all servers, also while rows move and servers join.

use crate::support::{World, batch, is_transient, read_of};
use sdds::GroupId;
use std::sync::Arc;
use store::catalog::{CatalogChange, Column, ColumnId, Relation, RelationId, SqlType, TableId};

const ROWS: i64 = 1200;

/// A table of which half is moving to a second server.
async fn on_the_move() -> (World, TableId) {
    let mut world = World::of(1).await;
    let table = world.table(0, "t").await;
    let rows: Vec<(i64, i64)> = (0..ROWS).map(|key| (key, key)).collect();
    world.insert(0, table, &rows).await;
    world.add(1).await;
    world.until("rows move", |world| world.bytes(table)[1] > 0).await;
    (world, table)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_emptied_on_all_servers() {
    let (world, table) = on_the_move().await;
    let keys: Vec<i64> = (0..ROWS).collect();
    world.retried(1, async |t| t.change_catalog(CatalogChange::Truncate(table))).await;
    for site in 0..2 {
        assert_eq!(world.read(site, table, &keys).await.len(), 0);
    }
    world.insert(1, table, &[(5, 6), (1100, 7)]).await;
    world.settled(table).await;
    for site in 0..2 {
        assert_eq!(world.read(site, table, &keys).await.len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_dropped_on_all_servers() {
    let (world, table) = on_the_move().await;
    world.retried(1, async |t| t.change_catalog(CatalogChange::Drop(RelationId(table.0)))).await;
    let is_gone = |world: &World| {
        let knows = |site: &crate::support::Site| site.store.catalog().table_by_id(table).is_some();
        !world.sites.iter().any(knows) && world.bytes(table) == [0, 0]
    };
    world.until("nobody knows it", is_gone).await;
    let again = world.table(1, "t").await;
    world.insert(0, again, &[(1, 2)]).await;
    assert_eq!(world.read(1, again, &[1]).await[&1], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_column_is_added_on_all_servers() {
    let (world, table) = on_the_move().await;
    let added = Column {
        id: ColumnId(2),
        name: "more".to_owned(),
        sql_type: SqlType::BigInt,
        nullable: true,
        default: None,
        identity: None,
        generated: None,
        hidden: false,
        missing: None,
        comment: None,
    };
    world
        .retried(1, async |transaction| {
            let known = transaction.catalog().table_by_id(table).expect("it exists");
            let mut wider = store::catalog::Table::clone(known);
            wider.columns.push(added.clone());
            wider.next_column = 3;
            wider.version += 1;
            let change = CatalogChange::Replace(Relation::Table(Arc::new(wider)));
            transaction.change_catalog(change)
        })
        .await;
    let keys: Vec<i64> = (0..ROWS).collect();
    for site in 0..2 {
        assert_eq!(world.read(site, table, &keys).await.len() as i64, ROWS);
        let catalog = world.sites[site].store.catalog();
        assert_eq!(catalog.table_by_id(table).expect("it exists").columns.len(), 3);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_transaction_has_changed_is_seen_by_it_on_all_servers_and_undone_with_a_savepoint() {
    let (world, table) = on_the_move().await;
    world.settled(table).await;
    let keys: Vec<i64> = (0..ROWS).collect();
    let mut transaction = world.sites[1].store.begin_distributed().await.expect("reachable");
    let savepoint = transaction.savepoint();
    transaction.change_catalog(CatalogChange::Truncate(table)).expect("it exists");
    let seen = read_of(&transaction.reading(), table, &keys).await.expect("readable");
    assert_eq!(seen.len(), 0, "emptied, on both servers");
    transaction.insert(table, &batch(&[(3, 33), (1190, 34)])).await.expect("written");
    let seen = read_of(&transaction.reading(), table, &keys).await.expect("readable");
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(3, 33), (1190, 34)]);
    transaction.rollback_to(&savepoint).await.expect("reachable");
    let seen = read_of(&transaction.reading(), table, &keys).await.expect("readable");
    assert_eq!(seen.len() as i64, ROWS, "as before");
    let definition = world.definition(1, "other");
    let other = definition.id;
    let create = CatalogChange::Create(Relation::Table(Arc::new(definition)));
    transaction.change_catalog(create).expect("a new name");
    transaction.insert(other, &batch(&[(1, 1)])).await.expect("written");
    transaction.upsert(table, &batch(&[(3, 35), (1190, 36)])).await.expect("written");
    transaction.commit().await.expect("nobody else is there");
    assert_eq!(world.read(0, other, &[1]).await[&1], 1);
    let rows = world.read(0, table, &keys).await;
    assert_eq!((rows.len() as i64, rows[&3], rows[&1190]), (ROWS, 35, 36));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_joins_meanwhile_knows_every_table() {
    let mut world = World::of(2).await;
    let definitions: Vec<_> =
        (0..40).map(|n| world.definition((n % 2) as usize, &format!("t{n}"))).collect();
    let stores: Vec<_> = world.sites.iter().map(|site| Arc::clone(&site.store)).collect();
    let ids: Vec<TableId> = definitions.iter().map(|table| table.id).collect();
    let creating = tokio::spawn(async move {
        for definition in definitions {
            let store = &stores[usize::from(definition.home == GroupId(1))];
            loop {
                let mut transaction = store.begin_distributed().await.expect("reachable");
                let table = Relation::Table(Arc::new(definition.clone()));
                transaction.change_catalog(CatalogChange::Create(table)).expect("a new name");
                match transaction.commit().await {
                    Ok(_) => break,
                    Err(error) => assert!(is_transient(&error), "{error}"),
                }
            }
        }
    });
    for _ in 0..4 {
        world.add(1).await;
    }
    creating.await.expect("every table is made");
    for site in 0..6 {
        for id in &ids {
            world.insert(site, *id, &[(site as i64, 1)]).await;
        }
    }
    for site in 0..6 {
        for id in &ids {
            assert_eq!(world.read(site, *id, &[0, 1, 2, 3, 4, 5]).await.len(), 6);
        }
    }
}
