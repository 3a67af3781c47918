//! The variables of the blocks around a statement.

use super::host::Variable;
use super::programs::Place;
use crate::tree::{BoundCursor, Sql, Target};
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// A variable.
#[derive(Debug, Clone)]
pub(super) struct Slot<V> {
    pub(super) name: String,
    pub(super) content: Content<V>,
    pub(super) is_constant: bool,
    pub(super) not_null: bool,
    /// The query of a cursor's variable that is declared with one.
    pub(super) bound: Option<Arc<BoundCursor>>,
}

impl<V> Slot<V> {
    /// A variable that may be assigned to.
    pub(super) fn new(name: String, content: Content<V>) -> Self {
        Self { name, content, is_constant: false, not_null: false, bound: None }
    }
}

/// What a variable holds.
#[derive(Debug, Clone)]
pub(super) enum Content<V> {
    /// A value of a type.
    Value { of: String, value: V },
    /// A row of a composite type: the type, the names and types of the attributes, and the row.
    Composite { of: String, attributes: Arc<[(String, String)]>, value: V },
    /// A record: names and values; `None` before anything is assigned.
    Record(Option<Vec<(String, V)>>),
    /// A row of a relation: names, types and values.
    Row(Vec<(String, String, V)>),
    /// Another name of a variable.
    Alias(Vec<String>),
}

impl<V> Content<V> {
    /// The value of a variable that is no record.
    pub(super) fn whole(&self) -> Option<&V> {
        match self {
            Self::Value { value, .. } | Self::Composite { value, .. } => Some(value),
            Self::Record(_) | Self::Row(_) | Self::Alias(_) => None,
        }
    }
}

/// The variables of one block.
#[derive(Debug)]
struct Scope<V> {
    label: Option<String>,
    slots: Vec<Slot<V>>,
}

/// The variables of all blocks around a statement, the innermost last.
#[derive(Debug)]
pub(super) struct Scopes<V>(Vec<Scope<V>>);

impl<V: Clone> Scopes<V> {
    /// Those of a function that has just been called.
    pub(super) fn new(name: &str, parameters: Vec<(String, Content<V>)>) -> Self {
        let slot = |(name, content): (String, Content<V>)| Slot::new(name, content);
        let slots = parameters.into_iter().map(slot).collect();
        Self(vec![Scope { label: Some(name.to_owned()), slots }])
    }

    /// The values of the first variables of the function.
    pub(super) fn parameters(&self, count: usize) -> Vec<V> {
        let slots = self.0.first().map_or(&[][..], |scope| &scope.slots);
        let values = slots.iter().take(count).filter_map(|slot| slot.content.whole().cloned());
        values.collect()
    }

    /// The values of some variables of the function.
    pub(super) fn at(&self, places: &[usize]) -> Vec<V> {
        let slots = self.0.first().map_or(&[][..], |scope| &scope.slots);
        let values = places.iter().filter_map(|place| slots.get(*place)?.content.whole().cloned());
        values.collect()
    }

    /// The names and values of the fields of a record that has a row, if a text is nothing but its name.
    pub(super) fn named_fields(&self, text: &str) -> Option<Vec<(String, V)>> {
        let (scope, slot) = self.place(&text.trim().to_lowercase())?;
        match &self.0[scope].slots[slot].content {
            Content::Row(fields) => {
                Some(fields.iter().map(|(name, _, value)| (name.clone(), value.clone())).collect())
            }
            Content::Record(fields) => fields.clone(),
            Content::Value { .. } | Content::Composite { .. } | Content::Alias(_) => None,
        }
    }

    /// The fields of a record; `None` for other variables, and within that for a record without a row.
    pub(super) fn fields(&self, name: &str) -> Option<Option<Vec<V>>> {
        let (place, _) = self.found(std::slice::from_ref(&name.to_owned()))?;
        match &self.0[place.0].slots[place.1].content {
            Content::Row(fields) => Some(Some(fields.iter().map(|of| of.2.clone()).collect())),
            Content::Record(fields) => {
                let values = |fields: &Vec<(String, V)>| {
                    fields.iter().map(|(_, value)| value.clone()).collect()
                };
                Some(fields.as_ref().map(values))
            }
            Content::Value { .. } | Content::Composite { .. } | Content::Alias(_) => None,
        }
    }

    /// The names and values of the fields of a record; `None` for other names, and within that for a record without a row.
    pub(super) fn row_named(&self, name: &str) -> Option<Option<Vec<(&str, &V)>>> {
        let (place, _) = self.found(std::slice::from_ref(&name.to_owned()))?;
        match &self.0[place.0].slots[place.1].content {
            Content::Row(fields) => {
                Some(Some(fields.iter().map(|(name, _, value)| (name.as_str(), value)).collect()))
            }
            Content::Record(fields) => {
                Some(fields.as_ref().map(|fields| {
                    fields.iter().map(|(name, value)| (name.as_str(), value)).collect()
                }))
            }
            Content::Value { .. } | Content::Composite { .. } | Content::Alias(_) => None,
        }
    }

