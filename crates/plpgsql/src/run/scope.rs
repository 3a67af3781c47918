//! The variables of the blocks around a statement.

use super::host::Variable;
use super::programs::Place;
use crate::tree::{BoundCursor, Sql, Target};
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// A variable.
#[derive(Debug, Clone)]
pub(super) struct Slot<V> {
    pub(super) name: Arc<str>,
    pub(super) content: Content<V>,
    pub(super) is_constant: bool,
    pub(super) not_null: bool,
    /// Whether it is a row to which nothing was assigned, or NULL as a whole.
    pub(super) is_unset: bool,
    /// Whether its first value is being computed: texts cannot mean it yet.
    pub(super) is_coming: bool,
    /// The query of a cursor's variable that is declared with one.
    pub(super) bound: Option<Arc<BoundCursor>>,
    /// The type of the rows of a relation, if it is a row of one.
    pub(super) row_type: Option<Arc<str>>,
}

impl<V> Slot<V> {
    /// A variable that may be assigned to.
    pub(super) fn new(name: impl Into<Arc<str>>, content: Content<V>) -> Self {
        let (name, bound, row_type) = (name.into(), None, None);
        let (is_constant, not_null, is_unset, is_coming) = (false, false, false, false);
        Self { name, content, is_constant, not_null, is_unset, is_coming, bound, row_type }
    }

    fn is_named(&self, name: &str) -> bool {
        *self.name == *name && !self.is_coming
    }

    /// The error for a field that the variable does not have. `None` of others.
    pub(super) fn without(&self, field: &str) -> Option<Error> {
        let is_known = match &self.content {
            Content::Record(None) => return Some(unassigned(&self.name)),
            Content::Record(Some(fields)) => fields.iter().any(|(name, _)| name == field),
            Content::Row(fields) => fields.iter().any(|(name, ..)| name == field),
            Content::Composite { attributes, .. } => {
                attributes.iter().any(|(name, _)| name == field)
            }
            Content::Value { .. } | Content::Alias(_) => true,
        };
        (!is_known).then(|| no_field(&self.name, field))
    }
}

/// What a variable holds.
#[derive(Debug, Clone)]
pub(super) enum Content<V> {
    /// A value of a type.
    Value { of: Arc<str>, value: V },
    /// A row of a composite type: the type, the names and types of the attributes, and the row.
    Composite { of: Arc<str>, attributes: Arc<[(String, String)]>, value: V },
    /// A record: names and values; `None` before anything is assigned.
    Record(Option<Vec<(String, V)>>),
    /// A row of a relation: names, types and values.
    Row(Vec<(String, String, V)>),
    /// Another name of the variable at a place: the block, and the place in it.
    Alias((usize, usize)),
}

impl<V> Content<V> {
    /// The value of a variable that is no record.
    pub(super) fn whole(&self) -> Option<&V> {
        match self {
            Self::Value { value, .. } | Self::Composite { value, .. } => Some(value),
            Self::Record(_) | Self::Row(_) | Self::Alias(_) => None,
        }
    }

    /// The value of a field of a record or of a row of a relation.
    fn field(&self, field: &str) -> Option<&V> {
        match self {
            Self::Row(fields) => {
                fields.iter().find(|(name, ..)| name == field).map(|(.., value)| value)
            }
            Self::Record(fields) => {
                fields.as_ref()?.iter().find(|(name, _)| name == field).map(|(_, value)| value)
            }
            Self::Value { .. } | Self::Composite { .. } | Self::Alias(_) => None,
        }
    }
}

/// What a target begins with: a variable, or a field of a record.
pub(super) struct Whole<'t, V> {
    pub(super) target: Target,
    /// The type, if it is declared.
    pub(super) of: Option<String>,
    pub(super) value: V,
    /// The names of fields within it.
    pub(super) names: &'t [String],
}

fn unknown(target: &Target) -> Error {
    let message = format!("\"{}\" is not a known variable", target.parts.join("."));
    Error::new(SqlState::SyntaxError, message)
}

/// The error for a field that a record does not have.
pub(super) fn no_field(record: &str, field: &str) -> Error {
    let message = format!("record \"{record}\" has no field \"{field}\"");
    Error::new(SqlState::UndefinedColumn, message)
}

/// The error for a field of a record that has no row yet.
pub(super) fn unassigned(record: &str) -> Error {
    let message = format!("record \"{record}\" is not assigned yet");
    Error::new(SqlState::ObjectNotInPrerequisiteState, message)
        .with_detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}

/// The name of the variable whose first value is being computed, which no text can have.
pub(super) const COMING: &str = "";

/// The variables of one block.
#[derive(Debug)]
struct Scope<V> {
    label: Option<String>,
    slots: Vec<Slot<V>>,
}

/// The blocks that a function usually has.
const BLOCKS_USUAL: usize = 4;

