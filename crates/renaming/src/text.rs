//! A text that follows new names.

use crate::Caller;
use crate::mentions::is_regclass;
use crate::names::{Lookup, Unclear};
use crate::quoting::{always_quoted, joined};
use catalog_views::pg_catalog::quote_ident;
use grammar::written::{Constant, Name, Names};
use parser::object_name;
use store::catalog::Table;

/// What makes a statement of an expression.
const SELECT: &str = "SELECT ";

/// A place of a text, and what stands there then.
type Edit = (usize, usize, String);

/// What becomes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Followed {
    /// It stays.
    Same,
    /// It stays, but a name in it is also one of WITH: it must be bound to see whether it means the same.
    Unsure,
    /// It is this one.
    Text(String),
}

impl Lookup<'_> {
    /// The text of an expression. `own` is the table over whose row it is, before and after the change.
    pub(crate) fn expression(
        &self,
        text: &str,
        own: Option<(&Table, &Table)>,
    ) -> Result<Option<String>, Unclear> {
        match self.script(&format!("{SELECT}{text}"), own)? {
            Followed::Text(text) => Ok(text.strip_prefix(SELECT).map(str::to_owned)),
            Followed::Same | Followed::Unsure => Ok(None),
        }
    }

    /// The text of statements.
    pub(crate) fn script(
        &self,
        text: &str,
        own: Option<(&Table, &Table)>,
    ) -> Result<Followed, Unclear> {
        let Some(names) = Names::of(text) else { return Ok(Followed::Same) };
        let mut is_unsure = false;
        let mut edits: Vec<Edit> = Vec::new();
        for at in 0..names.relations.len() {
            is_unsure |= self.follow_relation(text, &names, at, &mut edits)?;
        }
        for call in &names.calls {
            let Some((schema, name)) = call.name.split() else { continue };
            if let Some(parts) = self.function_name(schema, name, call.arguments)? {
                edits.push(renamed(text, &call.name, &parts)?);
            }
        }
        for written in &names.types {
            let Some((schema, name)) = written.split() else { continue };
            if let Some(parts) = self.type_name(schema, name) {
                edits.push(renamed(text, written, &parts)?);
            }
        }
        for constant in &names.constants {
            edits.extend(self.constant(text, constant)?);
        }
        if let Some((old, new)) = own {
            own_name(text, &names, (old, new), &mut edits)?;
        }
        Ok(match edits.is_empty() {
            true if is_unsure => Followed::Unsure,
            true => Followed::Same,
            false => Followed::Text(edited(text, edits)),
        })
    }

    /// A relation in FROM, or one that is changed, by its place. Returns whether a name of WITH may hide it.
    fn follow_relation(
        &self,
        text: &str,
        names: &Names,
        at: usize,
        edits: &mut Vec<Edit>,
    ) -> Result<bool, Unclear> {
        let Some(relation) = names.relations.get(at) else { return Ok(false) };
        let Some((schema, name)) = relation.name.split() else { return Ok(false) };
        let Some((old, new)) = self.relation(schema, name) else { return Ok(false) };
        let parts = self.name_of(schema, new);
        let given = relation.alias.as_ref().map_or(&[][..], |(_, columns)| columns.as_slice());
        let is_alone = names.relations.len() == 1 && matches!(self.caller, Some(Caller::View(_)));
        let columns = self.columns((old, new), given, |column| {
            match relation.is_target || is_alone || !may_have(text, column) {
                true => column.to_owned(),
                // No other name of the text means the new column, and no join by names takes it.
                false => unused(text, column, at + 1),
            }
        });
        let columns = columns.as_deref().unwrap_or(given);
        let is_renamed = !relation.name.parts.ends_with(&parts);
        if !is_renamed && columns == given {
            return Ok(false);
        }
        if schema.is_none() && names.ctes.iter().any(|cte| cte == name) {
            return Ok(true);
        }
        if relation.is_target && columns != given {
            return Err(Unclear);
        }
        let alias = match &relation.alias {
            // It has this name now, as once before.
            Some((alias, _)) if columns.is_empty() && alias == new.name() => None,
            Some((alias, _)) => Some(alias.as_str()),
            None => {
                let is_needed = !columns.is_empty()
                    || names.refer_to(name)
                    || new.name() != name && names.have(new.name());
                is_needed.then_some(name)
            }
        };
        let alias = alias.map(|alias| (alias, columns));
        edits.push(relation.rewritten(text, &parts, alias, quote_ident).ok_or(Unclear)?);
        if relation.alias.is_none() {
            self.drop_schemas(text, names, (old.schema(), name), edits)?;
        }
        Ok(false)
    }

    /// References to columns with the schema of a relation, which is an alias now.
    fn drop_schemas(
        &self,
        text: &str,
        names: &Names,
        (schema, name): (&str, &str),
        edits: &mut Vec<Edit>,
    ) -> Result<(), Unclear> {
        for (column, has_star) in &names.columns {
            let qualifiers = column.parts.len() - usize::from(!has_star);
            let Some(first) = qualifiers.checked_sub(2) else { continue };
            if column.parts[first + 1] != name || self.path.resolve(&column.parts[first]) != schema
            {
                continue;
            }
            let start = column.without_first(text, first + 1).ok_or(Unclear)?;
            let edit = (column.start, start, String::new());
            if !edits.contains(&edit) {
                edits.push(edit);
            }
        }
        Ok(())
    }

    /// A string that is the name of a relation.
    fn constant(&self, text: &str, constant: &Constant) -> Result<Option<Edit>, Unclear> {
        if !is_regclass(&constant.context) {
            return Ok(None);
        }
        let Ok(name) = object_name(&constant.value) else { return Ok(None) };
        let schema = name.schema.as_deref();
        let Some((_, new)) = self.relation(schema, &name.name) else { return Ok(None) };
        let parts = self.name_of(schema, new);
        let written: Vec<String> = name.schema.iter().chain([&name.name]).cloned().collect();
        if parts == written {
            return Ok(None);
        }
        let value = match constant.value == always_quoted(&written) {
            true => always_quoted(&parts),
            false => joined(&parts),
        };
        let value = format!("'{}'", value.replace('\'', "''"));
        Ok(Some((constant.start, constant.end(text).ok_or(Unclear)?, value)))
    }
}

