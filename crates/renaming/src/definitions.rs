//! The definitions of a catalog that follow new names.

use crate::different::Different;
use crate::names::{Lookup, Unclear};
use crate::text::Followed;
use crate::{Caller, Renaming};
use catalog_views::search_path::SearchPath;
use std::sync::Arc;
use store::catalog::{
    CatalogChange, Function, Index, IndexExpression, IndexKey, Relation, Table, Trigger, UserType,
    View,
};
use values::error::{Error, Result};

impl<'a> Renaming<'a> {
    /// What changes with the names: definitions with other texts, for the catalog after the change. A view whose text stays is
    /// among them if a name of WITH may hide what it names.
    ///
    /// # Errors
    /// 0A000 for a text that names things in a way that cannot be followed.
    pub fn changes(&self) -> Result<Vec<CatalogChange>> {
        let different = Different::of(self);
        let mut changes = Vec::new();
        for relation in self.after.relations() {
            let what = || format!("the {} {}", relation.kind(), relation.name());
            let changed = match relation {
                Relation::Table(table) => self
                    .table(&different, table)
                    .map(|next| next.map(Arc::new).map(Relation::Table)),
                Relation::View(view) => {
                    self.view(&different, view).map(|next| next.map(Arc::new).map(Relation::View))
                }
                Relation::Index(index) => self
                    .index(&different, index)
                    .map(|next| next.map(Arc::new).map(Relation::Index)),
                Relation::Sequence(_) => Ok(None),
            };
            let changed = changed.map_err(|_| refused(&what()))?;
            changes.extend(changed.map(CatalogChange::Replace));
        }
        for trigger in self.after.triggers() {
            let changed = self.trigger(&different, trigger);
            let changed = changed.map_err(|_| refused(&format!("the trigger {}", trigger.name)))?;
            changes.extend(changed.map(CatalogChange::PutTrigger));
        }
        for function in self.after.functions() {
            let what = || format!("the {} {}", function.kind(), function.name);
            let changed = self.function(&different, function).map_err(|_| refused(&what()))?;
            changes.extend(changed.map(CatalogChange::put_function));
        }
        for user in self.after.user_types() {
            let refused = |_: Unclear| refused(&format!("the domain {}", user.name));
            self.refuse_domain(&different, user).map_err(refused)?;
        }
        Ok(changes)
    }

    fn within(&self, path: SearchPath<'a>) -> Lookup<'a> {
        Lookup { renaming: *self, path, caller: None }
    }

    fn table(&self, different: &Different, table: &Table) -> Result<Option<Table>, Unclear> {
        let own = self.before.table_by_id(table.id).map(|old| (&**old, table));
        let lookup = self.within(self.path);
        let mut next = Table::clone(table);
        let mut is_other = false;
        let columns = next.columns.iter_mut();
        let of_columns = columns.flat_map(|column| [&mut column.default, &mut column.generated]);
        let checks = next.checks.iter_mut().map(|check| &mut check.expression);
        for text in of_columns.flatten().chain(checks) {
            is_other |= follow(&lookup, different, text, own)?;
        }
        if let Some(materialized) = &mut next.materialized {
            let path = self.after.table_by_id(table.id).and_then(|of| of.materialized.as_ref());
            let path = path.map_or(self.path, |of| self.path.of_view(&of.search_path));
            let view = table.as_view();
            let caller = view.as_ref().map(Caller::View);
            let lookup = Lookup { caller, ..self.within(path) };
            is_other |= follow_query(&lookup, different, &mut materialized.sql)?;
        }
        next.version += 1;
        Ok(is_other.then_some(next))
    }

    fn view(&self, different: &Different, view: &'a View) -> Result<Option<View>, Unclear> {
        let path = self.path.of_view(&view.search_path);
        let lookup = Lookup { caller: Some(Caller::View(view)), ..self.within(path) };
        let mut next = View::clone(view);
        let mut is_other = follow_query(&lookup, different, &mut next.sql)?;
        for (_, text) in &mut next.options.defaults {
            is_other |= follow(&self.within(self.path), different, text, None)?;
        }
        Ok(is_other.then_some(next))
    }

    fn index(&self, different: &Different, index: &Index) -> Result<Option<Index>, Unclear> {
        let (before, after) = (self.before, self.after);
        let own = before.table_by_id(index.table).zip(after.table_by_id(index.table));
        let own = own.map(|(old, new)| (&**old, &**new));
        let lookup = self.within(self.path);
        let mut next = Index::clone(index);
        let mut is_other = false;
        let keys = next.columns.iter_mut().filter_map(|column| match &mut column.key {
            IndexKey::Expression(expression) => Some(expression),
            IndexKey::Column(_) => None,
        });
        for IndexExpression { text, shown, .. } in keys.chain(&mut next.predicate) {
            is_other |= follow(&lookup, different, text, own)?;
            is_other |= follow(&lookup, different, shown, own)?;
        }
        Ok(is_other.then_some(next))
    }

    fn trigger(
        &self,
        different: &Different,
        trigger: &Trigger,
    ) -> Result<Option<Trigger>, Unclear> {
        let mut next = Trigger::clone(trigger);
        let Some(condition) = &mut next.condition else { return Ok(None) };
        let is_other = follow(&self.within(self.path), different, condition, None)?;
        Ok(is_other.then_some(next))
    }

    fn function(
        &self,
        different: &Different,
        function: &Function,
    ) -> Result<Option<Function>, Unclear> {
        let lookup = self.within(self.path);
        let mut next = Function::clone(function);
        let mut is_other = false;
        for default in next.parameters.iter_mut().filter_map(|of| of.default.as_mut()) {
            is_other |= follow(&lookup, different, default, None)?;
        }
        if next.is_sql_body {
            is_other |= follow_query(&lookup, different, &mut next.body)?;
        }
        Ok(is_other.then_some(next))
    }

    /// The definition of a domain is part of those of tables, and does not follow.
    fn refuse_domain(&self, different: &Different, user: &UserType) -> Result<(), Unclear> {
        let lookup = self.within(self.path);
        let domain = user.domain().into_iter();
        let texts = domain.flat_map(|domain| {
            domain.checks.iter().map(|check| &check.expression).chain(&domain.default)
        });
        for text in texts {
            if follow(&lookup, different, &mut text.clone(), None)? {
                return Err(Unclear);
            }
        }
        Ok(())
    }
}

/// Makes an expression follow. Returns whether it is another text.
fn follow(
    lookup: &Lookup<'_>,
    different: &Different,
    text: &mut String,
    own: Option<(&Table, &Table)>,
) -> Result<bool, Unclear> {
    if !different.may_be_in(text) {
        return Ok(false);
    }
    let caller = own.map(|(table, _)| Caller::Expression(table, text.as_str()));
    let followed = Lookup { caller, ..*lookup }.expression(text, own)?;
    let Some(new) = followed else { return Ok(false) };
    *text = new;
    Ok(true)
}

/// Makes a query, or statements, follow. Returns whether it must be bound again.
fn follow_query(
    lookup: &Lookup<'_>,
    different: &Different,
    text: &mut String,
) -> Result<bool, Unclear> {
    if !different.may_be_in(text) {
        return Ok(false);
    }
    match lookup.script(text, None)? {
        Followed::Same => Ok(false),
        Followed::Unsure => Ok(true),
        Followed::Text(new) => {
            *text = new;
            Ok(true)
        }
    }
}

/// The error for a definition that cannot follow.
pub fn refused(what: &str) -> Error {
    Error::unsupported(format!("a new name of what {what} mentions is not supported"))
}
