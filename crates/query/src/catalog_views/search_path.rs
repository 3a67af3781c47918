//! The search path: which schemas a name without a schema is looked up in.
//!
//! A session's own schema of temporary relations is called `pg_temp`. It comes first where the setting does not
//! say otherwise, so that a temporary table hides another of the same name.

use crate::values::error::{Error, Result};
use store::catalog::is_temporary_schema;

/// What a session's schema of temporary relations is called in statements.
const OWN: &str = "pg_temp";

/// A search path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchPath<'a> {
    /// The setting, or what a view keeps.
    named: &'a [String],
    /// The session's schema of temporary relations, which need not be there.
    own: &'a str,
}

impl<'a> SearchPath<'a> {
    pub(crate) fn new(named: &'a [String], own: &'a str) -> Self {
        Self { named, own }
    }

    /// The session's schema of temporary relations.
    pub(crate) fn own(self) -> &'a str {
        self.own
    }

    /// The path of a view: what it was when the view was made.
    pub(crate) fn of_view(self, named: &'a [String]) -> Self {
        Self { named, own: self.own }
    }

    /// The name of a schema as the catalog has it.
    pub(crate) fn resolve(self, schema: &'a str) -> &'a str {
        if schema == OWN { self.own } else { schema }
    }

    /// The schemas that are named, in order: where new relations go.
    pub(crate) fn named(self) -> impl Iterator<Item = &'a str> {
        self.named.iter().map(move |schema| self.resolve(schema))
    }

    /// The schemas that names are looked up in, in order.
    pub(crate) fn schemas(self) -> impl Iterator<Item = &'a str> {
        let implicit = !self.named.iter().any(|schema| schema == OWN);
        implicit.then_some(self.own).into_iter().chain(self.named())
    }

    /// Refuses what is in another session's schema of temporary relations.
    ///
    /// # Errors
    /// 0A000.
    pub(crate) fn refuse_others(self, schema: &str) -> Result<()> {
        match is_temporary_schema(schema) && schema != self.own {
            true => Err(Error::unsupported("cannot access temporary tables of other sessions")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_relations_come_first_unless_the_path_says_where() {
        let path = |named: &[&str]| -> Vec<String> {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            SearchPath::new(&named, "pg_temp_7").schemas().map(str::to_owned).collect()
        };
        assert_eq!(path(&["public"]), ["pg_temp_7", "public"]);
        assert_eq!(path(&["public", "pg_temp"]), ["public", "pg_temp_7"]);
    }
}