/// Whether a text may have the name of a column, or joins by names that it does not write.
fn may_have(text: &str, column: &str) -> bool {
    let text = text.to_lowercase();
    let is_there = |word: &str| text.contains(word);
    is_there("natural")
        || is_there("u&")
        || column.contains('"')
        || is_there(&column.to_lowercase())
}

/// A name with a number, from this one on, that a text does not have.
fn unused(text: &str, column: &str, mut number: usize) -> String {
    let text = text.to_lowercase();
    loop {
        let name = format!("{column}_{number}");
        if !text.contains(&name.to_lowercase()) {
            return name;
        }
        number += 1;
    }
}

/// The name of the table over whose row an expression is.
fn own_name(
    text: &str,
    names: &Names,
    (old, new): (&Table, &Table),
    edits: &mut Vec<Edit>,
) -> Result<(), Unclear> {
    if (&old.schema, &old.name) == (&new.schema, &new.name) {
        return Ok(());
    }
    for (column, has_star) in &names.columns {
        let qualifiers = match (column.parts.len(), has_star) {
            // The row as a whole, unless a column has this name.
            (1, false) if old.column(&column.parts[0]).is_none() => 1,
            (parts, has_star) => parts - usize::from(!has_star),
        };
        let qualifiers = column.parts[..qualifiers].to_vec();
        if qualifiers.last().is_some_and(|last| *last == old.name) {
            let qualifier = Name { parts: qualifiers, start: column.start };
            edits.push(renamed(text, &qualifier, std::slice::from_ref(&new.name))?);
        }
    }
    Ok(())
}

fn renamed(text: &str, name: &Name, parts: &[String]) -> Result<Edit, Unclear> {
    Ok((name.start, name.end(text).ok_or(Unclear)?, joined(parts)))
}

/// A text with edits at places that do not overlap.
fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
    let mut edited = text.to_owned();
    for (start, end, new) in edits {
        edited.replace_range(start..end, &new);
    }
    edited
}
