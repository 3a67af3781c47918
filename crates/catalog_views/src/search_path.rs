//! The search path: the schemas in which a name without a schema is looked up.
//!
//! The alias `pg_temp` refers to the session's schema of temporary relations. If the search path
//! does not contain it, it is searched first, so a temporary table hides another table of the same
//! name.

use crate::names::SYSTEM_SCHEMAS;
use store::catalog::{Catalog, OWN_TEMPORARY_SCHEMA, is_temporary_schema};
use values::{Error, Result};

/// A search path.
#[derive(Debug, Clone, Copy)]
pub struct SearchPath<'a> {
    /// The value of the setting `search_path`, or the path that is stored with a view.
    named: &'a [String],
    /// The session's schema of temporary relations, which need not exist.
    own: &'a str,
}

impl<'a> SearchPath<'a> {
    /// A search path of these schemas, for a session with this schema of temporary relations.
    pub fn new(named: &'a [String], own: &'a str) -> Self {
        Self { named, own }
    }

    /// The session's schema of temporary relations.
    pub fn own(self) -> &'a str {
        self.own
    }

    /// The search path of a view's query: the schemas that are stored with the view.
    pub fn of_view(self, named: &'a [String]) -> Self {
        Self { named, own: self.own }
    }

    /// The name of a schema in the catalog: replaces the alias `pg_temp`.
    pub fn resolve(self, schema: &'a str) -> &'a str {
        if schema == OWN_TEMPORARY_SCHEMA { self.own } else { schema }
    }

    /// The schemas of the setting, in order. New relations are created in the first that exists.
    pub fn named(self) -> impl Iterator<Item = &'a str> {
        self.named.iter().map(move |schema| self.resolve(schema))
    }

    /// The schemas in which names are looked up, in order.
    pub fn schemas(self) -> impl Iterator<Item = &'a str> {
        let implicit = !self.named.iter().any(|schema| schema == OWN_TEMPORARY_SCHEMA);
        implicit.then_some(self.own).into_iter().chain(self.named())
    }

    /// The schemas of the setting that exist, each once; with `implicit` also those that are searched before them.
    pub fn existing(self, catalog: &Catalog, implicit: bool) -> Vec<&'a str> {
        let unnamed = |schema: &&str| implicit && !self.named().any(|named| named == *schema);
        let before = [self.own, "pg_catalog"].into_iter().filter(unnamed);
        let mut all = Vec::new();
        for schema in before.chain(self.named()) {
            let is_there = SYSTEM_SCHEMAS.contains(&schema) || catalog.schema(schema).is_some();
            if is_there && !all.contains(&schema) {
                all.push(schema);
            }
        }
        all
    }

    /// The schemas in which names of functions are looked up, in order: temporary functions are called with their schema only.
    pub fn of_functions(self) -> impl Iterator<Item = &'a str> {
        self.named().filter(move |schema| *schema != self.own)
    }

    /// The schemas in which a name of a function with this schema, or without one, is looked up.
    pub fn of_function(self, schema: Option<&'a str>) -> Vec<&'a str> {
        schema.map_or_else(|| self.of_functions().collect(), |schema| vec![self.resolve(schema)])
    }

    /// Checks that a schema is not another session's schema of temporary relations.
    ///
    /// # Errors
    /// 0A000 if it is.
    pub(crate) fn refuse_others(self, schema: &str) -> Result<()> {
        if is_temporary_schema(schema) && schema != self.own {
            Err(Error::unsupported("cannot access temporary tables of other sessions"))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_relations_are_first_unless_the_path_contains_pg_temp() {
        let path = |named: &[&str]| -> Vec<String> {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            SearchPath::new(&named, "pg_temp_7").schemas().map(str::to_owned).collect()
        };
        assert_eq!(path(&["public"]), ["pg_temp_7", "public"]);
        assert_eq!(path(&["public", "pg_temp"]), ["public", "pg_temp_7"]);
    }
}