    /// The number of the block that declares a variable.
    pub(super) fn block_of(&self, target: &Target) -> Option<usize> {
        self.found(&target.parts).map(|((scope, _), _)| scope)
    }

    /// Leaves the blocks within the first ones, whose variables texts cannot mean until [`Self::come_back`].
    pub(super) fn leave_to(&mut self, depth: usize) -> Self {
        Self(self.0.split_off(depth.min(self.0.len())))
    }

    /// Comes back to blocks that were left.
    pub(super) fn come_back(&mut self, depth: usize, left: Self) {
        self.0.truncate(depth);
        self.0.extend(left.0);
    }

    /// The number of blocks.
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(super) fn open(&mut self, label: Option<String>) {
        self.0.push(Scope { label, slots: Vec::new() });
    }

    /// Closes blocks until there are as many as before.
    pub(super) fn close_to(&mut self, depth: usize) {
        self.0.truncate(depth);
    }

    pub(super) fn declare(&mut self, slot: Slot<V>) {
        if let Some(scope) = self.0.last_mut() {
            scope.slots.push(slot);
        }
    }

    fn place(&self, name: &str) -> Option<(usize, usize)> {
        if let Some(number) = name.strip_prefix('$') {
            let number: usize = number.parse().ok()?;
            let at = number.checked_sub(1)?;
            return self.0.first()?.slots.get(at).map(|_| (0, at));
        }
        let mut scopes = self.0.iter().enumerate().rev();
        scopes.find_map(|(at, scope)| {
            Some((at, scope.slots.iter().rposition(|slot| slot.name == name)?))
        })
    }

