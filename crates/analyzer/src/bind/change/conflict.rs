//! ON CONFLICT.

use super::Target;
use crate::bind::row::bind_inferred;
use crate::bind::scope::Clause;
use crate::bind::{Binder, names};
use crate::error::{Error, Result};
use crate::tree::{Conflict, ConflictKeys, ConflictTarget, ConflictUpdate, Kind};
use grammar::tree::{
    IndexElem, InferClause, NodeEnum, OnConflictAction, OnConflictClause, SortByDir, SortByNulls,
};

impl Binder<'_> {
    pub(super) fn conflict(
        &mut self,
        clause: Option<&OnConflictClause>,
        target: &Target,
    ) -> Result<Option<Conflict>> {
        let Some(clause) = clause else { return Ok(None) };
        let of = match clause.infer.as_deref() {
            None => ConflictTarget::Any,
            Some(infer) => self.inferred(infer, target)?,
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
        let items = self.excluded_item(target, excluded)?;
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
        let update = ConflictUpdate { excluded, targets, values, filter };
        Ok(Some(Conflict { target: of, update: Some(update) }))
    }

    /// The constraint that ON CONFLICT names, by its columns or its name.
    fn inferred(&mut self, infer: &InferClause, target: &Target) -> Result<ConflictTarget> {
        if !infer.conname.is_empty() {
            // A view has no constraints.
            if let Some((view, _)) = &target.view {
                let (constraint, view) = (&infer.conname, &view.name);
                let message =
                    format!("constraint \"{constraint}\" for table \"{view}\" does not exist");
                return Err(Error::new("42704", message));
            }
            return Ok(ConflictTarget::Constraint(infer.conname.clone()));
        }
        let (mut columns, mut expressions) = (Vec::new(), Vec::new());
        for node in &infer.index_elems {
            let NodeEnum::IndexElem(element) = names::node(Some(node))? else {
                return Err(Error::missing("this ON CONFLICT target").at(infer.location));
            };
            match self.inferred_column(element, infer, target)? {
                Some(column) => columns.push(column),
                None => expressions.extend(element.expr.as_deref()),
            }
        }
        let condition = infer.where_clause.as_deref();
        if target.view.is_some() && (condition.is_some() || !expressions.is_empty()) {
            let what = "an expression in an ON CONFLICT target of a view";
            return Err(Error::missing(what).at(infer.location));
        }
        if let Some(node) = condition {
            self.in_clause(Clause::IndexPredicate, |binder| binder.required(Some(node)))?;
        }
        // They name the table as the statement does.
        let mut table = target.table.clone();
        let mut items = self.scopes.last().into_iter().flat_map(|scope| &scope.items);
        if let Some(item) = items.find(|item| item.relation == Some(target.relation))
            && item.name != table.name
        {
            (table.name, table.schema) = (item.name.clone(), None);
        }
        let (expressions, condition) =
            bind_inferred(self.catalog, &table, &expressions, condition)?;
        Ok(ConflictTarget::Keys(ConflictKeys { columns, expressions, condition }))
    }

    /// An element of an ON CONFLICT target; `None` if it is no column.
    fn inferred_column(
        &mut self,
        element: &IndexElem,
        infer: &InferClause,
        target: &Target,
    ) -> Result<Option<usize>> {
        let refused = |what: &str| {
            let message = format!("{what} is not allowed in ON CONFLICT clause");
            Err(Error::new("42P10", message).at(infer.location))
        };
        if !matches!(element.ordering(), SortByDir::Undefined | SortByDir::SortbyDefault) {
            return refused("ASC/DESC");
        }
        let nulls = element.nulls_ordering();
        if !matches!(nulls, SortByNulls::Undefined | SortByNulls::SortbyNullsDefault) {
            return refused("NULLS FIRST/LAST");
        }
        if !element.collation.is_empty() || !element.opclass.is_empty() {
            let what = "a collation or operator class in an ON CONFLICT target";
            return Err(Error::missing(what).at(infer.location));
        }
        if let Some(node) = element.expr.as_deref() {
            let bound =
                self.in_clause(Clause::IndexExpression, |binder| binder.required(Some(node)))?;
            return Ok(match bound.kind {
                Kind::Column(relation, at) if relation == target.relation => Some(at),
                _ => None,
            });
        }
        if let Some((_, bound)) = &target.view
            && let Some(at) = bound.position(&element.name)
        {
            let refused = |_| {
                let what = "a computed column of a view in an ON CONFLICT target";
                Error::missing(what).at(infer.location)
            };
            return bound.place(at, target.event).map(Some).map_err(refused);
        }
        let mut all = target.table.columns.iter().enumerate();
        let found = all
            .find(|(at, column)| column.name == element.name && !target.table.hidden.contains(at));
        if found.is_some() && self.hiding_variable(None, &element.name, -1).is_some() {
            let message =
                "there is no unique or exclusion constraint matching the ON CONFLICT specification";
            return Err(Error::new("42P10", message));
        }
        if found.is_some() {
            self.refuse_variable(&element.name, infer.location)?;
        }
        match found {
            Some((at, _)) if target.view.is_none() => Ok(Some(at)),
            _ => {
                let message = format!("column \"{}\" does not exist", element.name);
                Err(Error::new("42703", message).at(infer.location))
            }
        }
    }
}
