//! `pg_sequence`, `pg_sequences`, and `pg_depend`, which relates sequences to the columns that own
//! them.

use super::relations::stored_expression;
use super::{oids, roles, type_catalog, user_types, view_uses};
use crate::catalog_tables::declared;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::catalog::{Catalog, Object, Relation, Sequence, SqlType, TypeId};

/// `pg_sequence`.
pub(super) fn definitions(context: &ViewContext<'_>, rows: &mut TableRows) {
    for sequence in context.sequences() {
        rows.row([
            ("seqrelid", oids::relation(sequence.id).into()),
            ("seqtypid", type_id(context, sequence).into()),
            ("seqstart", sequence.start.into()),
            ("seqincrement", sequence.increment.into()),
            ("seqmax", sequence.max.into()),
            ("seqmin", sequence.min.into()),
            ("seqcache", 1_i64.into()),
            ("seqcycle", sequence.cycle.into()),
        ]);
    }
}

/// The id of the type of a sequence.
fn type_id(context: &ViewContext<'_>, sequence: &Sequence) -> i64 {
    match context.type_of(sequence) {
        SqlType::SmallInt => type_catalog::INT2,
        SqlType::Integer => type_catalog::INT4,
        _ => type_catalog::INT8,
    }
}

/// `pg_sequences`.
pub(super) fn states(context: &ViewContext<'_>, rows: &mut TableRows) {
    for sequence in context.sequences() {
        // NULL if the server that has the state cannot be reached.
        let last = context.database.store().sequence_last(sequence).ok().flatten();
        rows.row([
            ("schemaname", sequence.schema.as_str().into()),
            ("sequencename", sequence.name.as_str().into()),
            (
                "sequenceowner",
                roles::owner_name(context.catalog, &Object::Relation(sequence.id)).into(),
            ),
            ("data_type", type_id(context, sequence).into()),
            ("start_value", sequence.start.into()),
            ("min_value", sequence.min.into()),
            ("max_value", sequence.max.into()),
            ("increment_by", sequence.increment.into()),
            ("cycle", sequence.cycle.into()),
            ("cache_size", 1_i64.into()),
            ("last_value", last.into()),
        ]);
    }
}

/// The column that owns a sequence: the id of its table and its attribute number.
fn owner(catalog: &Catalog, sequence: &Sequence) -> Option<(i64, i64)> {
    let (table, column) = sequence.owned_by?;
    let Relation::Table(table) = catalog.relation_by_id(table.relation())? else { return None };
    let (number, _) = declared(table).find(|(_, declared)| declared.id == column)?;
    Some((oids::relation(table.id.relation()), number))
}

/// `pg_depend`: the dependencies of sequences, indexes, constraints and defaults on tables and
/// columns.
pub(super) fn dependencies(context: &ViewContext<'_>, rows: &mut TableRows) {
    // The class and id of the object, and the class, id and attribute number that it depends on.
    let mut depend = |of: (i64, i64), on: (i64, i64, i64), kind: &str| {
        rows.row([
            ("classid", of.0.into()),
            ("objid", of.1.into()),
            ("refclassid", on.0.into()),
            ("refobjid", on.1.into()),
            ("refobjsubid", on.2.into()),
            ("deptype", kind.into()),
        ]);
    };
    for sequence in context.sequences() {
        if let Some((table, column)) = owner(context.catalog, sequence) {
            let kind = if is_identity(context.catalog, sequence) { "i" } else { "a" };
            let sequence = (oids::PG_CLASS, oids::relation(sequence.id));
            depend(sequence, (oids::PG_CLASS, table, column), kind);
        }
    }
    for table in context.tables() {
        let id = table.id.relation();
        let relation = oids::relation(id);
        for (number, column) in
            declared(table).filter(|(_, column)| stored_expression(column).is_some())
        {
            let default = (oids::PG_ATTRDEF, oids::default(id, column.id.0));
            depend(default, (oids::PG_CLASS, relation, number), "a");
            let text = column.default.as_deref().unwrap_or_default();
            if let Some(Relation::Sequence(sequence)) = sequence_of(context, &table.schema, text) {
                depend(default, (oids::PG_CLASS, oids::relation(sequence.id), 0), "n");
            }
        }
        if !table.has_hidden_key() {
            let constraint = oids::key_constraint(id);
            let index = (oids::PG_CLASS, oids::key_index(id));
            depend(index, (oids::PG_CONSTRAINT, constraint, 0), "i");
            depend((oids::PG_CONSTRAINT, constraint), (oids::PG_CLASS, relation, 0), "a");
        }
    }
    of_types(context, &mut depend);
    of_views(context, &mut depend);
    // `pg_dump` leaves out what belongs to an extension that is there from the start.
    for member in [(oids::PG_LANGUAGE, oids::PLPGSQL), (oids::PG_NAMESPACE, oids::PANDO_SCHEMA)] {
        depend(member, (oids::PG_EXTENSION, oids::EXTENSION, 0), "e");
    }
}

