//! Records in expressions and statements, where they stand for all of their fields.

use super::Machine;
use super::host::Host;
use super::scope::{Content, unassigned};
use crate::parse::{with_stars, with_whole_row};
use crate::tree::Sql;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use values::error::Result;

/// What a variable of a type holds.
pub(super) fn content<H: Host>(
    host: &H,
    of: impl Into<Arc<str>>,
    value: H::Value,
) -> Content<H::Value> {
    let of = of.into();
    match host.attributes(&value) {
        Some(attributes) => Content::Composite { of, attributes, value },
        None => Content::Value { of, value },
    }
}

/// The fields of a row for a record; those of a row without a type are `f1`, `f2`, ... `None` of other values.
pub(super) fn named_fields<H: Host>(host: &H, value: &H::Value) -> Option<Vec<(String, H::Value)>> {
    let attributes = host.attributes(value);
    let fields = match (&attributes, host.is_null(value)) {
        (Some(_), true) => host.fields(&host.row_like(value, Some(Vec::new())).ok()?)?,
        _ => host.fields(value)?,
    };
    let name = |at: usize| match &attributes {
        Some(attributes) => attributes.get(at).map_or_else(String::new, |(name, _)| name.clone()),
        None => format!("f{}", at + 1),
    };
    Some(fields.into_iter().enumerate().map(|(at, field)| (name(at), field)).collect())
}

impl<H: Host> Machine<'_, H> {
    /// A value as a row of the type of another one. Fields that are missing are NULL, and others are left out.
    pub(super) async fn row_of_value(
        &mut self,
        value: H::Value,
        like: &H::Value,
        of: &str,
    ) -> Result<H::Value> {
        if self.host.is_null(&value) {
            return self.host.row_like(like, None);
        }
        if self.host.type_of(&value) == self.host.type_of(like) {
            return Ok(value);
        }
        match self.host.fields(&value) {
            Some(fields) => self.row_of_fields(fields, like).await,
            // It is read from its text.
            None => {
                let text = self.host.convert(value, "text").await?;
                self.host.convert(text, of).await
            }
        }
    }

    /// A value as one of the type that a record's field has, as long as the record has its row.
    pub(super) async fn as_field(
        &mut self,
        value: H::Value,
        field: Option<H::Value>,
    ) -> Result<H::Value> {
        let Some(field) = field else { return Ok(value) };
        let Some(of) = self.host.written_type(&field) else { return Ok(value) };
        match self.host.attributes(&field) {
            Some(_) => self.row_of_value(value, &field, &of).await,
            None => self.host.convert(value, &of).await,
        }
    }

    /// A row of the type of another one from values of any types.
    pub(super) async fn row_of_fields(
        &mut self,
        fields: Vec<H::Value>,
        like: &H::Value,
    ) -> Result<H::Value> {
        let attributes = self.host.attributes(like).unwrap_or_else(|| Arc::new([]));
        let mut given = fields.into_iter();
        let mut converted = Vec::with_capacity(attributes.len());
        for (_, of) in attributes.iter() {
            converted.push(match given.next() {
                Some(field) => self.host.convert(field, of).await?,
                None => self.null_of(of).await?,
            });
        }
        self.host.row_like(like, Some(converted))
    }

    /// The row of a relation that a variable holds, as a value of the type of the rows. `None` of other texts.
    pub(super) async fn typed_row(&mut self, text: &str) -> Option<H::Value> {
        let (of, fields) = self.scopes.typed_row(text.trim())?;
        // Rows of views have no type.
        let null = self.null_of(&of).await.ok()?;
        self.host.attributes(&null)?;
        match fields {
            Some(fields) => self.row_of_fields(fields, &null).await.ok(),
            None => Some(null),
        }
    }

    /// A text in which records are written out by their fields. In statements, only `r.*` is: other names may be those of
    /// columns.
    ///
    /// # Errors
    /// 55000: a field of a record that has no row yet.
    pub(super) fn with_rows<'s>(&self, sql: &'s Sql, is_expression: bool) -> Result<Cow<'s, Sql>> {
        let mut text = Cow::Borrowed(sql.text.as_str());
        for name in &sql.names {
            // NEW and OLD of triggers are written out before.
            if matches!(name.as_str(), "new" | "old") {
                continue;
            }
            let Some(fields) = self.scopes.row_named(name) else { continue };
            let Some(fields) = fields else {
                // In a query the name may be that of a table.
                if !is_expression || sql.names.iter().any(|name| name == "select") {
                    continue;
                }
                let written = with_whole_row(&text, name, &[], true);
                if written != *text {
                    text = Cow::Owned(written);
                    continue;
                }
                return Err(unassigned(name));
            };
            let columns: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
            let is_null = fields.iter().all(|(_, value)| self.host.is_null(value));
            let written = match is_expression {
                true => with_whole_row(&text, name, &columns, is_null),
                false => with_stars(&text, name, &columns),
            };
            if written != *text {
                text = Cow::Owned(written);
            }
        }
        Ok(match text {
            Cow::Borrowed(_) => Cow::Borrowed(sql),
            Cow::Owned(text) => {
                let mut hasher = DefaultHasher::new();
                (sql.id, &text).hash(&mut hasher);
                let id = hasher.finish() as usize | 1 << 62;
                Cow::Owned(Sql { id, text, ..sql.clone() })
            }
        })
    }
}
