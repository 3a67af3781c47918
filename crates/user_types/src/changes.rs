//! What changes with a type: the definitions that contain it.

use std::sync::Arc;
use store::catalog::{
    Catalog, CatalogChange, Function, Index, IndexExpression, IndexKey, Relation, SqlType, Table,
    Trigger, UserType,
};
use values::error::{Error, Result};

/// The tables with columns of a type.
pub fn tables_with(catalog: &Catalog, user: &UserType) -> Vec<Arc<Table>> {
    let tables = catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(Arc::clone(table)),
        _ => None,
    });
    tables.filter(|table| table.columns.iter().any(|c| c.sql_type.uses(user.id))).collect()
}

/// The tables that are of a composite type (OF).
pub fn tables_of(catalog: &Catalog, user: &UserType) -> Vec<Arc<Table>> {
    let tables = catalog.relations().filter_map(|relation| match relation {
        Relation::Table(table) => Some(Arc::clone(table)),
        _ => None,
    });
    tables.filter(|table| table.extension.of_type == Some(user.id)).collect()
}

/// The domains and composite types whose definitions contain a type.
pub fn users_of<'a>(
    catalog: &'a Catalog,
    user: &UserType,
) -> impl Iterator<Item = &'a Arc<UserType>> {
    let id = user.id;
    let contains =
        move |other: &&Arc<UserType>| other.id != id && SqlType::User(Arc::clone(other)).uses(id);
    catalog.user_types().filter(contains)
}

/// The domains and composite types that are made of a type, not of one that contains it.
pub fn direct_users_of<'a>(
    catalog: &'a Catalog,
    user: &UserType,
) -> impl Iterator<Item = &'a Arc<UserType>> {
    let id = user.id;
    let is = move |of: &SqlType| of.user_type().is_some_and(|of| of.id == id);
    users_of(catalog, user).filter(move |other| {
        let attributes = other.attributes().unwrap_or_default().iter();
        other.domain().is_some_and(|domain| is(&domain.base))
            || attributes.clone().any(|attribute| is(&attribute.sql_type))
    })
}

/// Refuses to change what definitions mention by its name, as they are kept as texts.
///
/// # Errors
/// 0A000.
pub fn refuse_mentions(catalog: &Catalog, old: &str, what: &str) -> Result<()> {
    let has = |known: &str| has_word(known, old);
    let found = mention_of_relation(catalog, has).or_else(|| other_mention(catalog, has));
    found.map_or(Ok(()), |of| Err(mentioned(of, old, what)))
}

/// As [`refuse_mentions`], for definitions that are not those of relations: of domains, functions and triggers.
///
/// # Errors
/// 0A000.
pub fn refuse_other_mentions(catalog: &Catalog, old: &str, what: &str) -> Result<()> {
    let found = other_mention(catalog, |known| has_word(known, old));
    found.map_or(Ok(()), |of| Err(mentioned(of, old, what)))
}

fn mentioned((kind, name): (&str, &str), old: &str, what: &str) -> Error {
    let message = format!("{what} that a definition mentions is not supported");
    Error::unsupported(message).with_detail(format!("The {kind} {name} mentions {old}."))
}

/// Whether a text has a word that is not part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

/// The changes that replace a type, and what its definition is part of: other types, tables, and expressions of indexes.
pub fn replacements(catalog: &Catalog, new: UserType) -> Vec<CatalogChange> {
    let new = Arc::new(new);
    let mut changes = vec![CatalogChange::ReplaceType(UserType::clone(&new))];
    for other in users_of(catalog, &new) {
        if let SqlType::User(other) = SqlType::User(Arc::clone(other)).with_user_type(&new) {
            changes.push(CatalogChange::ReplaceType(UserType::clone(&other)));
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

/// The first relation with a text that is wanted: its kind and its name.
fn mention_of_relation(
    catalog: &Catalog,
    has: impl Fn(&str) -> bool,
) -> Option<(&'static str, &str)> {
    let of_relation = |relation: &&Relation| match relation {
        Relation::Table(table) => {
            let columns = table.columns.iter();
            let texts = columns.flat_map(|column| [&column.default, &column.generated]).flatten();
            let mut texts = texts.chain(table.checks.iter().map(|check| &check.expression));
            texts.any(|known| has(known))
        }
        Relation::Index(index) => expressions(index)
            .chain(&index.predicate)
            .any(|known| has(&known.text) || has(&known.shown)),
        Relation::View(view) => has(&view.sql),
        Relation::Sequence(_) => false,
    };
    let relation = catalog.relations().find(of_relation);
    relation.map(|relation| (relation.kind(), relation.name()))
}

/// The first domain, function or trigger with a text that is wanted. Bodies of functions that are strings do not count, as
/// nothing is known of what they mention.
fn other_mention(catalog: &Catalog, has: impl Fn(&str) -> bool) -> Option<(&'static str, &str)> {
    let of_domain = |user: &&Arc<UserType>| {
        let domain = user.domain().into_iter();
        let mut texts = domain.flat_map(|domain| {
            domain.checks.iter().map(|check| &check.expression).chain(&domain.default)
        });
        texts.any(|known| has(known))
    };
    let of_function = |function: &&Arc<Function>| {
        let defaults = function.parameters.iter().filter_map(|of| of.default.as_ref());
        let body = function.is_sql_body.then_some(&function.body);
        let mut texts = defaults.chain(body);
        texts.any(|known| has(known))
    };
    let of_trigger = |trigger: &&Arc<Trigger>| trigger.condition.as_deref().is_some_and(&has);
    let domain = catalog.user_types().find(of_domain).map(|user| ("domain", &*user.name));
    let function = || catalog.functions().find(of_function).map(|of| (of.kind(), &*of.name));
    let trigger = || catalog.triggers().find(of_trigger).map(|of| ("trigger", &*of.name));
    domain.or_else(function).or_else(trigger)
}