/// The dependencies of the types of rows on their tables, of composite types on those of their attributes, and of functions on
/// the types in their signatures.
fn of_types(context: &ViewContext<'_>, depend: Depend<'_>) {
    let has_rows = |of: &&Relation| matches!(of, Relation::Table(_) | Relation::View(_));
    for relation in context.catalog.relations().filter(has_rows) {
        let of_rows = (oids::PG_TYPE, oids::row_type(relation.id()));
        depend(of_rows, (oids::PG_CLASS, oids::relation(relation.id()), 0), "i");
    }
    for function in context.catalog.functions() {
        let rows = function.result_relation.map(|id| TypeId::of_rows(id).shown());
        let parameters = function.parameters.iter().map(|parameter| parameter.type_id);
        let types = parameters.chain([function.result_id]).chain(rows);
        for id in types.filter(|id| TypeId::may_be_shown(*id)) {
            let function = (oids::PG_PROC, oids::relation(function.id));
            depend(function, (oids::PG_TYPE, id.into(), 0), "n");
        }
    }
    for (user, attributes) in user_types::composites(context) {
        let class = (oids::PG_CLASS, oids::user_type(user.id));
        depend(class, (oids::PG_TYPE, oids::user_type(user.id), 0), "i");
        for attribute in attributes.iter().filter(|of| of.sql_type.user_type().is_some()) {
            let (of, _) = type_catalog::of_sql(&attribute.sql_type);
            depend(class, (oids::PG_TYPE, of, 0), "n");
        }
    }
}

/// The sequence of a default `nextval('name')` of a table in a schema.
fn sequence_of<'a>(
    context: &'a ViewContext<'_>,
    schema: &str,
    default: &str,
) -> Option<&'a Relation> {
    let inner = default.strip_prefix("nextval('")?;
    let inner = inner.strip_suffix("')").or_else(|| inner.strip_suffix("'::regclass)"))?;
    let name = parser::object_name(&inner.replace("''", "'")).ok()?;
    context.catalog.relation(name.schema.as_deref().unwrap_or(schema), &name.name)
}

/// Takes a dependency: of an object (its catalog and id), on another (and its column), of a kind.
type Depend<'a> = &'a mut dyn FnMut((i64, i64), (i64, i64, i64), &str);

/// The dependencies of views: rules on their views, and on the relations that they read.
fn of_views(context: &ViewContext<'_>, depend: Depend<'_>) {
    for view in context.queries() {
        let rule = (oids::PG_REWRITE, oids::default(view.id, u32::MAX));
        let own = (oids::PG_CLASS, oids::relation(view.id), 0);
        // By these `pg_dump` finds materialized views.
        depend((own.0, own.1), (oids::PG_NAMESPACE, oids::schema(&view.schema), 0), "n");
        depend(rule, own, "n");
        depend(rule, own, "i");
        for used in view_uses::of_view(context, &view) {
            let id = used.relation.id();
            depend(rule, (oids::PG_CLASS, oids::relation(id), 0), "n");
            if used.needs_key {
                depend(rule, (oids::PG_CONSTRAINT, oids::key_constraint(id), 0), "n");
            }
        }
    }
}

/// Whether a sequence belongs to a GENERATED ... AS IDENTITY column.
fn is_identity(catalog: &Catalog, sequence: &Sequence) -> bool {
    let Some((table, column)) = sequence.owned_by else { return false };
    match catalog.relation_by_id(table.relation()) {
        Some(Relation::Table(table)) => {
            table.columns.iter().any(|c| c.id == column && c.identity.is_some())
        }
        _ => false,
    }
}