/// The variables of all blocks around a statement, the innermost last.
#[derive(Debug)]
pub(super) struct Scopes<V>(Vec<Scope<V>>);

/// Variables that texts cannot mean for a time.
pub(super) struct Left<V> {
    slots: Vec<Slot<V>>,
    scopes: Vec<Scope<V>>,
}

impl<V: Clone> Scopes<V> {
    /// Those of a function that has just been called.
    pub(super) fn new(name: &str, slots: Vec<Slot<V>>) -> Self {
        let mut all = Vec::with_capacity(BLOCKS_USUAL);
        all.extend([Scope { label: Some(name.to_owned()), slots }]);
        Self(all)
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
        let name = text.trim().to_lowercase();
        let ((scope, slot), _) = self.found(std::slice::from_ref(&name))?;
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

    /// Whether a name is that of a row to which nothing was assigned, or NULL as a whole.
    pub(super) fn is_unset(&self, name: &str) -> bool {
        let found = self.found(std::slice::from_ref(&name.to_lowercase())).map(|(place, _)| place);
        found.is_some_and(|(scope, slot)| self.0[scope].slots[slot].is_unset)
    }

    /// The type of the rows of a relation, and the fields of a variable that is one of them. There are none of NULL.
    pub(super) fn typed_row(&self, name: &str) -> Option<(Arc<str>, Option<Vec<V>>)> {
        let (place, _) = self.found(std::slice::from_ref(&name.to_lowercase()))?;
        let slot = &self.0[place.0].slots[place.1];
        let Content::Row(fields) = &slot.content else { return None };
        let values = fields.iter().map(|of| of.2.clone()).collect();
        Some((slot.row_type.clone()?, Some(values).filter(|_| !slot.is_unset)))
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

    /// The place of the variable with which a name begins.
    pub(super) fn place_of(&self, parts: &[String]) -> Option<(usize, usize)> {
        self.found(parts).map(|(place, _)| place)
    }

    /// Leaves a variable and all that were declared behind it, which texts cannot mean until [`Self::come_back`].
    pub(super) fn leave_from(&mut self, (scope, slot): (usize, usize)) -> Left<V> {
        let scopes = self.0.split_off((scope + 1).min(self.0.len()));
        let slots = self.0.last_mut().map(|last| last.slots.split_off(slot.min(last.slots.len())));
        Left { slots: slots.unwrap_or_default(), scopes }
    }

    /// Comes back to variables that were left in a block.
    pub(super) fn come_back(&mut self, scope: usize, left: Left<V>) {
        self.0.truncate(scope + 1);
        if let Some(last) = self.0.last_mut() {
            last.slots.extend(left.slots);
        }
        self.0.extend(left.scopes);
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
        if name == COMING {
            let slot = self.0.last()?.slots.iter().rposition(|slot| slot.is_coming)?;
            return Some((self.0.len() - 1, slot));
        }
        if let Some(number) = name.strip_prefix('$') {
            let number: usize = number.parse().ok()?;
            let at = number.checked_sub(1)?;
            return self.0.first()?.slots.get(at).map(|_| (0, at));
        }
        let mut scopes = self.0.iter().enumerate().rev();
        scopes.find_map(|(at, scope)| {
            Some((at, scope.slots.iter().rposition(|slot| slot.is_named(name))?))
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
                let slot = self.0[scope].slots.iter().rposition(|slot| slot.is_named(name))?;
                ((scope, slot), &parts[2..])
            }
        };
        match &self.0[place.0].slots[place.1].content {
            Content::Alias(of) => Some((*of, rest)),
            _ => Some((place, rest)),
        }
    }

    /// The variable of a target, and the field of it.
    pub(super) fn slot<'t>(
        &mut self,
        target: &'t Target,
    ) -> Result<(&mut Slot<V>, Option<&'t str>)> {
        let ((scope, slot), rest) = self.found(&target.parts).ok_or_else(|| unknown(target))?;
        let slot = &mut self.0[scope].slots[slot];
        match rest {
            [] => Ok((slot, None)),
            [field] if !matches!(slot.content, Content::Value { .. }) => Ok((slot, Some(field))),
            [_, ..] if !matches!(slot.content, Content::Value { .. }) => {
                let message =
                    format!("an assignment to {} is not supported", target.parts.join("."));
                Err(Error::unsupported(message))
            }
            _ => Err(unknown(target)),
        }
    }

    /// The value that a target begins with.
    pub(super) fn whole<'t>(&self, target: &'t Target) -> Result<Whole<'t, V>> {
        let (place, rest) = self.found(&target.parts).ok_or_else(|| unknown(target))?;
        let Slot { name, content, .. } = &self.0[place.0].slots[place.1];
        let (of, value, names) = match (content, rest.split_first()) {
            (Content::Value { of, value }, None) => (Some(of.to_string()), value, rest),
            (Content::Composite { value, .. }, _) => (None, value, rest),
            (Content::Row(fields), Some((first, names))) => {
                let found = fields.iter().find(|(name, ..)| name == first);
                let (_, of, value) = found.ok_or_else(|| no_field(name, first))?;
                (Some(of.clone()), value, names)
            }
            (Content::Record(Some(fields)), Some((first, names))) => {
                let found = fields.iter().find(|(name, _)| name == first);
                (None, &found.ok_or_else(|| no_field(name, first))?.1, names)
            }
            (Content::Record(None), _) => return Err(unassigned(name)),
            (Content::Row(_) | Content::Record(_), None) => {
                let message =
                    "cannot subscript type record because it does not support subscripting";
                return Err(Error::new(SqlState::DatatypeMismatch, message));
            }
            (Content::Value { .. } | Content::Alias(_), _) => return Err(unknown(target)),
        };
        let parts = target.parts[..target.parts.len() - names.len()].to_vec();
        Ok(Whole { target: Target { parts }, of, value: value.clone(), names })
    }

    /// Whether a target is a field of a field.
    pub(super) fn is_within(&self, target: &Target) -> bool {
        self.found(&target.parts).is_some_and(|(place, rest)| {
            let content = &self.0[place.0].slots[place.1].content;
            rest.len() > 1 && !matches!(content, Content::Value { .. } | Content::Alias(_))
        })
    }

    /// The type of a target that is a plain variable and no constant.
    pub(super) fn plain_type(&self, target: &Target) -> Option<&str> {
        self.plain_type_at(self.plain_place(target)?).map(|of| &**of)
    }

    /// The type of a target that is a field of a row and no constant.
    pub(super) fn field_type(&self, target: &Target) -> Option<&str> {
        let ((scope, slot), rest) = self.found(&target.parts)?;
        let slot = &self.0[scope].slots[slot];
        match (&slot.content, rest) {
            (Content::Row(fields), [field]) if !slot.is_constant => {
                fields.iter().find(|(name, ..)| name == field).map(|(_, of, _)| of.as_str())
            }
            _ => None,
        }
    }

    /// The place of a target that is a whole variable.
    pub(super) fn plain_place(&self, target: &Target) -> Option<(usize, usize)> {
        let (place, rest) = self.found(&target.parts)?;
        rest.is_empty().then_some(place)
    }

    /// As [`Self::plain_type`], of the variable at a place.
    pub(super) fn plain_type_at(&self, (scope, slot): (usize, usize)) -> Option<&Arc<str>> {
        let slot = self.0.get(scope)?.slots.get(slot)?;
        match &slot.content {
            Content::Value { of, .. } if !slot.is_constant => Some(of),
            _ => None,
        }
    }

    /// The variable at a place.
    pub(super) fn slot_at(&mut self, (scope, slot): (usize, usize)) -> Option<&mut Slot<V>> {
        self.0.get_mut(scope)?.slots.get_mut(slot)
    }

    /// The value of the first variable of the innermost of some blocks.
    pub(super) fn first_mut(&mut self, depth: usize) -> Option<&mut V> {
        let scope = depth.checked_sub(1).and_then(|at| self.0.get_mut(at))?;
        match scope.slots.first_mut()? {
            Slot { content: Content::Value { value, .. }, .. } => Some(value),
            _ => None,
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
                    if is_meant(sql, known) {
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
    #[inline]
    pub(super) fn at_place(&self, place: &Place) -> Option<&V> {
        let slot = self.0.get(place.scope)?.slots.get(place.slot)?;
        match &place.field {
            None => slot.content.whole(),
            Some(field) => slot.content.field(field),
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
                for slot in scope.slots.iter().filter(|slot| is_meant(sql, slot)) {
                    self.put(&mut all, &slot.name, Some(name), slot);
                }
            }
        }
        all
    }

    /// The names and values of the variables, and of the fields of records, that a text names, in the order of their declarations.
    pub(super) fn named_values(&self, sql: &Sql) -> Vec<(String, V)> {
        let variables = self.variables(sql).into_iter().zip(self.places(sql));
        let mut all: Vec<_> =
            variables.filter(|(variable, _)| sql.names.contains(&variable.name)).collect();
        all.sort_by_key(|(_, place)| (place.scope, place.slot));
        all.dedup_by(|(_, one), (_, other)| one == other);
        all.into_iter().map(|(variable, _)| (variable.name, variable.value)).collect()
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
            (Content::Value { of, .. } | Content::Composite { of, .. }, []) => Some(of.to_string()),
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

/// Whether a text has the name of a variable that it can mean.
fn is_meant<V>(sql: &Sql, slot: &Slot<V>) -> bool {
    sql.names.iter().any(|known| slot.is_named(known))
}
