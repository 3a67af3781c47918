//! The views `columns` and `element_types`.

use super::yes;
use crate::catalog_tables::declared;
use crate::names::{BOOTSTRAP_SUPERUSER, DATABASE};
use crate::pg_catalog::{default_texts, roles, type_catalog, user_types};
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::definitions;
use store::catalog::{Attribute, Column, Identity, Object, Sequence, SqlType, UserType};
use values::cells::Cell;

/// Maximum number of bytes of a character.
const CHARACTER_BYTES: i64 = 4;
/// `character_octet_length` of text without a declared length.
const TEXT_BYTES: i64 = 1 << 30;

/// The view `columns`.
pub(super) fn columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.base_tables() {
        for (number, column) in declared(table) {
            let name = (table.schema.as_str(), table.name.as_str(), column.name.as_str());
            column_row(name, number, &column.sql_type, true, rows);
            if !column.nullable {
                rows.set_last("is_nullable", yes(false));
            }
            let default = default_texts::own(column);
            let default = default.and_then(|text| shown(context, text, &column.sql_type));
            rows.set_last("column_default", default.into());
            if let Some(expression) = &column.generated {
                rows.set_last("is_generated", "ALWAYS".into());
                rows.set_last("generation_expression", expression.clone().into());
            }
            let owned = context.sequences().find(|s| s.owned_by == Some((table.id, column.id)));
            identity(column, owned.map(|sequence| &**sequence), rows);
        }
    }
    for (view, columns) in context.views() {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let updatable = context.updatable_columns(view, &names);
        for ((number, (name, sql_type)), updatable) in (1..).zip(columns).zip(updatable) {
            let is_updatable = updatable.update && updatable.delete;
            let defaults = &view.options.defaults;
            let default = defaults.iter().find(|(column, _)| column == name);
            let name = (view.schema.as_str(), view.name.as_str(), name.as_str());
            column_row(name, number, sql_type, is_updatable, rows);
            if let Some((_, default)) = default {
                rows.set_last("column_default", shown(context, default, sql_type).into());
            }
        }
    }
}

/// The text of a default; `None` if it is NULL.
pub(super) fn shown(
    context: &ViewContext<'_>,
    default: &str,
    sql_type: &SqlType,
) -> Option<String> {
    if default_texts::is_null(default) {
        return None;
    }
    let shown = default_texts::shown(context, default, sql_type);
    Some(shown.unwrap_or_else(|| definitions::default(default)))
}

/// `user_defined_types`: the composite types.
pub(super) fn user_defined_types(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (user, _) in user_types::composites(context) {
        rows.row([
            ("user_defined_type_catalog", DATABASE.into()),
            ("user_defined_type_schema", user.schema.as_str().into()),
            ("user_defined_type_name", user.name.as_str().into()),
            ("user_defined_type_category", "STRUCTURED".into()),
            ("is_instantiable", yes(true)),
        ]);
    }
}

/// `attributes`: those of composite types.
pub(super) fn attributes(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (user, attributes) in user_types::composites(context) {
        for (number, attribute) in (1..).zip(attributes) {
            attribute_row(user, number, attribute, rows);
        }
    }
}

fn attribute_row(user: &UserType, number: i64, attribute: &Attribute, rows: &mut TableRows) {
    let sql_type = match &attribute.sql_type {
        SqlType::User(of) if of.domain().is_some() => attribute.sql_type.representation(),
        other => other,
    };
    let schema = sql_type.user_type().map_or("pg_catalog", |of| &of.schema);
    rows.row([
        ("udt_catalog", DATABASE.into()),
        ("udt_schema", user.schema.as_str().into()),
        ("udt_name", user.name.as_str().into()),
        ("attribute_name", attribute.name.as_str().into()),
        ("ordinal_position", number.into()),
        ("is_nullable", yes(true)),
        ("attribute_udt_catalog", DATABASE.into()),
        ("attribute_udt_schema", schema.into()),
        ("attribute_udt_name", udt(sql_type).into()),
        ("dtd_identifier", number.to_string().into()),
        ("is_derived_reference_attribute", yes(false)),
    ]);
    set_type(sql_type, rows);
}

