//! Declarations and assignments.

use super::Machine;
use super::context::in_text;
use super::host::{Answer, Host};
use super::rows::{content, named_fields};
use super::scope::{COMING, Content, Slot, no_field, unassigned};
use crate::tree::{Declaration, Declared, Sql, Target, TypeName};
use values::error::{Error, Result, SqlState};

/// The type of FOUND and of conditions.
pub(super) const BOOLEAN: &str = "boolean";

/// Whether an error is that of a value that a domain does not have.
fn is_of_condition(error: &Error) -> bool {
    matches!(error.state(), SqlState::NotNullViolation | SqlState::CheckViolation)
}

impl<H: Host> Machine<'_, H> {
    /// Declares a variable and gives it its first value.
    pub(super) async fn declare(&mut self, declaration: &Declaration) -> Result<()> {
        let name = declaration.name.clone();
        let (of, is_constant, not_null, default) = match &declaration.kind {
            Declared::Alias(of) => {
                let parts: Vec<String> = of.split('.').map(str::to_owned).collect();
                let place = self.scopes.place_of(&parts).ok_or_else(|| missing(of))?;
                self.scopes.declare(Slot::new(name, Content::Alias(place)));
                return Ok(());
            }
            Declared::Cursor(bound) => {
                self.declare_cursor(name, bound).await?;
                return Ok(());
            }
            Declared::Variable { of, is_constant, not_null, default } => {
                (of, *is_constant, *not_null, default)
            }
        };
        let content = match of {
            TypeName::Record => Content::Record(None),
            TypeName::RowOf(relation) => self.row_of(relation).await?,
            TypeName::Plain(of) => match self.host.null(of) {
                Err(error) if error.state() == SqlState::UndefinedObject => {
                    let content = self.of_user(of, default.as_ref()).await;
                    content.map_err(|error| match is_of_condition(&error) {
                        true => error,
                        false => error.at(declaration.position),
                    })?
                }
                _ => self.value_of(of.clone(), default.as_ref()).await?,
            },
            TypeName::TypeOf(parts) => {
                let of = self.type_of(parts).await.map_err(|e| e.at(declaration.position))?;
                self.value_of(of, default.as_ref()).await?
            }
        };
        if let (true, Some(value)) = (not_null, content.whole())
            && self.host.is_null(value)
        {
            return Err(null_refused(&name));
        }
        let is_record = content.whole().is_none();
        let is_unset = matches!(content, Content::Row(_));
        let row_type = match of {
            TypeName::RowOf(of) | TypeName::Plain(of) if is_unset => Some(of.as_str().into()),
            _ => None,
        };
        let slot = Slot::new(name, content);
        let slot = Slot { is_constant, not_null, is_unset, row_type, ..slot };
        let Some(default) = default.as_ref().filter(|_| is_record) else {
            self.scopes.declare(slot);
            return Ok(());
        };
        // A constant gets its row before it is one. Until then its name means a variable around.
        self.scopes.declare(Slot { is_constant: false, is_coming: true, ..slot });
        let target = Target { parts: vec![COMING.to_owned()] };
        self.assign_expression(&target, default).await?;
        let (slot, _) = self.scopes.slot(&target)?;
        (slot.is_constant, slot.is_coming) = (is_constant, false);
        Ok(())
    }

    async fn value_of(&mut self, of: String, default: Option<&Sql>) -> Result<Content<H::Value>> {
        let value = match default {
            Some(default) => self.value(default, Some(&of)).await?,
            None => self.null_of(&of).await?,
        };
        Ok(content(self.host, of, value))
    }

    /// A variable of a type that a user has defined, also by a table.
    async fn of_user(&mut self, of: &str, default: Option<&Sql>) -> Result<Content<H::Value>> {
        let value = match self.null_of(of).await {
            Ok(null) if self.host.is_of_table(&null) => return self.row_of(of).await,
            Ok(null) => match default {
                Some(default) if self.host.attributes(&null).is_some() => {
                    let value = self.value(default, None).await?;
                    self.row_of_value(value, &null, of).await?
                }
                Some(default) => self.value(default, Some(of)).await?,
                None => null,
            },
            // A domain that NULL is no value of.
            Err(error) if is_of_condition(&error) => match default {
                Some(default) => self.value(default, Some(of)).await?,
                None => return Err(error),
            },
            // The name of a table is the type of its rows.
            Err(error) => return self.row_of(of).await.map_err(|_| error),
        };
        Ok(content(self.host, of, value))
    }

    /// NULL of a type, also of a user's.
    pub(super) async fn null_of(&mut self, of: &str) -> Result<H::Value> {
        if let Ok(null) = self.host.null(of) {
            return Ok(null);
        }
        let (text, names) = ("NULL".to_owned(), Vec::new());
        let null = Sql { id: usize::MAX, text, position: 0, names, assignment: None };
        self.host.evaluate(&null, &[], Some(of)).await.map_err(Error::without_position)
    }

    async fn row_of(&mut self, relation: &str) -> Result<Content<H::Value>> {
        let mut fields = Vec::new();
        for (name, of) in self.host.columns_of(relation).await? {
            let value = self.null_of(&of).await?;
            fields.push((name, of, value));
        }
        Ok(Content::Row(fields))
    }

    pub(super) async fn type_of(&mut self, parts: &[String]) -> Result<String> {
        if let Some(of) = self.scopes.type_of(parts) {
            return Ok(of);
        }
        let Some((column, relation)) = parts.split_last().filter(|(_, of)| !of.is_empty()) else {
            return Err(missing(&parts.join(".")));
        };
        let relation = relation.join(".");
        let columns = self.host.columns_of(&relation).await?;
        let found = columns.into_iter().find(|(name, _)| name == column);
        found.map(|(_, of)| of).ok_or_else(|| {
            let message = format!("column \"{column}\" of relation \"{relation}\" does not exist");
            Error::new(SqlState::UndefinedColumn, message)
        })
    }

    /// The value of an expression.
    pub(super) async fn value(&mut self, sql: &Sql, to: Option<&str>) -> Result<H::Value> {
        if let Some(value) = self.computed(sql, to) {
            return value;
        }
        let read = &*self.with_rows(sql, true).map_err(|error| in_text(sql, error))?;
        let variables = self.scopes.variables(read);
        let value = self.host.evaluate(read, &variables, to).await;
        self.learn(read, &variables, to);
        value.map_err(|error| self.of_fields(sql, error))
    }

    /// Whether a condition is true.
    pub(super) async fn holds(&mut self, sql: &Sql) -> Result<bool> {
        let value = self.value(sql, Some(BOOLEAN)).await?;
        Ok(self.host.truth(&value) == Some(true))
    }

    /// Assigns an expression.
    pub(super) async fn assign_expression(&mut self, target: &Target, sql: &Sql) -> Result<()> {
        if self.scopes.is_within(target) {
            return self.assign_item(target, &[], sql).await;
        }
        let (slot, field) = self.scopes.slot(target)?;
        if slot.is_constant {
            return Err(constant(&slot.name));
        }
        // PostgreSQL looks for the field before it looks at the expression.
        if let Some(missing) = field.and_then(|field| slot.without(field)) {
            return Err(in_text(sql, missing));
        }
        match (&slot.content, field) {
            (Content::Value { of, .. }, _) => {
                let of = of.clone();
                let value = self.value(sql, Some(&of)).await?;
                self.set(target, value)
            }
            (Content::Composite { attributes, .. }, Some(field)) => {
                let known = attributes.iter().find(|(name, _)| name == field);
                let of = known.map(|(_, of)| of.clone());
                let value = self.value(sql, of.as_deref()).await?;
                self.set(target, value)
            }
            (Content::Composite { .. }, None) => {
                let value = self.value(sql, None).await?;
                self.assign(target, value).await
            }
            (Content::Row(fields), Some(field)) => {
                let known = fields.iter().find(|(name, ..)| name == field);
                // A type of users may not be found by the name that the row has.
                let plain = known.filter(|(.., value)| {
                    self.host.written_type(value).is_some_and(|of| !of.contains('"'))
                });
                let of = plain.map(|(_, of, _)| of.clone());
                let value = self.value(sql, of.as_deref()).await?;
                match of {
                    Some(_) => self.set(target, value),
                    None => self.assign(target, value).await,
                }
            }
            (_, Some(_)) => {
                let value = self.value(sql, None).await?;
                self.assign(target, value).await
            }
            (_, None) if sql.text.trim().eq_ignore_ascii_case("null") => {
                self.assign_null(target).await
            }
            (_, None) => {
                let is_row = matches!(slot.content, Content::Row(_));
                let source = sql.text.trim().to_lowercase();
                let is_empty = matches!(self.scopes.row_named(&source), Some(None));
                if is_empty || is_row && self.scopes.is_unset(&source) {
                    return self.assign_null(target).await;
                }
                if let Some(fields) = self.scopes.named_fields(&sql.text) {
                    let (columns, row) = fields.into_iter().unzip();
                    let (rows, nulls) = (vec![row], Vec::new());
                    let mut answer = Answer { columns, rows, nulls, count: 1, has_rows: true };
                    return self.assign_first(std::slice::from_ref(target), &mut answer).await;
                }
                // A whole row: its fields are those of the one row of a query.
                let text = format!("SELECT ({}).*", sql.text);
                let query = Sql { text, id: usize::MAX - sql.id, ..sql.clone() };
                let variables = self.scopes.variables(&query);
                let mut answer = self.host.execute(&query, &variables, Some(1)).await?;
                self.assign_first(std::slice::from_ref(target), &mut answer).await
            }
        }
    }

    /// Assigns NULL to a record, which has no fields then, or to a row.
    async fn assign_null(&mut self, target: &Target) -> Result<()> {
        let (slot, _) = self.scopes.slot(target)?;
        if let Content::Record(fields) = &mut slot.content {
            *fields = None;
            return Ok(());
        }
        let (columns, rows, nulls) = (Vec::new(), Vec::new(), Vec::new());
        let none = Answer { columns, rows, nulls, count: 0, has_rows: true };
        self.assign_row(std::slice::from_ref(target), &none, None).await?;
        let (slot, _) = self.scopes.slot(target)?;
        slot.is_unset = matches!(slot.content, Content::Row(_));
        Ok(())
    }

    /// Assigns a value, converted to the type of the target.
    pub(super) async fn assign(&mut self, target: &Target, value: H::Value) -> Result<()> {
        let (slot, field) = self.scopes.slot(target)?;
        if slot.is_constant {
            return Err(constant(&slot.name));
        }
        if let (Content::Record(_), None) = (&slot.content, field)
            && let Some(fields) = named_fields(&*self.host, &value)
        {
            slot.content = Content::Record(Some(fields));
            return Ok(());
        }
        let of = match (&slot.content, field) {
            (Content::Composite { of, value: like, .. }, None) => {
                let (of, like) = (of.clone(), like.clone());
                let row = self.row_of_value(value, &like, &of).await?;
                return self.set(target, row);
            }
            (Content::Composite { attributes, .. }, Some(field)) => {
                attributes.iter().find(|(name, _)| name == field).map(|(_, of)| of.clone())
            }
            (Content::Record(Some(fields)), Some(field)) => {
                let old = fields.iter().find(|(name, _)| name == field);
                let old = old.map(|(_, old)| old.clone());
                let value = self.as_field(value, old).await?;
                return self.set(target, value);
            }
            (Content::Value { of, .. }, _) => Some(of.to_string()),
            (Content::Row(fields), Some(field)) => {
                fields.iter().find(|(name, ..)| name == field).map(|(_, of, _)| of.clone())
            }
            _ => None,
        };
        let value = match of {
            Some(of) => self.host.convert(value, &of).await?,
            None => value,
        };
        self.set(target, value)
    }

    /// Puts a value of the right type where it belongs.
    pub(super) fn set(&mut self, target: &Target, new: H::Value) -> Result<()> {
        let is_null = self.host.is_null(&new);
        let (slot, field) = self.scopes.slot(target)?;
        let Slot { name, content, not_null, is_unset, .. } = slot;
        if *not_null && is_null {
            return Err(null_refused(name));
        }
        let no_field = |field: &str| no_field(name, field);
        match (content, field) {
            (Content::Value { value, .. }, _) | (Content::Composite { value, .. }, None) => {
                *value = new;
            }
            (Content::Composite { value, attributes, .. }, Some(field)) => {
                let place = attributes.iter().position(|(name, _)| name == field);
                let place = place.ok_or_else(|| no_field(field))?;
                let null = || self.host.row_like(value, Some(Vec::new()));
                let mut fields = match self.host.fields(value) {
                    Some(fields) => fields,
                    None => self.host.fields(&null()?).unwrap_or_default(),
                };
                if let Some(old) = fields.get_mut(place) {
                    *old = new;
                }
                *value = self.host.row_like(value, Some(fields))?;
            }
            (Content::Row(fields), Some(field)) => {
                let found = fields.iter_mut().find(|(name, ..)| name == field);
                found.ok_or_else(|| no_field(field))?.2 = new;
                *is_unset = false;
            }
            (Content::Record(Some(fields)), Some(field)) => {
                let found = fields.iter_mut().find(|(name, _)| name == field);
                found.ok_or_else(|| no_field(field))?.1 = new;
            }
            (Content::Record(None), Some(_)) => {
                return Err(unassigned(name));
            }
            (_, None) | (Content::Alias(_), _) => {
                let message = "cannot assign non-composite value to a record variable";
                return Err(Error::new(SqlState::DatatypeMismatch, message));
            }
        }
        Ok(())
    }

    /// Assigns the first row of an answer, as [`Self::assign_row`].
    pub(super) async fn assign_first(
        &mut self,
        targets: &[Target],
        answer: &mut Answer<H::Value>,
    ) -> Result<()> {
        let first = answer.rows.first_mut().map(std::mem::take);
        self.assign_row(targets, answer, first).await
    }

    /// Assigns a row of an answer: to one record, or column by column. Without a row all become NULL.
    pub(super) async fn assign_row(
        &mut self,
        targets: &[Target],
        answer: &Answer<H::Value>,
        values: Option<Vec<H::Value>>,
    ) -> Result<()> {
        if let [target] = targets {
            let (slot, field) = self.scopes.slot(target)?;
            match (&slot.content, field) {
                (Content::Record(_), None) => {
                    let values = values.unwrap_or_else(|| answer.nulls.clone());
                    let nulls = std::iter::repeat_with(|| self.host.of_text(None));
                    let values = values.into_iter().chain(nulls);
                    let (slot, _) = self.scopes.slot(target)?;
                    match &mut slot.content {
                        // A row of a loop has the columns of the row before.
                        Content::Record(Some(fields))
                            if fields.iter().map(|(name, _)| name).eq(&answer.columns) =>
                        {
                            for ((_, old), new) in fields.iter_mut().zip(values) {
                                *old = new;
                            }
                        }
                        content => {
                            let fields = answer.columns.iter().cloned().zip(values);
                            *content = Content::Record(Some(fields.collect()));
                        }
                    }
                    return Ok(());
                }
                (Content::Composite { value: like, .. }, None) => {
                    let like = like.clone();
                    let row = match values {
                        Some(fields) => self.row_of_fields(fields, &like).await?,
                        None => self.row_of_fields(Vec::new(), &like).await?,
                    };
                    return self.set(target, row);
                }
                (Content::Row(fields), None) => {
                    let mut fields = fields.clone();
                    let mut given = values.unwrap_or_default().into_iter();
                    for (_, of, value) in &mut fields {
                        *value = match given.next() {
                            Some(given) => self.host.convert(given, of).await?,
                            None => self.null_of(of).await?,
                        };
                    }
                    let (slot, _) = self.scopes.slot(target)?;
                    slot.content = Content::Row(fields);
                    slot.is_unset = false;
                    return Ok(());
                }
                _ => {}
            }
        }
        let mut values = values.unwrap_or_default().into_iter();
        for target in targets {
            let value = values.next().unwrap_or_else(|| self.host.of_text(None));
            self.assign(target, value).await?;
        }
        Ok(())
    }

    /// Sets FOUND, also where another variable has its name.
    pub(super) fn found(&mut self, found: bool) -> Result<()> {
        let new = self.host.of_truth(found);
        if let Some(slot) = self.scopes.slot_at((0, self.found))
            && let Content::Value { value, .. } = &mut slot.content
        {
            *value = new;
        }
        Ok(())
    }
}

fn missing(name: &str) -> Error {
    Error::new(SqlState::UndefinedObject, format!("variable \"{name}\" does not exist"))
}

fn constant(name: &str) -> Error {
    let message = format!("variable \"{name}\" is declared CONSTANT");
    Error::new(SqlState::chosen("22005"), message)
}

pub(super) fn null_refused(name: &str) -> Error {
    let message = format!("null value cannot be assigned to variable \"{name}\" declared NOT NULL");
    Error::new(SqlState::NullValueNotAllowed, message)
}
