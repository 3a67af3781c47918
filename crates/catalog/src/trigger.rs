//! Triggers: functions that run when rows of a table change.

use crate::{Catalog, ColumnId, Error, Relation, RelationId, TableId, Timing};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// When a trigger fires in sessions of an ordinary role, and in those that apply what another server has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TriggerState {
    /// In ordinary sessions.
    Enabled,
    /// Never.
    Disabled,
    /// Only where changes of another server are applied.
    Replica,
    /// In both.
    Always,
}

/// The statements that fire a trigger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerEvents {
    /// INSERT.
    pub insert: bool,
    /// UPDATE.
    pub update: bool,
    /// DELETE.
    pub delete: bool,
    /// TRUNCATE.
    pub truncate: bool,
}

/// What fires a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerEvent {
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// TRUNCATE.
    Truncate,
}

impl TriggerEvent {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Truncate => "TRUNCATE",
        }
    }
}

impl TriggerEvents {
    /// Whether an event is one of these.
    pub fn contain(&self, event: TriggerEvent) -> bool {
        match event {
            TriggerEvent::Insert => self.insert,
            TriggerEvent::Update => self.update,
            TriggerEvent::Delete => self.delete,
            TriggerEvent::Truncate => self.truncate,
        }
    }
}

/// When a trigger fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerTime {
    /// BEFORE.
    Before,
    /// AFTER.
    After,
    /// INSTEAD OF.
    Instead,
}

/// A trigger. Its name is unique among those of its table or view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The id, of the same numbers as those of relations.
    pub id: RelationId,
    /// The table, or the view of this id.
    pub table: TableId,
    /// The name.
    pub name: String,
    /// The function that it calls.
    pub function: RelationId,
    /// BEFORE; otherwise AFTER or INSTEAD OF.
    pub is_before: bool,
    /// INSTEAD OF.
    #[serde(default)]
    pub is_instead: bool,
    /// When a constraint trigger fires; `None` for other triggers.
    #[serde(default)]
    pub constraint: Option<Timing>,
    /// OLD TABLE of REFERENCING: the name of the old rows.
    #[serde(default)]
    pub old_table: Option<String>,
    /// NEW TABLE of REFERENCING: the name of the new rows.
    #[serde(default)]
    pub new_table: Option<String>,
    /// FOR EACH ROW; otherwise FOR EACH STATEMENT.
    pub is_row: bool,
    /// The statements that fire it.
    pub events: TriggerEvents,
    /// The columns of UPDATE OF; if there are none, every UPDATE fires it.
    pub columns: Vec<ColumnId>,
    /// The condition of WHEN, as SQL text.
    pub condition: Option<String>,
    /// The arguments of the function.
    pub arguments: Vec<String>,
    /// When it fires.
    pub state: TriggerState,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
}

impl Trigger {
    /// When it fires.
    pub fn time(&self) -> TriggerTime {
        match (self.is_before, self.is_instead) {
            (true, _) => TriggerTime::Before,
            (false, true) => TriggerTime::Instead,
            (false, false) => TriggerTime::After,
        }
    }

    /// BEFORE, AFTER or INSTEAD OF.
    pub fn timing(&self) -> &'static str {
        match self.time() {
            TriggerTime::Before => "BEFORE",
            TriggerTime::Instead => "INSTEAD OF",
            TriggerTime::After => "AFTER",
        }
    }

    /// Whether it fires for an event that assigns these columns.
    pub fn is_fired_by(&self, event: TriggerEvent, assigned: &[ColumnId]) -> bool {
        let is_of_columns = event == TriggerEvent::Update && !self.columns.is_empty();
        self.is_enabled()
            && self.events.contain(event)
            && (!is_of_columns || self.columns.iter().any(|id| assigned.contains(id)))
    }

    /// Whether its function sees all rows of the statement.
    pub fn has_transitions(&self) -> bool {
        self.old_table.is_some() || self.new_table.is_some()
    }

    /// Whether it fires in ordinary sessions.
    pub fn is_enabled(&self) -> bool {
        matches!(self.state, TriggerState::Enabled | TriggerState::Always)
    }
}

impl Catalog {
    /// Returns the triggers of a table, ordered by name.
    pub fn triggers_of(&self, table: TableId) -> &[Arc<Trigger>] {
        self.triggers.get(&table).map_or(&[], |triggers| triggers)
    }

    /// Returns all triggers, ordered by table and name.
    pub fn triggers(&self) -> impl Iterator<Item = &Arc<Trigger>> {
        self.triggers.values().flat_map(|triggers| triggers.iter())
    }

    pub(super) fn put_trigger(&mut self, trigger: &Trigger) -> Result<(), Error> {
        let missing = || Error::missing(trigger.table.relation());
        match self.relation_by_id(trigger.table.relation()) {
            Some(Relation::Table(_) | Relation::View(_)) => {}
            _ => return Err(missing()),
        }
        let others = self.triggers_of(trigger.table).iter();
        let mut listed: Vec<_> = others.filter(|other| other.id != trigger.id).cloned().collect();
        if listed.iter().any(|other| other.name == trigger.name) {
            return Err(Error::TriggerExists { trigger: trigger.name.clone() });
        }
        listed.push(Arc::new(trigger.clone()));
        self.list_triggers(trigger.table, listed);
        Ok(())
    }

    pub(super) fn drop_trigger(&mut self, table: TableId, id: RelationId) -> Result<(), Error> {
        let mut listed = self.triggers_of(table).to_vec();
        let before = listed.len();
        listed.retain(|trigger| trigger.id != id);
        if listed.len() == before {
            return Err(Error::missing(id));
        }
        self.list_triggers(table, listed);
        Ok(())
    }

    pub(super) fn list_triggers(&mut self, table: TableId, mut listed: Vec<Arc<Trigger>>) {
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        if listed.is_empty() {
            self.triggers.remove(&table);
        } else {
            self.triggers.insert(table, listed.into());
        }
    }
}