/// Sets the cells about a type in the last row.
pub(super) fn set_type(sql_type: &SqlType, rows: &mut TableRows) {
    let (precision, radix, scale) = numeric(sql_type);
    let length = length(sql_type);
    let text = matches!(sql_type, SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_));
    let octets = text.then(|| length.map_or(TEXT_BYTES, |n| n.saturating_mul(CHARACTER_BYTES)));
    let cells: [(&str, Cell); 7] = [
        ("data_type", data_type(sql_type).into()),
        ("character_maximum_length", length.into()),
        ("character_octet_length", octets.into()),
        ("numeric_precision", precision.into()),
        ("numeric_precision_radix", radix.into()),
        ("numeric_scale", scale.into()),
        ("datetime_precision", time_digits(sql_type).into()),
    ];
    for (name, cell) in cells {
        rows.set_last(name, cell);
    }
}

/// Adds a row to `columns`. `name` is the schema, the relation and the column.
fn column_row(
    name: (&str, &str, &str),
    number: i64,
    sql_type: &SqlType,
    updatable: bool,
    rows: &mut TableRows,
) {
    let (schema, relation, column) = name;
    let is_required =
        matches!(sql_type, SqlType::User(of) if of.domain().is_some_and(|of| !of.nullable));
    let written = sql_type;
    let sql_type = match sql_type {
        SqlType::User(user) if user.domain().is_some() => sql_type.representation(),
        other => other,
    };
    rows.row([
        ("table_catalog", DATABASE.into()),
        ("table_schema", schema.into()),
        ("table_name", relation.into()),
        ("column_name", column.into()),
        ("ordinal_position", number.into()),
        ("is_nullable", yes(!is_required)),
        ("udt_catalog", DATABASE.into()),
        ("udt_schema", "pg_catalog".into()),
        ("udt_name", udt(sql_type).into()),
        ("dtd_identifier", number.to_string().into()),
        ("is_self_referencing", yes(false)),
        ("is_identity", yes(false)),
        ("identity_cycle", yes(false)),
        ("is_generated", "NEVER".into()),
        ("is_updatable", yes(updatable)),
    ]);
    set_type(sql_type, rows);
    if let SqlType::User(user) = written
        && user.domain().is_some()
    {
        rows.set_last("domain_catalog", DATABASE.into());
        rows.set_last("domain_schema", user.schema.as_str().into());
        rows.set_last("domain_name", user.name.as_str().into());
    }
    if let Some(user) = sql_type.user_type() {
        rows.set_last("udt_schema", user.schema.as_str().into());
    }
}

/// Sets the cells about an identity column in the last row.
fn identity(column: &Column, sequence: Option<&Sequence>, rows: &mut TableRows) {
    let Some(identity) = column.identity else { return };
    let generation = match identity {
        Identity::Always => "ALWAYS",
        Identity::ByDefault => "BY DEFAULT",
    };
    rows.set_last("is_identity", yes(true));
    rows.set_last("identity_generation", generation.into());
    if let Some(sequence) = sequence {
        rows.set_last("identity_start", sequence.start.into());
        rows.set_last("identity_increment", sequence.increment.into());
        rows.set_last("identity_minimum", sequence.min.into());
        rows.set_last("identity_maximum", sequence.max.into());
        rows.set_last("identity_cycle", yes(sequence.cycle));
    }
}

/// The SQL name of a type.
fn data_type(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Array(_) => "ARRAY".to_owned(),
        SqlType::User(_) => "USER-DEFINED".to_owned(),
        other => type_catalog::format(type_catalog::of_sql(other).0, None),
    }
}

/// The name of a type in `pg_type`.
pub(super) fn udt(sql_type: &SqlType) -> String {
    match (sql_type.user_type(), sql_type) {
        (Some(user), SqlType::Array(_)) => format!("_{}", user.name),
        (Some(user), _) => user.name.clone(),
        (None, _) => {
            let entry = type_catalog::by_oid(type_catalog::of_sql(sql_type).0);
            entry.map_or("text", |entry| entry.name).to_owned()
        }
    }
}

/// The declared length, in characters.
fn length(sql_type: &SqlType) -> Option<i64> {
    match sql_type {
        SqlType::Varchar(Some(n)) | SqlType::Char(n) => Some(i64::from(*n)),
        _ => None,
    }
}

