//! What changes with a type: the definitions that contain it.

use std::sync::Arc;
use store::catalog::{
    Catalog, CatalogChange, Domain, Function, Index, IndexExpression, IndexKey, Relation, Table,
    UserType, UserTypeKind,
};

/// The tables with columns of a type.
pub fn tables_with(catalog: &Catalog, user: &UserType) -> Vec<Arc<Table>> {
    let tables = catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(Arc::clone(table)),
        _ => None,
    });
    tables.filter(|table| table.columns.iter().any(|c| c.sql_type.uses(user.id))).collect()
}

/// The changes that replace a type, and what its definition is part of: domains, tables, and expressions of indexes.
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
    let indexes = catalog.relations().filter_map(|relation| match relation {
        Relation::Index(index) => Some(index),
        _ => None,
    });
    for index in indexes.filter(|index| expressions(index).any(|of| of.sql_type.uses(new.id))) {
        let mut index = Index::clone(index);
        for column in &mut index.columns {
            if let IndexKey::Expression(of) = &mut column.key {
                of.sql_type = of.sql_type.with_user_type(&new);
            }
        }
        changes.push(CatalogChange::Replace(Relation::Index(Arc::new(index))));
    }
    changes
}

/// The expressions of an index, without its condition.
fn expressions(index: &Index) -> impl Iterator<Item = &IndexExpression> {
    index.columns.iter().filter_map(|column| column.key.expression())
}

/// The first definition that has a text in it: its kind and its name. Bodies of functions that are strings do not count,
/// as nothing is known of what they mention.
pub fn mention<'a>(catalog: &'a Catalog, text: &str) -> Option<(&'static str, &'a str)> {
    let of_relation = |relation: &&Relation| match relation {
        Relation::Table(table) => {
            let columns = table.columns.iter();
            let texts = columns.flat_map(|column| [&column.default, &column.generated]).flatten();
            let mut texts = texts.chain(table.checks.iter().map(|check| &check.expression));
            texts.any(|known| known.contains(text))
        }
        Relation::Index(index) => expressions(index)
            .chain(&index.predicate)
            .any(|known| known.text.contains(text) || known.shown.contains(text)),
        Relation::View(view) => view.sql.contains(text),
        Relation::Sequence(_) => false,
    };
    let of_domain = |user: &&Arc<UserType>| {
        let domain = user.domain().into_iter();
        let mut texts = domain.flat_map(|domain| {
            domain.checks.iter().map(|check| &check.expression).chain(&domain.default)
        });
        texts.any(|known| known.contains(text))
    };
    let of_function = |function: &&Arc<Function>| {
        let defaults = function.parameters.iter().filter_map(|of| of.default.as_ref());
        let body = function.is_sql_body.then_some(&function.body);
        let mut texts = defaults.chain(body);
        texts.any(|known| known.contains(text))
    };
    let relation = catalog.relations().find(of_relation);
    let relation = relation.map(|relation| (relation.kind(), relation.name()));
    let domain = || catalog.user_types().find(of_domain).map(|user| ("domain", &*user.name));
    let function = || catalog.functions().find(of_function).map(|of| (of.kind(), &*of.name));
    relation.or_else(domain).or_else(function)
}
