//! Select lists.

use super::Binder;
use super::names;
use super::scope::Item;
use super::star::{self, Star};
use crate::error::{Error, Result};
use crate::tree::{Column, Expr, FieldValue, Kind, Location, Output};
use grammar::column_name;
use grammar::tree::{AIndirection, ColumnRef, Node, NodeEnum};

/// Whether a reference is `*` or `t.*`.
pub(super) fn is_star(reference: &ColumnRef) -> bool {
    matches!(reference.fields.last(), Some(Node { node: Some(NodeEnum::AStar(_)) }))
}

/// Whether it is `(row).*`.
pub(super) fn has_star(indirection: &AIndirection) -> bool {
    let last = indirection.indirection.last();
    matches!(last, Some(Node { node: Some(NodeEnum::AStar(_)) }))
}

impl Binder<'_> {
    /// The items of a select list.
    pub(super) fn targets(&mut self, nodes: &[Node]) -> Result<Vec<Output>> {
        let mut outputs = Vec::with_capacity(nodes.len());
        for node in nodes {
            let NodeEnum::ResTarget(target) = names::node(Some(node))? else {
                return Err(Error::missing("this form"));
            };
            let value = names::node(target.val.as_deref())?;
            match value {
                NodeEnum::ColumnRef(reference) if is_star(reference) => {
                    outputs.extend(self.star(reference)?);
                    continue;
                }
                NodeEnum::AIndirection(indirection) if has_star(indirection) => {
                    outputs.extend(self.fields(indirection)?);
                    continue;
                }
                _ => {}
            }
            let expr = self.expression(value)?;
            let name = match target.name.as_str() {
                "" => column_name(value).unwrap_or_else(|| "?column?".to_owned()),
                name => name.to_owned(),
            };
            outputs.push(Output { name, expr });
        }
        Ok(outputs)
    }

    /// The columns of `*` or `t.*`.
    pub(super) fn star(&mut self, reference: &ColumnRef) -> Result<Vec<Output>> {
        let location = reference.location;
        let output = |(name, expr): &(String, Expr)| Output {
            name: name.clone(),
            expr: Expr { location: Location(location), ..expr.clone() },
        };
        let parts = names::parts(&reference.fields);
        let (schema, table) = match parts.as_slice() {
            [] => {
                let Some(scope) = self.scopes.last() else { return Err(Error::missing("* here")) };
                let shown =
                    scope.items.iter().filter(|item| item.shows_columns && !item.is_lateral_only);
                let shown: Vec<&Item> = shown.collect();
                let all: Vec<Output> =
                    shown.iter().flat_map(|item| item.columns.iter().map(output)).collect();
                if all.is_empty() && scope.items.is_empty() {
                    let message = "SELECT * with no tables specified is not valid";
                    return Err(Error::new("42601", message).at(location));
                }
                let columns = star::written(scope, &shown);
                self.note_star(location, columns);
                return Ok(all);
            }
            [table] => (None, *table),
            [.., schema, table] => (Some(*schema), *table),
        };
        for scope in self.named_scopes() {
            if let Some(item) = scope.item(schema, table, location)? {
                let all = item.columns.iter().map(output).collect();
                let columns = star::written(scope, &[item]);
                self.note_star(location, columns);
                return Ok(all);
            }
        }
        Err(self.no_table(table).at(location))
    }

    /// Keeps what a `*` stands for. One that was bound in other ways, too, cannot be written out.
    fn note_star(&mut self, location: i32, columns: Vec<(Option<String>, String)>) {
        let Ok(location) = usize::try_from(location) else { return };
        match self.stars.iter_mut().find(|star| star.location == location) {
            Some(known) if known.columns != columns => known.columns.clear(),
            Some(_) => {}
            None => self.stars.push(Star { location, columns }),
        }
    }

    /// `(row).*`.
    pub(super) fn fields(&mut self, indirection: &AIndirection) -> Result<Vec<Output>> {
        let steps = &indirection.indirection;
        let row = self.indirection_of(indirection, &steps[..steps.len() - 1])?;
        let location = row.location.0;
        if let Kind::WholeRow(relation) = row.kind {
            let items = self.named_scopes().flat_map(|scope| &scope.items);
            let mut items = items.filter(|item| item.relation == Some(relation));
            if let Some(item) = items.next() {
                let output = |(name, expr): &(String, Expr)| Output {
                    name: name.clone(),
                    expr: Expr { location: Location(location), ..expr.clone() },
                };
                return Ok(item.columns.iter().map(output).collect());
            }
        }
        if !row.sql_type.oid.is_row() {
            let message = format!("type {} is not composite", row.sql_type.oid);
            return Err(Error::new("42809", message).at(location));
        }
        let Some(columns) = self.row_columns(&row) else {
            return Err(Error::missing("the fields of this value").at(location));
        };
        if let Kind::Row(values) = row.kind {
            let named = columns.into_iter().zip(values);
            return Ok(named.map(|(column, expr)| Output { name: column.name, expr }).collect());
        }
        let mut outputs = Vec::new();
        for (field, Column { name, sql_type }) in columns.into_iter().enumerate() {
            let value = FieldValue { row: row.clone(), field, name: name.clone() };
            let expr = Expr::new(Kind::Field(Box::new(value)), sql_type, location);
            outputs.push(Output { name, expr });
        }
        Ok(outputs)
    }
}