/// The precision of a number, its radix (2 or 10), and its scale.
fn numeric(sql_type: &SqlType) -> (Option<i64>, Option<i64>, Option<i64>) {
    match sql_type {
        numeric if *numeric == SqlType::NUMERIC => (None, Some(10), None),
        SqlType::Numeric { precision, scale } => {
            (Some(i64::from(*precision)), Some(10), Some(i64::from(*scale)))
        }
        SqlType::Precise(of, modifier) if **of == SqlType::NUMERIC => {
            let (precision, scale) = SqlType::numeric_digits(*modifier);
            (Some(precision.into()), Some(10), Some(scale.into()))
        }
        SqlType::SmallInt => (Some(16), Some(2), Some(0)),
        SqlType::Integer => (Some(32), Some(2), Some(0)),
        SqlType::BigInt => (Some(64), Some(2), Some(0)),
        SqlType::Real => (Some(24), Some(2), None),
        SqlType::Double => (Some(53), Some(2), None),
        _ => (None, None, None),
    }
}

/// The digits of the fraction of a second.
fn time_digits(sql_type: &SqlType) -> Option<i64> {
    match sql_type {
        SqlType::Date => Some(0),
        SqlType::Time | SqlType::Timestamp | SqlType::TimestampTz | SqlType::Interval => Some(6),
        SqlType::Precise(of, _) if **of == SqlType::NUMERIC => None,
        SqlType::Precise(_, modifier) => Some(i64::from(modifier & 0xffff).min(6)),
        _ => None,
    }
}

/// The columns of tables and views: schemas, relations, names and types.
pub(super) fn all<'a>(
    context: &'a ViewContext<'_>,
) -> impl Iterator<Item = ([&'a str; 3], &'a SqlType)> {
    let of_tables = context.base_tables().flat_map(|table| {
        declared(table).map(move |(_, column)| {
            ([&*table.schema, &*table.name, &*column.name], &column.sql_type)
        })
    });
    let of_views = context.views().flat_map(|(view, columns)| {
        let columns = columns.iter();
        columns.map(move |(name, sql_type)| ([&*view.schema, &*view.name, &**name], sql_type))
    });
    of_tables.chain(of_views)
}

/// Sets the name of a column in the last row.
pub(super) fn set_column([schema, relation, column]: [&str; 3], rows: &mut TableRows) {
    rows.set_last("table_catalog", DATABASE.into());
    rows.set_last("table_schema", schema.into());
    rows.set_last("table_name", relation.into());
    rows.set_last("column_name", column.into());
}

/// The view `column_udt_usage`: the columns whose types belong to the current user.
pub(super) fn types(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (name, sql_type) in all(context) {
        let sql_type = match sql_type {
            SqlType::User(of) if of.domain().is_some() => sql_type.representation(),
            other => other,
        };
        let user = sql_type.user_type();
        let owner = match user {
            Some(user) => roles::owner_name(context.catalog, &Object::Relation(user.id.object())),
            None => BOOTSTRAP_SUPERUSER,
        };
        if context.access.has_role(owner) {
            rows.row([
                ("udt_catalog", DATABASE.into()),
                ("udt_schema", user.map_or("pg_catalog", |of| of.schema.as_str()).into()),
                ("udt_name", udt(sql_type).into()),
            ]);
            set_column(name, rows);
        }
    }
}

/// The view `element_types`: the element types of array columns.
pub(super) fn element_types(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.base_tables() {
        for (number, column) in declared(table) {
            let SqlType::Array(element) = &column.sql_type else { continue };
            let named: Cell = udt(element).into();
            rows.row([
                ("object_catalog", DATABASE.into()),
                ("object_schema", table.schema.as_str().into()),
                ("object_name", table.name.as_str().into()),
                ("object_type", "TABLE".into()),
                ("collection_type_identifier", number.to_string().into()),
                ("data_type", data_type(element).into()),
                ("udt_catalog", DATABASE.into()),
                ("udt_schema", "pg_catalog".into()),
                ("udt_name", named),
                ("dtd_identifier", format!("a{number}").into()),
            ]);
        }
    }
}
