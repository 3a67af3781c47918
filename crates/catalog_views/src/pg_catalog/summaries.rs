//! `pg_namespace`, `pg_description`, `pg_rewrite` and the views `pg_tables`, `pg_views`,
//! `pg_matviews`, `pg_indexes` and `pg_stat_*`.

use super::{constraints, oids, roles};
use crate::catalog_tables::declared;
use crate::names::BOOTSTRAP_SUPERUSER;
use crate::rows::TableRows;
use crate::shape;
use crate::view_context::ViewContext;
use deparse::definitions;
use store::catalog::{Object, Privileges, Relation};

/// `pg_namespace`.
pub(super) fn namespaces(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (name, _) in context.schemas() {
        let object = Object::Schema(name.to_string());
        rows.row([
            ("oid", oids::schema(&name).into()),
            ("nspname", name.into()),
            ("nspowner", roles::owner(context.catalog, &object).into()),
            ("nspacl", roles::access_list(context.catalog, &object, Privileges::OF_SCHEMAS).into()),
        ]);
    }
}

/// `pg_tables`.
pub(super) fn tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.base_tables() {
        let owner = roles::owner_name(context.catalog, &Object::Relation(table.id.relation()));
        rows.row([
            ("schemaname", table.schema.as_str().into()),
            ("tablename", table.name.as_str().into()),
            ("tableowner", owner.into()),
            ("hasindexes", context.has_index(table).into()),
            ("hasrules", false.into()),
            ("hastriggers", context.has_triggers(table).into()),
            ("rowsecurity", false.into()),
        ]);
    }
    for shape in shape::all().filter(|shape| shape.kind == "r") {
        rows.row([
            ("schemaname", shape.schema.into()),
            ("tablename", shape.name.into()),
            ("tableowner", BOOTSTRAP_SUPERUSER.into()),
            ("hasindexes", false.into()),
            ("hasrules", false.into()),
            ("hastriggers", false.into()),
            ("rowsecurity", false.into()),
        ]);
    }
}

/// `pg_views`.
pub(super) fn views(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (view, _) in context.views() {
        rows.row([
            ("schemaname", view.schema.as_str().into()),
            ("viewname", view.name.as_str().into()),
            ("viewowner", roles::owner_name(context.catalog, &Object::Relation(view.id)).into()),
            ("definition", definitions::view(view).into()),
        ]);
    }
}

/// `pg_matviews`.
pub(super) fn materialized_views(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
        let Some((of, view)) = table.materialized.as_ref().zip(table.as_view()) else { continue };
        rows.row([
            ("schemaname", table.schema.as_str().into()),
            ("matviewname", table.name.as_str().into()),
            ("matviewowner", roles::owner_name(context.catalog, &Object::Relation(view.id)).into()),
            ("hasindexes", (!context.catalog.indexes_of(table.id).is_empty()).into()),
            ("ispopulated", of.is_populated.into()),
            ("definition", definitions::view(&view).into()),
        ]);
    }
}

/// `pg_indexes`.
pub(super) fn indexes(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.keyed() {
        rows.row([
            ("schemaname", table.schema.as_str().into()),
            ("tablename", table.name.as_str().into()),
            ("indexname", table.key_name().into()),
            ("indexdef", definitions::key_index(table, true).into()),
        ]);
    }
    for (index, table) in context.indexes() {
        rows.row([
            ("schemaname", table.schema.as_str().into()),
            ("tablename", table.name.as_str().into()),
            ("indexname", index.file.name.as_str().into()),
            ("indexdef", definitions::index(index, table, true, false).into()),
        ]);
    }
}

/// `pg_shdescription`: the comments on what is in no schema.
pub(super) fn shared_descriptions(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (on, comment) in context.catalog.shared_comments() {
        let (table, oid) = oids::shared(on);
        rows.row([
            ("objoid", oid.into()),
            ("classoid", table.into()),
            ("description", comment.into()),
        ]);
    }
}

/// `pg_description`: the texts of COMMENT ON.
pub(super) fn descriptions(context: &ViewContext<'_>, rows: &mut TableRows) {
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
    let of_extension = "PL/pgSQL procedural language".to_owned();
    describe((oids::PG_EXTENSION, oids::EXTENSION), 0, &Some(of_extension));
    for (name, comment) in context.schemas() {
        describe((oids::PG_NAMESPACE, oids::schema(&name)), 0, &comment);
    }
    for function in context.catalog.functions() {
        describe((oids::PG_PROC, oids::relation(function.id)), 0, &function.comment);
    }
    for trigger in context.catalog.triggers() {
        describe((oids::PG_TRIGGER, oids::relation(trigger.id)), 0, &trigger.comment);
    }
    for user in context.catalog.user_types() {
        describe((oids::PG_TYPE, oids::user_type(user.id)), 0, &user.comment);
        for check in user.domain().into_iter().flat_map(|domain| &domain.checks) {
            let object = (oids::PG_CONSTRAINT, constraints::domain_check(user, &check.name));
            describe(object, 0, &check.comment);
        }
    }
    for relation in context.catalog.relations() {
        let object = (oids::PG_CLASS, oids::relation(relation.id()));
        match relation {
            Relation::Table(table) => {
                describe(object, 0, &table.comment);
                for (number, column) in declared(table) {
                    describe(object, number, &column.comment);
                }
                for (name, comment) in &table.extension.comments {
                    let object = (oids::PG_CONSTRAINT, constraints::oid(table, name));
                    describe(object, 0, &Some(comment.clone()));
                }
            }
            Relation::View(view) => {
                describe(object, 0, &view.comment);
                for (number, comment) in &view.options.comments {
                    describe(object, i64::from(*number), &Some(comment.clone()));
                }
            }
            Relation::Sequence(sequence) => describe(object, 0, &sequence.comment),
            Relation::Index(index) => describe(object, 0, &index.file.comment),
        }
    }
}

/// `pg_stat_user_tables` and `pg_stat_all_tables`.
pub(super) fn table_statistics(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
        let count = context.row_count(table);
        rows.row([
            ("relid", oids::relation(table.id.relation()).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
            ("n_live_tup", count.into()),
        ]);
        rows.zero_other_counts();
    }
}

/// `pg_statio_user_tables` and `pg_statio_all_tables`.
pub(super) fn table_reads(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
        rows.row([
            ("relid", oids::relation(table.id.relation()).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
        ]);
        rows.zero_other_counts();
    }
}

/// `pg_stat_user_indexes` and `pg_stat_all_indexes`.
pub(super) fn index_statistics(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.keyed() {
        let id = table.id.relation();
        rows.row([
            ("relid", oids::relation(id).into()),
            ("indexrelid", oids::key_index(id).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
            ("indexrelname", table.key_name().into()),
        ]);
        rows.zero_other_counts();
    }
    for (index, table) in context.indexes() {
        rows.row([
            ("relid", oids::relation(table.id.relation()).into()),
            ("indexrelid", oids::relation(index.file.id.relation()).into()),
            ("schemaname", table.schema.as_str().into()),
            ("relname", table.name.as_str().into()),
            ("indexrelname", index.file.name.as_str().into()),
        ]);
        rows.zero_other_counts();
    }
}

/// `pg_rewrite`: the SELECT rule of each view and materialized view.
pub(super) fn rules(context: &ViewContext<'_>, rows: &mut TableRows) {
    for view in context.queries() {
        let class = oids::relation(view.id);
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
