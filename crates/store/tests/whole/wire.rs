//! Values that are sent between servers survive serialization.

use super::*;
use crate::test_tables::every_type;
use arrow::error::ArrowError;
use catalog::{Catalog, Privileges, Role, Schema, Sequence, temporary_schema};
use sdds::{ServerId, Timestamp};
use store::Error;

fn sequence(id: u32, schema: &str) -> Sequence {
    Sequence {
        id: catalog::RelationId(id),
        schema: schema.to_owned(),
        name: "s".to_owned(),
        start: 1,
        increment: 1,
        min: 1,
        max: 9,
        cycle: false,
        owned_by: None,
        comment: None,
    }
}

/// A catalog with definitions of all kinds, including a temporary sequence.
fn catalog() -> Catalog {
    let (mut every, batch) = every_type();
    for (column, values) in every.columns.iter_mut().zip(batch.columns()) {
        column.missing = Some(values.slice(0, 1));
    }
    let temporary = temporary_schema(7);
    let mut role = Role::new("somebody");
    role.relations.insert(every.id.relation(), Privileges::SELECT);
    let changes = [
        CatalogChange::CreateSchema(Schema { name: temporary.clone(), comment: None }),
        CatalogChange::Create(Relation::Table(Arc::new(every))),
        CatalogChange::Create(Relation::Sequence(Arc::new(sequence(2, "public")))),
        CatalogChange::Create(Relation::Sequence(Arc::new(sequence(3, &temporary)))),
        CatalogChange::PutRole(role),
    ];
    changes.iter().fold(Catalog::new(), |all, change| {
        let bytes = postcard::to_allocvec(change).expect("written");
        let back: CatalogChange = postcard::from_bytes(&bytes).expect("read");
        assert_eq!(format!("{change:?}"), format!("{back:?}"));
        all.apply(&back).expect("a valid change")
    })
}

#[test]
fn a_catalog_comes_back_and_a_joining_server_begins_with_it() {
    let catalog = catalog();
    let bytes = postcard::to_allocvec(&catalog).expect("written");
    let back: Catalog = postcard::from_bytes(&bytes).expect("read");
    assert_eq!(format!("{catalog:?}"), format!("{back:?}"));
    let store = Store::open(Options { server: ServerId(3), in_cluster: true, ..quiet() });
    store.install(&back, Timestamp(40)).expect("in memory");
    let snapshot = store.snapshot();
    assert_eq!(snapshot.timestamp(), Timestamp(40));
    assert_eq!(snapshot.catalog().relations().count(), 2, "one session's own stays there");
    let view = table_at(&snapshot, TableId(1));
    assert!(!view.owns(&KeyRange::all()) && view.row_count().is_none());
    assert!(matches!(view.get(&key_of(1), &[0]), Err(Error::NotOwned { .. })));
    assert!(matches!(view.morsels(&KeyRange::all()), Err(Error::NotOwned { .. })));
    assert_eq!(store.next_relation_id().0, (3 << 20) + 1);
    assert_eq!(store.allocate_row_ids(1), (3 << 40) + 1);
}

#[test]
fn errors_come_back() {
    let errors = [
        Error::NotOwned { range: KeyRange::point(&key_of(5)) },
        Error::SequenceExhausted { sequence: "s".into(), end: "maximum".into(), limit: 9 },
        ArrowError::ComputeError("overflow".into()).into(),
    ];
    for error in errors {
        let bytes = postcard::to_allocvec(&error).expect("written");
        let back: Error = postcard::from_bytes(&bytes).expect("read");
        assert_eq!(format!("{error:?}"), format!("{back:?}"));
    }
}
