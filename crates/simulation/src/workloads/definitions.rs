//! Changes of the catalog: a table is there on every server, or on none.

use super::bank::name_of;
use super::{Outcome, Stage};
use crate::rows;
use crate::world::{Running, World};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{CatalogChange, Relation, SqlType, TableId};

/// The workload.
#[derive(Default)]
pub(super) struct Definitions {
    history: Mutex<BTreeMap<String, Outcome>>,
    /// The tables of the first server that was checked.
    found: Mutex<Option<Vec<String>>>,
}

impl Definitions {
    /// Creates a table.
    pub(super) async fn create(&self, world: &World, server: &Running) {
        let name = {
            let mut history = self.history.lock();
            let name = format!("created{}", history.len());
            history.insert(name.clone(), Outcome::Unknown);
            name
        };
        let (store, stage) = (Arc::clone(server.store()), Stage::default());
        let (committing, id) = (stage.clone(), TableId(store.next_relation_id().0));
        let table = rows::definition(id, &name, SqlType::BigInt, store.group());
        let work = async move {
            let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
            let mut transaction = store.begin_distributed().await?;
            transaction.change_catalog(create)?;
            committing.commits();
            transaction.commit().await.map(drop)
        };
        let answer = world.on(server, work).await;
        let outcome = stage.outcome(&answer);
        world.event(name_of(outcome), || format!("table {name}"));
        self.history.lock().insert(name, outcome);
    }

    pub(super) fn check(&self, world: &World, server: &Running) {
        let catalog = server.store().catalog();
        let history = self.history.lock();
        let names = history.keys().filter(|name| catalog.relation("public", name).is_some());
        let names: Vec<String> = names.cloned().collect();
        for (name, outcome) in &*history {
            if let (Outcome::Done, false) | (Outcome::Failed, true) =
                (*outcome, names.contains(name))
            {
                world.violation(format!("on server {} table {name}: {outcome:?}", server.site));
            }
        }
        let mut found = self.found.lock();
        let first = found.get_or_insert_with(|| names.clone());
        if *first != names {
            world.violation(format!("tables on server {}: {names:?}, {first:?}", server.site));
        }
    }
}
