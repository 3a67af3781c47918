//! Assignments to items and slices of arrays.

use super::Machine;
use super::host::{Host, Place};
use super::scope::Content;
use crate::tree::{Sql, Subscript, Target};
use values::error::{Error, Result, SqlState};

impl<H: Host> Machine<'_, H> {
    /// Assigns to an item or a slice of an array.
    pub(super) async fn assign_item(
        &mut self,
        target: &Target,
        subscripts: &[Subscript],
        value: &Sql,
    ) -> Result<()> {
        let (slot, field) = self.scopes.slot(target)?;
        let (of, array) = match (&slot.content, field) {
            (Content::Value { of, value }, None) => (of.clone(), value.clone()),
            (Content::Row(fields), Some(field)) => {
                let found = fields.iter().find(|(name, ..)| name == field);
                let (_, of, value) = found.ok_or_else(|| not_an_array(&target.parts))?;
                (of.clone(), value.clone())
            }
            _ => return Err(not_an_array(&target.parts)),
        };
        let item = self.host.item_type(&of).ok_or_else(|| match of.as_str() {
            "jsonb" => Error::unsupported("a subscript of jsonb in an assignment is not supported"),
            _ => Error::new(
                SqlState::DatatypeMismatch,
                format!("cannot subscript type {of} because it does not support subscripting"),
            ),
        })?;
        let mut places = Vec::with_capacity(subscripts.len());
        for subscript in subscripts {
            places.push(match subscript {
                Subscript::Item(at) => Place::Item(self.subscript(at).await?),
                Subscript::Slice(from, to) => {
                    let from = match from {
                        Some(from) => Some(self.subscript(from).await?),
                        None => None,
                    };
                    let to = match to {
                        Some(to) => Some(self.subscript(to).await?),
                        None => None,
                    };
                    Place::Slice(from, to)
                }
            });
        }
        let is_slice = places.iter().any(|place| matches!(place, Place::Slice(..)));
        let value = self.value(value, Some(if is_slice { &of } else { &item })).await?;
        let value = self.host.with_item(&array, &places, value)?;
        self.assign(target, value).await
    }

    async fn subscript(&mut self, sql: &Sql) -> Result<i64> {
        let value = self.value(sql, Some("integer")).await?;
        self.host.number(&value).ok_or_else(|| {
            let message = "array subscript in assignment must not be null";
            Error::new(SqlState::NullValueNotAllowed, message)
        })
    }
}

fn not_an_array(parts: &[String]) -> Error {
    let name = parts.join(".");
    Error::unsupported(format!("an assignment to an item of {name} is not supported"))
}
