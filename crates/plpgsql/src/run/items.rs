//! Assignments to parts of values: items and slices of arrays, parts of `jsonb`, and fields of rows within them.

use super::Machine;
use super::context::in_text;
use super::host::{Host, Place};
use crate::tree::{Sql, Step, Target};
use values::error::{Error, Result, SqlState};

/// A value around a part, and where the part is in it.
enum Around<V> {
    /// A row with its fields, and the place of one of them.
    Row(V, Vec<V>, usize),
    /// An array, and the subscripts.
    Array(V, Vec<Place>),
    /// A `jsonb` value: the path, and whether it begins with a number.
    Json(V, Vec<String>, bool),
}

/// A value around a part, the part, and the type that is assigned to it.
type Entered<V> = (Around<V>, V, String);

impl<H: Host> Machine<'_, H> {
    /// Assigns an expression to a part of a variable.
    pub(super) async fn assign_item(
        &mut self,
        target: &Target,
        steps: &[Step],
        value: &Sql,
    ) -> Result<()> {
        let whole = self.scopes.whole(target).map_err(|error| in_text(value, error))?;
        let fields = whole.names.iter().cloned().map(Step::Field);
        let steps: Vec<Step> = fields.chain(steps.iter().cloned()).collect();
        let (target, of) = (whole.target, whole.of);
        let of = match of {
            Some(of) => of,
            None => self.host.written_type(&whole.value).unwrap_or_default(),
        };
        let name = target.parts.last().map_or("", String::as_str);
        let value = self.with_part((name, whole.value, of), &steps, value).await?;
        self.assign(&target, value).await
    }

    /// A value with that of an expression in the place of a part.
    async fn with_part<'s>(
        &mut self,
        (mut column, mut part, mut of): (&'s str, H::Value, String),
        steps: &'s [Step],
        value: &Sql,
    ) -> Result<H::Value> {
        let (mut all, mut rest) = (Vec::new(), steps);
        while let Some(first) = rest.first() {
            let (around, inner, inner_of) = match first {
                Step::Field(name) => {
                    let entered = self.field_of(part, column, name)?;
                    column = name;
                    rest = &rest[1..];
                    entered
                }
                Step::Item(_) | Step::Slice(..) => {
                    let is_subscript = |step: &&Step| !matches!(step, Step::Field(_));
                    let count = rest.iter().take_while(is_subscript).count();
                    let (subscripts, behind) = rest.split_at(count);
                    rest = behind;
                    self.items_of(part, &of, subscripts, behind.is_empty()).await?
                }
            };
            all.push(around);
            (part, of) = (inner, inner_of);
        }
        let mut value = self.value(value, Some(&of)).await?;
        for around in all.into_iter().rev() {
            value = match around {
                Around::Row(whole, mut fields, place) => {
                    if let Some(field) = fields.get_mut(place) {
                        *field = value;
                    }
                    self.host.row_like(&whole, Some(fields))?
                }
                Around::Array(array, places) => self.host.with_item(&array, &places, value)?,
                Around::Json(json, path, is_array) => {
                    self.host.with_json(&json, &path, is_array, &value)?
                }
            };
        }
        Ok(value)
    }

    /// The field of a row.
    fn field_of(&self, row: H::Value, column: &str, name: &str) -> Result<Entered<H::Value>> {
        let refused = |state, why: String| {
            let message =
                format!("cannot assign to field \"{name}\" of column \"{column}\" because {why}");
            Err(Error::new(state, message))
        };
        let of_row = self.host.type_of(&row);
        let Some(attributes) = self.host.attributes(&row) else {
            let why = format!("its type {of_row} is not a composite type");
            return refused(SqlState::DatatypeMismatch, why);
        };
        let Some(place) = attributes.iter().position(|(known, _)| known == name) else {
            let why = format!("there is no such column in data type {of_row}");
            return refused(SqlState::UndefinedColumn, why);
        };
        let is_null = self.host.is_null(&row);
        let whole = if is_null { self.host.row_like(&row, Some(Vec::new()))? } else { row };
        let fields = self.host.fields(&whole).unwrap_or_default();
        let part = fields.get(place).cloned().unwrap_or_else(|| whole.clone());
        Ok((Around::Row(whole, fields, place), part, attributes[place].1.clone()))
    }

    /// The item or slice of an array, or the part of a `jsonb` value. It is not looked up if it is the `last` step.
    async fn items_of(
        &mut self,
        array: H::Value,
        of: &str,
        subscripts: &[Step],
        is_last: bool,
    ) -> Result<Entered<H::Value>> {
        if self.host.type_of(&array) == "jsonb" {
            let (path, is_array) = self.path(subscripts).await?;
            let part = array.clone();
            return Ok((Around::Json(array, path, is_array), part, "jsonb".to_owned()));
        }
        // A domain has the items of its arrays.
        let below = self.host.type_of(&array);
        let of = if self.host.item_type(of).is_some() { of } else { &below };
        let item = self.host.item_type(of).ok_or_else(|| {
            let message =
                format!("cannot subscript type {below} because it does not support subscripting");
            Error::new(SqlState::DatatypeMismatch, message)
        })?;
        let mut places = Vec::with_capacity(subscripts.len());
        for subscript in subscripts {
            places.push(match subscript {
                Step::Item(at) => Place::Item(self.subscript(at).await?),
                Step::Slice(from, to) => Place::Slice(
                    self.slice_bound(from.as_ref()).await?,
                    self.slice_bound(to.as_ref()).await?,
                ),
                Step::Field(_) => continue,
            });
        }
        let is_slice = places.iter().any(|place| matches!(place, Place::Slice(..)));
        let part = match is_last || is_slice {
            true => array.clone(),
            false => self.host.item(&array, &places)?,
        };
        let of = if is_slice { of } else { item };
        Ok((Around::Array(array, places), part, of.to_owned()))
    }

    /// The bound of a slice, if it has one.
    async fn slice_bound(&mut self, sql: Option<&Sql>) -> Result<Option<i64>> {
        match sql {
            Some(sql) => self.subscript(sql).await.map(Some),
            None => Ok(None),
        }
    }

    async fn subscript(&mut self, sql: &Sql) -> Result<i64> {
        let value = self.value(sql, Some("integer")).await?;
        self.host.number(&value).ok_or_else(|| {
            let message = "array subscript in assignment must not be null";
            Error::new(SqlState::NullValueNotAllowed, message)
        })
    }

    /// The subscripts of a `jsonb` value as a path, and whether it begins with a number.
    async fn path(&mut self, subscripts: &[Step]) -> Result<(Vec<String>, bool)> {
        let (mut path, mut is_array) = (Vec::with_capacity(subscripts.len()), false);
        for step in subscripts {
            let Step::Item(sql) = step else {
                let message = "jsonb subscript does not support slices";
                return Err(Error::new(SqlState::DatatypeMismatch, message));
            };
            let value = self.value(sql, None).await?;
            let of = self.host.type_of(&value);
            let text = match of.as_str() {
                "smallint" | "integer" => {
                    is_array |= path.is_empty();
                    self.host.number(&value).map(|number| number.to_string())
                }
                "text" | "name" => self.host.text(&value),
                of if of.starts_with("character") => self.host.text(&value),
                of => {
                    let message = format!("subscript type {of} is not supported");
                    let hint = "jsonb subscript must be coercible to either integer or text.";
                    return Err(Error::new(SqlState::DatatypeMismatch, message).with_hint(hint));
                }
            };
            path.push(text.ok_or_else(|| {
                let message = "jsonb subscript in assignment must not be null";
                Error::new(SqlState::NullValueNotAllowed, message)
            })?);
        }
        Ok((path, is_array))
    }
}
