//! The serialized form of a catalog: its definitions. The index of names is rebuilt.

use crate::{
    Catalog, Function, Relation, RelationId, Role, Schema, Shared, TableId, Trigger, UserType,
    is_temporary_schema,
};
use imbl::OrdMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The definitions of a catalog.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Definitions {
    pub(super) schemas: Vec<Schema>,
    pub(super) relations: Vec<Entry>,
    pub(super) roles: Vec<Role>,
    pub(super) public: Role,
    pub(super) functions: Vec<Function>,
    pub(super) triggers: Vec<Trigger>,
    pub(super) comments: Vec<(Shared, String)>,
}

/// A relation or a type.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Entry {
    Relation(Relation),
    Type(UserType),
}

impl From<Catalog> for Definitions {
    fn from(catalog: Catalog) -> Self {
        Self {
            schemas: catalog.schemas.values().map(|schema| Schema::clone(schema)).collect(),
            relations: {
                let types = catalog.types.values().map(|user| Entry::Type(UserType::clone(user)));
                catalog.relations.values().cloned().map(Entry::Relation).chain(types).collect()
            },
            roles: catalog.roles.values().map(|role| Role::clone(role)).collect(),
            public: Role::clone(&catalog.public),
            functions: catalog.functions().map(|function| Function::clone(function)).collect(),
            triggers: catalog.triggers().map(|trigger| Trigger::clone(trigger)).collect(),
            comments: catalog.comments.into_iter().collect(),
        }
    }
}

impl From<Definitions> for Catalog {
    fn from(definitions: Definitions) -> Self {
        let Definitions {
            schemas,
            relations: entries,
            roles,
            public,
            functions,
            triggers,
            comments,
        } = definitions;
        let (mut relations, mut types) = (Vec::new(), OrdMap::new());
        for entry in entries {
            match entry {
                Entry::Relation(relation) => relations.push(relation),
                Entry::Type(user) => {
                    types.insert((user.schema.clone(), user.name.clone()), Arc::new(user));
                }
            }
        }
        let name = |r: &Relation| ((r.schema().to_owned(), r.name().to_owned()), r.id());
        let indexed: Vec<TableId> = relations
            .iter()
            .filter_map(|relation| match relation {
                Relation::Index(index) => Some(index.table),
                _ => None,
            })
            .collect();
        let with_references = |r: &Relation| match r {
            Relation::Table(table) if !table.foreign_keys.is_empty() => Some(table.id),
            _ => None,
        };
        let referring: Vec<TableId> = relations.iter().filter_map(with_references).collect();
        let mut catalog = Self {
            names: relations.iter().map(name).collect(),
            key_names: OrdMap::new(),
            schemas: schemas.into_iter().map(|s| (s.name.clone(), Arc::new(s))).collect(),
            relations: relations.into_iter().map(|r| (r.id(), r)).collect(),
            indexes: OrdMap::new(),
            referring: OrdMap::new(),
            types,
            functions: OrdMap::new(),
            function_names: OrdMap::new(),
            triggers: OrdMap::new(),
            roles: roles.into_iter().map(|r| (r.name.clone(), Arc::new(r))).collect(),
            public: Arc::new(public),
            comments: comments.into_iter().collect(),
        };
        let tables: Vec<Relation> = catalog.relations.values().cloned().collect();
        tables.iter().for_each(|relation| catalog.key_changed(None, Some(relation)));
        indexed.into_iter().for_each(|table| catalog.list_indexes(table));
        referring.into_iter().for_each(|table| catalog.list_references(&[], table));
        for function in functions {
            let function = Arc::new(function);
            catalog.functions.insert(function.id, Arc::clone(&function));
            catalog.list_functions(&function);
        }
        for trigger in triggers {
            let mut listed = catalog.triggers_of(trigger.table).to_vec();
            let table = trigger.table;
            listed.push(Arc::new(trigger));
            catalog.list_triggers(table, listed);
        }
        catalog
    }
}

impl Catalog {
    /// Returns the catalog without temporary schemas, relations and functions: the part that all servers
    /// share.
    pub fn shared(&self) -> Self {
        let mut definitions = Definitions::from(self.clone());
        definitions.schemas.retain(|schema| !is_temporary_schema(&schema.name));
        definitions.relations.retain(|entry| match entry {
            Entry::Relation(relation) => !relation.is_temporary(),
            Entry::Type(_) => true,
        });
        definitions.functions.retain(|function| !function.is_temporary());
        // Ids of temporary relations are used again after a restart: nobody keeps privileges on them.
        let is_shared = |id: &RelationId| {
            !self.relation_by_id(*id).is_some_and(Relation::is_temporary)
                && !self.function_by_id(*id).is_some_and(|function| function.is_temporary())
        };
        definitions.triggers.retain(|trigger| is_shared(&trigger.table.relation()));
        for role in definitions.roles.iter_mut().chain([&mut definitions.public]) {
            role.relations.retain(|id, _| is_shared(id));
            role.schemas.retain(|name, _| !is_temporary_schema(name));
        }
        definitions.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CatalogChange, Object, Privileges, View, ViewOptions, temporary_schema};

    /// A checkpoint kept privileges on temporary relations, whose ids are used again after a restart.
    #[test]
    fn privileges_on_temporary_relations_are_left_out() {
        let schema = temporary_schema(1);
        let view = View {
            id: RelationId(7),
            schema: schema.clone(),
            name: "v".to_owned(),
            sql: String::new(),
            columns: Vec::new(),
            search_path: Vec::new(),
            comment: None,
            options: ViewOptions::default(),
        };
        let grant = |object: Object| CatalogChange::SetPrivileges {
            role: "r".to_owned(),
            object,
            privileges: Privileges::ALL,
        };
        let changes = [
            CatalogChange::PutRole(Role::new("r")),
            CatalogChange::CreateSchema(Schema { name: schema.clone(), comment: None }),
            CatalogChange::Create(Relation::View(Arc::new(view))),
            grant(Object::Relation(RelationId(7))),
            grant(Object::Schema(schema)),
            grant(Object::Schema("public".to_owned())),
        ];
        let all = changes
            .iter()
            .try_fold(Catalog::new(), |catalog, change| catalog.apply(change))
            .expect("valid changes");
        let shared = all.shared();
        let role = shared.role("r").expect("the role");
        assert!(role.relations.is_empty(), "{:?}", role.relations);
        assert_eq!(role.schemas.keys().collect::<Vec<_>>(), ["public"]);
    }
}
