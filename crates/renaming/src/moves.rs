//! The changes of the catalog that give things another schema, or a schema another name.

use std::sync::Arc;
use store::catalog::{
    Catalog, CatalogChange, Function, Index, Object, Relation, Schema, Sequence, Table, TypeId,
    UserType, View,
};
use user_types::replacements;
use values::error::{Error, Result, SqlState};

/// The changes that move a table with its sequences and indexes.
///
/// # Errors
/// 42P07 if a name is taken.
pub fn moved_table(catalog: &Catalog, table: &Table, to: &str) -> Result<Vec<CatalogChange>> {
    refuse_taken(catalog, to, &table.name)?;
    let mut moved = Vec::new();
    for relation in catalog.relations() {
        let owner = match relation {
            Relation::Sequence(sequence) => sequence.owned_by.map(|(owner, _)| owner),
            Relation::Index(index) => Some(index.table),
            Relation::Table(_) | Relation::View(_) => None,
        };
        if owner == Some(table.id) {
            refuse_taken(catalog, to, relation.name())?;
            moved.push(CatalogChange::Replace(within(relation, to)));
        }
    }
    let table = Relation::Table(Arc::new(table.clone()));
    moved.push(CatalogChange::Replace(within(&table, to)));
    Ok(moved)
}

/// Refuses a name that a relation of a schema has.
///
/// # Errors
/// 42P07.
pub fn refuse_taken(catalog: &Catalog, schema: &str, name: &str) -> Result<()> {
    match catalog.relation(schema, name) {
        None => Ok(()),
        Some(_) => {
            let message = format!("relation \"{name}\" already exists in schema \"{schema}\"");
            Err(Error::new(SqlState::DuplicateTable, message))
        }
    }
}

/// A relation in another schema.
fn within(relation: &Relation, schema: &str) -> Relation {
    let schema = schema.to_owned();
    let moved = |table: &Table, schema: String| {
        Arc::new(Table { schema, version: table.version + 1, ..table.clone() })
    };
    match relation {
        Relation::Table(table) => Relation::Table(moved(table, schema)),
        Relation::View(view) => Relation::View(Arc::new(View { schema, ..View::clone(view) })),
        Relation::Sequence(of) => {
            Relation::Sequence(Arc::new(Sequence { schema, ..Sequence::clone(of) }))
        }
        Relation::Index(index) => {
            let file = moved(&index.file, schema);
            Relation::Index(Arc::new(Index { file, ..Index::clone(index) }))
        }
    }
}

/// The changes that give a schema another name: a new one with all that the old one has, and its privileges.
///
/// # Errors
/// 42P06 if there is one of this name, 42939 if the name is reserved.
pub fn renamed_schema(catalog: &Catalog, from: &str, to: &str) -> Result<Vec<CatalogChange>> {
    let mut made = Made { catalog: catalog.clone(), changes: Vec::new() };
    let comment = catalog.schema(from).and_then(|schema| schema.comment.clone());
    made.change(CatalogChange::CreateSchema(Schema { name: to.to_owned(), comment }))?;
    for relation in catalog.relations_in(from) {
        made.change(CatalogChange::Replace(within(relation, to)))?;
    }
    let types = catalog.user_types().filter(|user| user.schema == from);
    for id in types.map(|user| user.id).collect::<Vec<TypeId>>() {
        // A type before may be part of it.
        let Some(user) = made.catalog.user_type_by_id(id) else { continue };
        let moved = UserType { schema: to.to_owned(), ..UserType::clone(user) };
        for change in replacements(&made.catalog, moved) {
            made.change(change)?;
        }
    }
    for function in catalog.functions_in(from) {
        let moved = Function { schema: to.to_owned(), ..Function::clone(function) };
        made.change(CatalogChange::put_function(moved))?;
    }
    let (old, new) = (Object::Schema(from.to_owned()), Object::Schema(to.to_owned()));
    for role in catalog.roles().chain([catalog.public()]) {
        let privileges = role.privileges(&old);
        if !privileges.is_empty() {
            let (role, object) = (role.name.clone(), new.clone());
            made.change(CatalogChange::SetPrivileges { role, object, privileges })?;
        }
    }
    made.change(CatalogChange::DropSchema(from.to_owned()))?;
    Ok(made.changes)
}

/// Changes, and the catalog after them.
struct Made {
    catalog: Catalog,
    changes: Vec<CatalogChange>,
}

impl Made {
    fn change(&mut self, change: CatalogChange) -> Result<()> {
        self.catalog = self.catalog.apply(&change)?;
        self.changes.push(change);
        Ok(())
    }
}
