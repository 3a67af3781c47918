//! The views about privileges: the owner of everything may do everything.

use super::super::pg_catalog::roles::OWNER_NAME;
use super::super::pg_catalog::world::{DATABASE, World, declared};
use super::super::rows::TableRows;
use super::yes;
use store::catalog::Relation;

const ON_TABLES: [&str; 7] =
    ["INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"];
const ON_COLUMNS: [&str; 4] = ["INSERT", "SELECT", "UPDATE", "REFERENCES"];

/// The views `table_privileges` and `role_table_grants`.
pub(super) fn tables(world: &World<'_>, rows: &mut TableRows) {
    let named = |relation: &&Relation| !matches!(relation, Relation::Sequence(_));
    for relation in world.catalog.relations().filter(named) {
        for privilege in ON_TABLES {
            rows.row([
                ("grantor", OWNER_NAME.into()),
                ("grantee", OWNER_NAME.into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", relation.schema().into()),
                ("table_name", relation.name().into()),
                ("privilege_type", privilege.into()),
                ("is_grantable", yes(true)),
                ("with_hierarchy", yes(privilege == "SELECT")),
            ]);
        }
    }
}

/// The views `column_privileges` and `role_column_grants`.
pub(super) fn columns(world: &World<'_>, rows: &mut TableRows) {
    let mut all: Vec<(&str, &str, &str)> = Vec::new();
    for table in world.tables() {
        all.extend(declared(table).map(|(_, c)| (&*table.schema, &*table.name, &*c.name)));
    }
    for (view, columns) in world.views() {
        all.extend(columns.iter().map(|(name, _)| (&*view.schema, &*view.name, &**name)));
    }
    for (schema, table, column) in all {
        for privilege in ON_COLUMNS {
            rows.row([
                ("grantor", OWNER_NAME.into()),
                ("grantee", OWNER_NAME.into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", schema.into()),
                ("table_name", table.into()),
                ("column_name", column.into()),
                ("privilege_type", privilege.into()),
                ("is_grantable", yes(true)),
            ]);
        }
    }
}
