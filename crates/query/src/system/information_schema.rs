//! The schema `information_schema`, as the SQL standard and PostgreSQL have it.

use super::columns::Columns;
use store::catalog::{Catalog, Column, Identity, Relation, SqlType, Table};

const DATABASE: &str = "pando";

/// One of the views; `None` where there is none of this name.
pub(crate) fn table(catalog: &Catalog, name: &str) -> Option<Columns> {
    match name {
        "schemata" => Some(schemata(catalog)),
        "tables" => Some(tables(catalog)),
        "columns" => Some(columns(catalog)),
        "views" => Some(views(catalog)),
        "sequences" => Some(sequences(catalog)),
        "table_constraints" => Some(table_constraints(catalog)),
        "key_column_usage" => Some(key_column_usage(catalog)),
        "check_constraints" => Some(check_constraints(catalog)),
        _ => None,
    }
}

fn database(rows: usize) -> impl Iterator<Item = String> {
    std::iter::repeat_n(DATABASE.to_owned(), rows)
}

fn schemata(catalog: &Catalog) -> Columns {
    let names = catalog.schemas().map(|schema| schema.name.clone());
    let system = ["information_schema", "pando"].map(str::to_owned);
    let names: Vec<String> = names.chain(system).collect();
    Columns::default().text("catalog_name", database(names.len())).text("schema_name", names)
}

fn tables(catalog: &Catalog) -> Columns {
    let kind = |relation: &Relation| match relation {
        Relation::Table(_) => Some("BASE TABLE"),
        Relation::View(_) => Some("VIEW"),
        Relation::Sequence(_) => None,
    };
    let rows: Vec<_> =
        catalog.relations().filter_map(|relation| Some((relation, kind(relation)?))).collect();
    Columns::default()
        .text("table_catalog", database(rows.len()))
        .text("table_schema", rows.iter().map(|(relation, _)| relation.schema().to_owned()))
        .text("table_name", rows.iter().map(|(relation, _)| relation.name().to_owned()))
        .text("table_type", rows.iter().map(|(_, kind)| (*kind).to_owned()))
}

fn stored(catalog: &Catalog) -> impl Iterator<Item = &Table> {
    catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(table.as_ref()),
        Relation::View(_) | Relation::Sequence(_) => None,
    })
}

fn columns(catalog: &Catalog) -> Columns {
    let rows: Vec<(&Table, i64, &Column)> = stored(catalog)
        .flat_map(|table| {
            let shown = table.columns.iter().filter(|column| !column.hidden);
            shown.zip(1..).map(move |(column, position)| (table, position, column))
        })
        .collect();
    let yes = |flag: bool| if flag { "YES" } else { "NO" }.to_owned();
    let length = |column: &Column| match column.sql_type {
        SqlType::Varchar(Some(n)) | SqlType::Char(n) => Some(i64::from(n)),
        _ => None,
    };
    let numeric = |column: &Column| match column.sql_type {
        SqlType::Numeric { precision, scale } => Some((i64::from(precision), i64::from(scale))),
        SqlType::SmallInt => Some((16, 0)),
        SqlType::Integer => Some((32, 0)),
        SqlType::BigInt => Some((64, 0)),
        _ => None,
    };
    let base = |column: &Column| {
        let full = column.sql_type.to_string();
        full.split('(').next().unwrap_or(&full).to_owned()
    };
    let generation = |column: &Column| {
        column.identity.map(|identity| match identity {
            Identity::Always => "ALWAYS".to_owned(),
            Identity::ByDefault => "BY DEFAULT".to_owned(),
        })
    };
    Columns::default()
        .text("table_catalog", database(rows.len()))
        .text("table_schema", rows.iter().map(|(table, ..)| table.schema.clone()))
        .text("table_name", rows.iter().map(|(table, ..)| table.name.clone()))
        .text("column_name", rows.iter().map(|(.., column)| column.name.clone()))
        .number("ordinal_position", rows.iter().map(|(_, position, _)| Some(*position)))
        .text("column_default", rows.iter().map(|(.., column)| column.default.clone()))
        .text("is_nullable", rows.iter().map(|(.., column)| yes(column.nullable)))
        .text("data_type", rows.iter().map(|(.., column)| base(column)))
        .number("character_maximum_length", rows.iter().map(|(.., column)| length(column)))
        .number("numeric_precision", rows.iter().map(|(.., c)| numeric(c).map(|(p, _)| p)))
        .number("numeric_scale", rows.iter().map(|(.., c)| numeric(c).map(|(_, s)| s)))
        .text("is_identity", rows.iter().map(|(.., column)| yes(column.identity.is_some())))
        .text("identity_generation", rows.iter().map(|(.., column)| generation(column)))
}

