//! ON CONFLICT.

use super::Target;
use crate::bind::from::part_of;
use crate::bind::scope::Clause;
use crate::bind::{Binder, contains, names};
use crate::error::{Error, Result};
use crate::tree::{Conflict, ConflictTarget, ConflictUpdate, Kind};
use grammar::tree::{InferClause, NodeEnum, OnConflictAction, OnConflictClause};

impl Binder<'_> {
    pub(super) fn conflict(
        &mut self,
        clause: Option<&OnConflictClause>,
        target: &Target,
    ) -> Result<Option<Conflict>> {
        let Some(clause) = clause else { return Ok(None) };
        let of = match clause.infer.as_deref() {
            None => ConflictTarget::Any,
            Some(infer) => inferred(infer, target)?,
        };
        if clause.action() != OnConflictAction::OnconflictUpdate {
            return Ok(Some(Conflict { target: of, update: None }));
        }
        if of == ConflictTarget::Any {
            let message =
                "ON CONFLICT DO UPDATE requires inference specification or constraint name";
            return Err(Error::new("42601", message)
                .hint("For example, ON CONFLICT (column_name).")
                .at(clause.location));
        }
        let excluded = self.next_relation();
        let items = part_of(excluded, "excluded", None, &target.table).items;
        let before = self.scopes.last().map_or(0, |scope| scope.items.len());
        self.add_items(items, true)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.iter_mut().for_each(|item| item.is_lateral_only = false);
        }
        let (targets, values) = self.set_clause(&clause.target_list, target)?;
        let filter = self.condition(clause.where_clause.as_deref(), Clause::Where, "WHERE")?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.truncate(before);
        }
        for value in values.iter().chain(&filter) {
            if contains(value, &mut |part| matches!(part.kind, Kind::Subquery(_))) {
                let location = value.location.0;
                return Err(Error::missing("a subquery in ON CONFLICT DO UPDATE").at(location));
            }
        }
        let update = ConflictUpdate { excluded, targets, values, filter };
        Ok(Some(Conflict { target: of, update: Some(update) }))
    }
}

/// The constraint that ON CONFLICT names, by its columns or its name.
fn inferred(infer: &InferClause, target: &Target) -> Result<ConflictTarget> {
    if !infer.conname.is_empty() {
        return Ok(ConflictTarget::Constraint(infer.conname.clone()));
    }
    if infer.where_clause.is_some() {
        return Err(Error::missing("WHERE of an ON CONFLICT target").at(infer.location));
    }
    let mut columns = Vec::with_capacity(infer.index_elems.len());
    for node in &infer.index_elems {
        let NodeEnum::IndexElem(element) = names::node(Some(node))? else {
            return Err(Error::missing("this ON CONFLICT target").at(infer.location));
        };
        if element.expr.is_some() || !element.collation.is_empty() || !element.opclass.is_empty() {
            return Err(Error::missing("an expression as ON CONFLICT target").at(infer.location));
        }
        let mut all = target.table.columns.iter().enumerate();
        let found = all
            .find(|(at, column)| column.name == element.name && !target.table.hidden.contains(at));
        match found {
            Some((at, _)) => columns.push(at),
            None => {
                let message = format!("column \"{}\" does not exist", element.name);
                return Err(Error::new("42703", message).at(infer.location));
            }
        }
    }
    Ok(ConflictTarget::Columns(columns))
}