    /// The variable that a name means, and the part of the name behind it.
    fn found<'t>(&self, parts: &'t [String]) -> Option<((usize, usize), &'t [String])> {
        let first = parts.first()?;
        let (place, rest) = match self.place(first) {
            Some(place) => (place, &parts[1..]),
            None => {
                let labelled = |scope: &Scope<V>| scope.label.as_ref() == Some(first);
                let scope = self.0.iter().rposition(labelled)?;
                let name = parts.get(1)?;
                let slot = self.0[scope].slots.iter().rposition(|slot| slot.name == *name)?;
                ((scope, slot), &parts[2..])
            }
        };
        match &self.0[place.0].slots[place.1].content {
            Content::Alias(of) => self.found(of).map(|(place, _)| (place, rest)),
            _ => Some((place, rest)),
        }
    }

    /// The variable of a target, and the field of it.
    pub(super) fn slot<'t>(
        &mut self,
        target: &'t Target,
    ) -> Result<(&mut Slot<V>, Option<&'t str>)> {
        let unknown = || {
            let message = format!("\"{}\" is not a known variable", target.parts.join("."));
            Error::new(SqlState::SyntaxError, message)
        };
        let ((scope, slot), rest) = self.found(&target.parts).ok_or_else(unknown)?;
        let slot = &mut self.0[scope].slots[slot];
        match rest {
            [] => Ok((slot, None)),
            [field] if !matches!(slot.content, Content::Value { .. }) => Ok((slot, Some(field))),
            [_, ..] if !matches!(slot.content, Content::Value { .. }) => {
                let message =
                    format!("an assignment to {} is not supported", target.parts.join("."));
                Err(Error::unsupported(message))
            }
            _ => Err(unknown()),
        }
    }

    /// The row within which a target is that is a field of a field: that of a variable, or of a record's field. Also its value
    /// and the names within it.
    pub(super) fn within<'t>(&self, target: &'t Target) -> Option<(Target, V, &'t [String])> {
        let (place, rest) = self.found(&target.parts)?;
        let (first, names) = rest.split_first().filter(|(_, names)| !names.is_empty())?;
        let content = &self.0[place.0].slots[place.1].content;
        let (row, names) = match content {
            Content::Composite { value, .. } => (value, rest),
            Content::Row(fields) => (&fields.iter().find(|(name, ..)| name == first)?.2, names),
            Content::Record(fields) => {
                (&fields.as_ref()?.iter().find(|(name, _)| name == first)?.1, names)
            }
            Content::Value { .. } | Content::Alias(_) => return None,
        };
        let parts = target.parts[..target.parts.len() - names.len()].to_vec();
        Some((Target { parts }, row.clone(), names))
    }

    /// The type of a target that is a plain variable and no constant.
    pub(super) fn plain_type(&self, target: &Target) -> Option<&str> {
        let (place, rest) = self.found(&target.parts)?;
        let slot = &self.0[place.0].slots[place.1];
        match &slot.content {
            Content::Value { of, .. } if rest.is_empty() && !slot.is_constant => Some(of),
            _ => None,
        }
    }

    /// Gives the first variable of the innermost of some blocks a value.
    pub(super) fn put_first(&mut self, depth: usize, new: V) {
        let scope = depth.checked_sub(1).and_then(|at| self.0.get_mut(at));
        let slot = scope.and_then(|scope| scope.slots.first_mut());
        if let Some(Slot { content: Content::Value { value, .. }, .. }) = slot {
            *value = new;
        }
    }

    /// The places of the variables that a text may mean, in the order of [`Self::variables`].
    pub(super) fn places(&self, sql: &Sql) -> Vec<Place> {
        let mut all = Vec::new();
        for name in &sql.names {
            if let Some((place, _)) = self.found(std::slice::from_ref(name)) {
                self.put_places(&mut all, place);
            }
            let labelled = self.0.iter().enumerate();
            for (at, scope) in labelled.filter(|(_, scope)| scope.label.as_ref() == Some(name)) {
                for (slot, known) in scope.slots.iter().enumerate() {
                    if sql.names.contains(&known.name) {
                        self.put_places(&mut all, (at, slot));
                    }
                }
            }
        }
        all
    }

    fn put_places(&self, all: &mut Vec<Place>, (scope, slot): (usize, usize)) {
        let field = |field: &String| Place { scope, slot, field: Some(field.clone()) };
        match &self.0[scope].slots[slot].content {
            Content::Value { .. } | Content::Composite { .. } => {
                all.push(Place { scope, slot, field: None });
            }
            Content::Record(Some(fields)) => all.extend(fields.iter().map(|(name, _)| field(name))),
            Content::Row(fields) => all.extend(fields.iter().map(|(name, ..)| field(name))),
            Content::Record(None) | Content::Alias(_) => {}
        }
    }

    /// The value at a place, if it is still one of a variable or of the field.
    pub(super) fn at_place(&self, place: &Place) -> Option<&V> {
        let slot = self.0.get(place.scope)?.slots.get(place.slot)?;
        match (&slot.content, &place.field) {
            (content, None) => content.whole(),
            (Content::Row(fields), Some(field)) => {
                fields.iter().find(|(name, ..)| name == field).map(|(.., value)| value)
            }
            (Content::Record(Some(fields)), Some(field)) => {
                fields.iter().find(|(name, _)| name == field).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The variables that a text may mean.
    pub(super) fn variables(&self, sql: &Sql) -> Vec<Variable<V>> {
        let mut all = Vec::new();
        for name in &sql.names {
            if let Some((place, _)) = self.found(std::slice::from_ref(name)) {
                self.put(&mut all, name, None, &self.0[place.0].slots[place.1]);
            }
            for scope in self.0.iter().filter(|scope| scope.label.as_ref() == Some(name)) {
                for slot in scope.slots.iter().filter(|slot| sql.names.contains(&slot.name)) {
                    self.put(&mut all, &slot.name, Some(name), slot);
                }
            }
        }
        all
    }

    fn put(&self, all: &mut Vec<Variable<V>>, name: &str, label: Option<&str>, slot: &Slot<V>) {
        let field = |(field, value): (&String, &V)| Variable {
            qualifier: Some(name.to_owned()),
            name: field.clone(),
            value: value.clone(),
        };
        match &slot.content {
            Content::Value { value, .. } | Content::Composite { value, .. } => all.push(Variable {
                qualifier: label.map(str::to_owned),
                name: name.to_owned(),
                value: value.clone(),
            }),
            Content::Record(Some(fields)) => {
                all.extend(fields.iter().map(|(name, value)| field((name, value))));
            }
            Content::Row(fields) => {
                all.extend(fields.iter().map(|(name, _, value)| field((name, value))));
            }
            Content::Record(None) | Content::Alias(_) => {}
        }
    }

    /// The type of a variable or of a field.
    pub(super) fn type_of(&self, parts: &[String]) -> Option<String> {
        let ((scope, slot), rest) = self.found(parts)?;
        match (&self.0[scope].slots[slot].content, rest) {
            (Content::Value { of, .. } | Content::Composite { of, .. }, []) => Some(of.clone()),
            (Content::Composite { attributes, .. }, [name]) => {
                attributes.iter().find(|(known, _)| known == name).map(|(_, of)| of.clone())
            }
            (Content::Row(fields), [name]) => {
                fields.iter().find(|(known, ..)| known == name).map(|(_, of, _)| of.clone())
            }
            _ => None,
        }
    }
}