fn views(catalog: &Catalog) -> Columns {
    let views: Vec<_> = catalog
        .relations()
        .filter_map(|relation| match relation {
            Relation::View(view) => Some(view),
            _ => None,
        })
        .collect();
    Columns::default()
        .text("table_catalog", database(views.len()))
        .text("table_schema", views.iter().map(|view| view.schema.clone()))
        .text("table_name", views.iter().map(|view| view.name.clone()))
        .text("view_definition", views.iter().map(|view| view.sql.clone()))
}

fn sequences(catalog: &Catalog) -> Columns {
    let all: Vec<_> = catalog
        .relations()
        .filter_map(|relation| match relation {
            Relation::Sequence(sequence) => Some(sequence),
            _ => None,
        })
        .collect();
    Columns::default()
        .text("sequence_catalog", database(all.len()))
        .text("sequence_schema", all.iter().map(|s| s.schema.clone()))
        .text("sequence_name", all.iter().map(|s| s.name.clone()))
        .text("start_value", all.iter().map(|s| s.start.to_string()))
        .text("minimum_value", all.iter().map(|s| s.min.to_string()))
        .text("maximum_value", all.iter().map(|s| s.max.to_string()))
        .text("increment", all.iter().map(|s| s.increment.to_string()))
}

fn table_constraints(catalog: &Catalog) -> Columns {
    let mut rows = Vec::new();
    for table in stored(catalog) {
        if !table.has_hidden_key() {
            rows.push((table, table.key_name(), "PRIMARY KEY"));
        }
        rows.extend(table.checks.iter().map(|check| (table, check.name.clone(), "CHECK")));
    }
    Columns::default()
        .text("constraint_schema", rows.iter().map(|(table, ..)| table.schema.clone()))
        .text("constraint_name", rows.iter().map(|(_, name, _)| name.clone()))
        .text("table_schema", rows.iter().map(|(table, ..)| table.schema.clone()))
        .text("table_name", rows.iter().map(|(table, ..)| table.name.clone()))
        .text("constraint_type", rows.iter().map(|(.., kind)| (*kind).to_owned()))
}

fn key_column_usage(catalog: &Catalog) -> Columns {
    let mut rows = Vec::new();
    for table in stored(catalog).filter(|table| !table.has_hidden_key()) {
        for (position, index) in (1i64..).zip(table.key_indices()) {
            rows.push((table, position, &table.columns[index]));
        }
    }
    Columns::default()
        .text("constraint_name", rows.iter().map(|(table, ..)| table.key_name()))
        .text("table_schema", rows.iter().map(|(table, ..)| table.schema.clone()))
        .text("table_name", rows.iter().map(|(table, ..)| table.name.clone()))
        .text("column_name", rows.iter().map(|(.., column)| column.name.clone()))
        .number("ordinal_position", rows.iter().map(|(_, position, _)| Some(*position)))
}

fn check_constraints(catalog: &Catalog) -> Columns {
    let rows: Vec<_> = stored(catalog)
        .flat_map(|table| table.checks.iter().map(move |check| (table, check)))
        .collect();
    Columns::default()
        .text("constraint_schema", rows.iter().map(|(table, _)| table.schema.clone()))
        .text("constraint_name", rows.iter().map(|(_, check)| check.name.clone()))
        .text("check_clause", rows.iter().map(|(_, check)| check.expression.clone()))
}
