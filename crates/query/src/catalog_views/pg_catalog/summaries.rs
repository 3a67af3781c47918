//! The views that sum the catalog up for people: pg_tables, pg_views, pg_indexes, pg_description and such.

use super::super::rows::TableRows;
use super::super::shape;
use super::world::{Class, World, declared};
use super::{definitions, oids, roles};
use store::catalog::{Object, Privileges, Relation};

/// pg_namespace.
pub(super) fn namespaces(world: &World<'_>, rows: &mut TableRows) {
    for (name, _) in world.schemas() {
        let object = Object::Schema(name.to_string());
        rows.row([
            ("oid", oids::schema(&name).into()),
            ("nspname", name.into()),
            ("nspowner", roles::owner(world.catalog, &object).into()),
            ("nspacl", roles::access_list(world.catalog, &object, Privileges::OF_SCHEMAS).into()),
        ]);
    }
}

/// pg_tables.
pub(super) fn tables(world: &World<'_>, rows: &mut TableRows) {
    for table in world.tables() {
        let owner = roles::owner_name(world.catalog, &Object::Relation(table.id.relation()));
        rows.row([
            ("schemaname", table.schema.as_str().into()),
            ("tablename", table.name.as_str().into()),
            ("tableowner", owner.into()),
            ("hasindexes", (!table.has_hidden_key()).into()),
            ("hasrules", false.into()),
            ("hastriggers", false.into()),
            ("rowsecurity", false.into()),
        ]);
    }
    for shape in shape::all().filter(|shape| shape.kind == "r") {
        rows.row([
            ("schemaname", shape.schema.into()),
            ("tablename", shape.name.into()),
            ("tableowner", roles::OWNER_NAME.into()),
            ("hasindexes", false.into()),
            ("hasrules", false.into()),
            ("hastriggers", false.into()),
            ("rowsecurity", false.into()),
        ]);
    }
}

/// pg_views.
pub(super) fn views(world: &World<'_>, rows: &mut TableRows) {
    for (view, _) in world.views() {
        rows.row([
            ("schemaname", view.schema.as_str().into()),
            ("viewname", view.name.as_str().into()),
            ("viewowner", roles::owner_name(world.catalog, &Object::Relation(view.id)).into()),
            ("definition", definitions::view(view).into()),
        ]);
    }
}

/// pg_indexes.
pub(super) fn indexes(world: &World<'_>, rows: &mut TableRows) {
    for table in world.keyed() {
        rows.row([
            ("schemaname", table.schema.as_str().into()),
            ("tablename", table.name.as_str().into()),
            ("indexname", table.key_name().into()),
            ("indexdef", definitions::key_index(table, true).into()),
        ]);
    }
}

/// pg_description: what COMMENT ON said.
pub(super) fn descriptions(world: &World<'_>, rows: &mut TableRows) {
    let mut describe = |object: (i64, i64), number: i64, comment: &Option<String>| {
        if let Some(comment) = comment {
            rows.row([
                ("objoid", object.1.into()),
                ("classoid", object.0.into()),
                ("objsubid", number.into()),
                ("description", comment.as_str().into()),
            ]);
        }
    };
    for (name, comment) in world.schemas() {
        describe((oids::PG_NAMESPACE, oids::schema(&name)), 0, &comment);
    }
    for relation in world.catalog.relations() {
        let object = (oids::PG_CLASS, oids::relation(relation.id()));
        match relation {
            Relation::Table(table) => {
                describe(object, 0, &table.comment);
                for (number, column) in declared(table) {
                    describe(object, number, &column.comment);
                }
            }
            Relation::View(view) => describe(object, 0, &view.comment),
            Relation::Sequence(sequence) => describe(object, 0, &sequence.comment),
        }
    }
}

/// pg_stat_user_tables and pg_stat_all_tables.
pub(super) fn table_statistics(world: &World<'_>, rows: &mut TableRows) {
    for table in world.tables() {
        let count = world.row_count(table);
        rows.row([
            ("relid", oids::relation(table.id.relation()).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
            ("n_live_tup", count.into()),
        ]);
        rows.no_other_counts();
    }
}

/// pg_statio_user_tables.
pub(super) fn table_reads(world: &World<'_>, rows: &mut TableRows) {
    for table in world.tables() {
        rows.row([
            ("relid", oids::relation(table.id.relation()).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
        ]);
        rows.no_other_counts();
    }
}

/// pg_stat_user_indexes and pg_stat_all_indexes.
pub(super) fn index_statistics(world: &World<'_>, rows: &mut TableRows) {
    for table in world.keyed() {
        let id = table.id.relation();
        rows.row([
            ("relid", oids::relation(id).into()),
            ("indexrelid", oids::key_index(id).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
            ("indexrelname", table.key_name().into()),
        ]);
        rows.no_other_counts();
    }
}

/// pg_rewrite: each view has the rule that makes it one.
pub(super) fn rules(world: &World<'_>, rows: &mut TableRows) {
    for (view, _) in world.views() {
        let class = Class::Relation(&Relation::View(view.clone())).oid();
        rows.row([
            ("oid", oids::default(view.id, u32::MAX).into()),
            ("rulename", "_RETURN".into()),
            ("ev_class", class.into()),
            ("ev_type", "1".into()),
            ("ev_enabled", "O".into()),
            ("is_instead", true.into()),
        ]);
    }
}
