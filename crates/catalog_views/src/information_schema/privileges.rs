//! The views about granted privileges.

use super::routines::names;
use super::yes;
use crate::catalog_tables::declared;
use crate::names::DATABASE;
use crate::pg_catalog::roles::{self, Granted};
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::catalog::{Object, Privileges, Relation, RelationId};

/// Privileges on tables and views.
const ON_TABLES: [(&str, Privileges); 7] = [
    ("INSERT", Privileges::INSERT),
    ("SELECT", Privileges::SELECT),
    ("UPDATE", Privileges::UPDATE),
    ("DELETE", Privileges::DELETE),
    ("TRUNCATE", Privileges::TRUNCATE),
    ("REFERENCES", Privileges::REFERENCES),
    ("TRIGGER", Privileges::TRIGGER),
];
/// Privileges on functions and procedures.
const ON_ROUTINES: [(&str, Privileges); 1] = [("EXECUTE", Privileges::EXECUTE)];
/// Privileges on columns.
const ON_COLUMNS: [(&str, Privileges); 4] = [
    ("INSERT", Privileges::INSERT),
    ("SELECT", Privileges::SELECT),
    ("UPDATE", Privileges::UPDATE),
    ("REFERENCES", Privileges::REFERENCES),
];

/// A granted privilege.
struct Grant<'a> {
    grantor: &'a str,
    grantee: &'a str,
    privilege: &'static str,
    grantable: bool,
}

/// The privileges on a relation or routine whose grantor or grantee is a role of the current user. `all` are those that
/// exist for it.
fn on<'a>(
    context: &'a ViewContext<'_>,
    relation: RelationId,
    all: Privileges,
    kinds: &'static [(&'static str, Privileges)],
) -> Vec<Grant<'a>> {
    let object = Object::Relation(relation);
    let grantor = roles::owner_name(context.catalog, &object);
    let mut found = Vec::new();
    for Granted { to, privileges } in roles::granted(context.catalog, &object, all) {
        let concerns = to.is_none_or(|to| context.access.has_role(to));
        if !concerns && !context.access.has_role(grantor) {
            continue;
        }
        let grantee = to.unwrap_or("PUBLIC");
        for (privilege, one) in kinds.iter().filter(|(_, one)| privileges.contains(*one)) {
            let grantable = grantee == grantor || privileges.grantable().contains(*one);
            found.push(Grant { grantor, grantee, privilege, grantable });
        }
    }
    found
}

/// The views `table_privileges` and `role_table_grants`.
pub(super) fn tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    let named = |relation: &&Relation| match relation {
        Relation::Table(table) => table.materialized.is_none(),
        Relation::View(_) => true,
        Relation::Sequence(_) | Relation::Index(_) => false,
    };
    for relation in context.catalog.relations().filter(named) {
        for one in on(context, relation.id(), Privileges::OF_TABLES, &ON_TABLES) {
            rows.row([
                ("grantor", one.grantor.into()),
                ("grantee", one.grantee.into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", relation.schema().into()),
                ("table_name", relation.name().into()),
                ("privilege_type", one.privilege.into()),
                ("is_grantable", yes(one.grantable)),
                ("with_hierarchy", yes(one.privilege == "SELECT")),
            ]);
        }
    }
}

/// The view `routine_privileges`.
pub(super) fn routines(context: &ViewContext<'_>, rows: &mut TableRows) {
    for function in context.catalog.functions() {
        for one in on(context, function.id, Privileges::OF_FUNCTIONS, &ON_ROUTINES) {
            let granted = [
                ("grantor", one.grantor.into()),
                ("grantee", one.grantee.into()),
                ("privilege_type", one.privilege.into()),
                ("is_grantable", yes(one.grantable)),
            ];
            rows.row_of(names(function).chain(granted));
        }
    }
}

/// The views `column_privileges` and `role_column_grants`.
pub(super) fn columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    let mut all: Vec<(RelationId, &str, &str, &str)> = Vec::new();
    for table in context.base_tables() {
        let columns = declared(table);
        let id = table.id.relation();
        all.extend(columns.map(|(_, c)| (id, &*table.schema, &*table.name, &*c.name)));
    }
    for (view, columns) in context.views() {
        let names = columns.iter();
        all.extend(names.map(|(name, _)| (view.id, &*view.schema, &*view.name, &**name)));
    }
    for (relation, schema, table, column) in all {
        for one in on(context, relation, Privileges::OF_TABLES, &ON_COLUMNS) {
            rows.row([
                ("grantor", one.grantor.into()),
                ("grantee", one.grantee.into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", schema.into()),
                ("table_name", table.into()),
                ("column_name", column.into()),
                ("privilege_type", one.privilege.into()),
                ("is_grantable", yes(one.grantable)),
            ]);
        }
    }
}
