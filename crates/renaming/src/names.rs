//! What names mean before a change, and what is called so after it.

use crate::{Caller, Renaming};
use catalog_views::relation_names::find_in;
use catalog_views::search_path::SearchPath;
use store::catalog::{Catalog, ColumnId, Function, Relation, Table};
use system_catalog::functions;
use user_types::Visible;

/// A name looked up in some schemas.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) renaming: Renaming<'a>,
    pub(crate) path: SearchPath<'a>,
    /// The text that has the name; `None` if nobody knows which functions it calls.
    pub(crate) caller: Option<Caller<'a>>,
}

impl Lookup<'_> {
    /// The relation that a name has meant, and the same one now.
    pub(crate) fn relation(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Option<(&Relation, &Relation)> {
        let old = find_in(self.renaming.before, self.path, schema, name)?;
        Some((old, self.renaming.after.relation_by_id(old.id())?))
    }

    /// The name of a relation now, with a schema if the text writes one or the name alone does not find it.
    pub(crate) fn name_of(&self, written: Option<&str>, relation: &Relation) -> Vec<String> {
        let is_found = || {
            let found = find_in(self.renaming.after, self.path, None, relation.name());
            found.is_some_and(|found| found.id() == relation.id())
        };
        let name = relation.name().to_owned();
        match written {
            None if is_found() => vec![name],
            Some(schema) if self.path.resolve(schema) == relation.schema() => {
                vec![schema.to_owned(), name]
            }
            _ => vec![relation.schema().to_owned(), name],
        }
    }

    /// The name of a type now. `None` if it is called as before, or is none of users.
    pub(crate) fn type_name(&self, schema: Option<&str>, name: &str) -> Option<Vec<String>> {
        let (before, after) = (self.renaming.before, self.renaming.after);
        let (old, is_array) = Visible::new(before, self.path.schemas()).find(schema, name)?;
        let new = after.type_by_id(old.id)?;
        if is_array || (&old.schema, &old.name) == (&new.schema, &new.name) {
            return None;
        }
        let found = Visible::new(after, self.path.schemas()).find(None, &new.name);
        let is_found = found.is_some_and(|(found, is_array)| found.id == new.id && !is_array);
        Some(match schema {
            None if is_found => vec![new.name.clone()],
            _ => vec![new.schema.clone(), new.name.clone()],
        })
    }

    /// The name of the function that a call means now. `None` if it is called as before.
    ///
    /// # Errors
    /// Several functions take so many arguments, and the text calls more than one of them.
    pub(crate) fn function_name(
        &self,
        schema: Option<&str>,
        name: &str,
        arguments: usize,
    ) -> Result<Option<Vec<String>>, Unclear> {
        let (before, after) = (self.renaming.before, self.renaming.after);
        let named = |catalog: &Catalog, schema: Option<&str>, name: &str| {
            let schemas = self.path.of_function(schema).into_iter();
            let all = schemas.flat_map(|schema| catalog.functions_named(schema, name).to_vec());
            all.filter(|of| routines::takes(of, arguments)).collect::<Vec<_>>()
        };
        let is_called_anew = |old: &Function| {
            let new = after.function_by_id(old.id);
            new.filter(|new| (&new.schema, &new.name) != (&old.schema, &old.name))
        };
        let old = named(before, schema, name);
        let Some(mut new) = old.iter().find_map(|old| is_called_anew(old)) else { return Ok(None) };
        let of_system = |name: &str| functions::named(name).next().is_some();
        let is_of_system = schema.is_none() && of_system(name);
        let is_other = |old: &Function, new: &Function| {
            is_called_anew(old).is_none_or(|of| (&of.schema, &of.name) != (&new.schema, &new.name))
        };
        if is_of_system || old.iter().any(|old| is_other(old, new)) {
            let called = self.caller.and_then(|caller| (self.renaming.called)(caller));
            let called = called.ok_or(Unclear)?;
            let is_called = |old: &Function| called.contains(&old.id);
            let meant = old.iter().filter(|old| is_called(old)).find_map(|old| is_called_anew(old));
            match meant {
                Some(meant) => new = meant,
                None => return Ok(None),
            }
            if is_of_system || old.iter().any(|old| is_called(old) && is_other(old, new)) {
                return Err(Unclear);
            }
        }
        let is_alone =
            matches!(named(after, None, &new.name).as_slice(), [one] if one.id == new.id);
        Ok(Some(match schema {
            None if is_alone && !of_system(&new.name) => vec![new.name.clone()],
            _ => vec![new.schema.clone(), new.name.clone()],
        }))
    }

    /// The names that a text has for the columns of a relation, where some have others now; `given` are those of its alias, and
    /// `added` names columns that it did not have. `None` if all columns are called as before.
    pub(crate) fn columns(
        &self,
        (old, new): (&Relation, &Relation),
        given: &[String],
        added: impl Fn(&str) -> String,
    ) -> Option<Vec<String>> {
        let (before, now) = self.columns_of(old, new)?;
        let is_same = before.len() == now.len()
            && now.iter().enumerate().all(|(at, (name, was))| {
                *was == Some(at) && before.get(at).is_some_and(|before| before == name)
            });
        if is_same {
            return None;
        }
        let known = |was: usize| given.get(was).or_else(|| before.get(was)).cloned();
        let mut names: Vec<String> = now
            .iter()
            .map(|(name, was)| was.and_then(known).unwrap_or_else(|| added(name)))
            .collect();
        let last = names.iter().zip(&now).rposition(|(name, (own, _))| name != own);
        names.truncate(last.map_or(0, |last| last + 1));
        Some(names)
    }

    /// The names of columns before, and those of now with their positions before. `None` where they cannot differ.
    fn columns_of(&self, old: &Relation, new: &Relation) -> Option<(Vec<String>, Vec<Column>)> {
        match (old, new) {
            (Relation::Table(old), Relation::Table(new)) => {
                let known: Vec<_> = shown(old).collect();
                let position = |id| known.iter().position(|(known, _)| *known == id);
                let now = shown(new).map(|(id, name)| (name.to_owned(), position(id))).collect();
                Some((known.iter().map(|(_, name)| (*name).to_owned()).collect(), now))
            }
            (Relation::View(old), Relation::View(new)) => {
                let (_, names) = self.renaming.view.filter(|(view, _)| *view == old.id)?;
                let now = new.columns.iter().enumerate().map(|(at, name)| (name.clone(), Some(at)));
                Some((names.to_vec(), now.collect()))
            }
            _ => None,
        }
    }
}

/// The name of a column, and its position before.
type Column = (String, Option<usize>);

/// The columns of a table that names find.
fn shown(table: &Table) -> impl Iterator<Item = (ColumnId, &str)> {
    let shown = table.columns.iter().filter(|column| !column.hidden);
    shown.map(|column| (column.id, column.name.as_str()))
}

/// A name may mean several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unclear;
