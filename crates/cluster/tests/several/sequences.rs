//! Every value of a sequence is returned once, by whichever server.

use crate::support::World;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{CatalogChange, Relation, Sequence};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_server_gets_values_that_no_other_gets() {
    let world = World::of(3).await;
    let sequence = Sequence {
        id: world.sites[1].store.next_relation_id(),
        schema: "public".to_owned(),
        name: "s".to_owned(),
        start: 1,
        increment: 1,
        min: 1,
        max: i64::MAX,
        cycle: false,
        owned_by: None,
        comment: None,
    };
    let sequence = Arc::new(sequence);
    world
        .retried(1, async |transaction| {
            let create = CatalogChange::Create(Relation::Sequence(Arc::clone(&sequence)));
            transaction.change_catalog(create)
        })
        .await;
    let mut tasks = tokio::task::JoinSet::new();
    for site in &world.sites {
        let (store, sequence) = (Arc::clone(&site.store), Arc::clone(&sequence));
        let take = move || (0..100).map(|_| store.sequence_next(&sequence, 1)).collect::<Vec<_>>();
        tasks.spawn_blocking(take);
    }
    let mut values = BTreeSet::new();
    while let Some(taken) = tasks.join_next().await {
        for value in taken.expect("no panic") {
            assert!(values.insert(value.expect("the root is there")), "given twice");
        }
    }
    assert_eq!(values, (1..=300).collect(), "nothing was asked for in vain, so there are no gaps");
    let (store, sequence) = (Arc::clone(&world.sites[2].store), Arc::clone(&sequence));
    let set = move || {
        store.sequence_set(&sequence, 1000, true)?;
        Ok((store.sequence_last(&sequence)?, store.sequence_next(&sequence, 1)?))
    };
    let set: Result<_, store::Error> = tokio::task::spawn_blocking(set).await.expect("no panic");
    assert_eq!(set.expect("the root is there"), (Some(1000), 1001));
}
