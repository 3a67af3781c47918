//! What changes with a type: the definitions that contain it.

use std::sync::Arc;
use store::catalog::{Catalog, CatalogChange, Domain, Relation, Table, UserType, UserTypeKind};

/// The tables with columns of a type.
pub fn tables_with(catalog: &Catalog, user: &UserType) -> Vec<Arc<Table>> {
    let tables = catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(Arc::clone(table)),
        _ => None,
    });
    tables.filter(|table| table.columns.iter().any(|c| c.sql_type.uses(user.id))).collect()
}

/// The changes that replace a type, and what its definition is part of: domains and tables.
pub fn replacements(catalog: &Catalog, new: UserType) -> Vec<CatalogChange> {
    let new = Arc::new(new);
    let mut changes = vec![CatalogChange::ReplaceType(UserType::clone(&new))];
    for other in catalog.user_types().filter(|other| other.id != new.id) {
        if let Some(domain) = other.domain().filter(|domain| domain.base.uses(new.id)) {
            let base = Box::new(domain.base.with_user_type(&new));
            let kind = UserTypeKind::Domain(Domain { base, ..domain.clone() });
            changes.push(CatalogChange::ReplaceType(UserType { kind, ..UserType::clone(other) }));
        }
    }
    for table in tables_with(catalog, &new) {
        let mut table = Table::clone(&table);
        for column in &mut table.columns {
            column.sql_type = column.sql_type.with_user_type(&new);
        }
        table.version += 1;
        changes.push(CatalogChange::Replace(Relation::Table(Arc::new(table))));
    }
    changes
}

/// The first relation whose definition has a text in it.
pub fn mention<'a>(catalog: &'a Catalog, text: &str) -> Option<&'a Relation> {
    catalog.relations().find(|relation| match relation {
        Relation::Table(table) => {
            let columns = table.columns.iter();
            let texts = columns.flat_map(|column| [&column.default, &column.generated]).flatten();
            let mut texts = texts.chain(table.checks.iter().map(|check| &check.expression));
            texts.any(|known| known.contains(text))
        }
        Relation::View(view) => view.sql.contains(text),
        Relation::Sequence(_) | Relation::Index(_) => false,
    })
}
