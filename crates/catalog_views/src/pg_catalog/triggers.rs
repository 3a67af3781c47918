//! `pg_trigger`, and the texts of triggers.

use super::oids;
use crate::catalog_tables::declared;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::triggers::table;
use store::catalog::{Table, Timing, Trigger, TriggerState};
use values::cells::Cell;

/// The bits of `tgtype`.
const ROW: i64 = 1;
const BEFORE: i64 = 2;
const INSERT: i64 = 4;
const DELETE: i64 = 8;
const UPDATE: i64 = 16;
const TRUNCATE: i64 = 32;
const INSTEAD: i64 = 64;

/// `pg_trigger`.
pub(super) fn triggers(context: &ViewContext<'_>, rows: &mut TableRows) {
    for trigger in context.catalog.triggers() {
        let events = trigger.events;
        let bits = [
            (trigger.is_row, ROW),
            (trigger.is_before, BEFORE),
            (events.insert, INSERT),
            (events.delete, DELETE),
            (events.update, UPDATE),
            (events.truncate, TRUNCATE),
            (trigger.is_instead, INSTEAD),
        ];
        let kind: i64 = bits.into_iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| bit).sum();
        let numbers = numbers(table(context.catalog, trigger), trigger);
        let constraint = trigger.constraint.map_or(0, |_| constraint(trigger));
        let arguments: String = trigger.arguments.iter().map(|of| format!("{of}\\000")).collect();
        rows.row([
            ("oid", oids::relation(trigger.id).into()),
            ("tgrelid", oids::relation(trigger.table.relation()).into()),
            ("tgparentid", 0.into()),
            ("tgname", trigger.name.as_str().into()),
            ("tgfoid", oids::relation(trigger.function).into()),
            ("tgtype", kind.into()),
            ("tgenabled", state(trigger.state).into()),
            ("tgisinternal", false.into()),
            ("tgconstrrelid", 0.into()),
            ("tgconstrindid", 0.into()),
            ("tgconstraint", constraint.into()),
            ("tgdeferrable", trigger.constraint.is_some_and(is_deferrable).into()),
            ("tginitdeferred", trigger.constraint.is_some_and(is_deferred).into()),
            ("tgnargs", (trigger.arguments.len() as i64).into()),
            ("tgattr", Cell::Numbers(numbers)),
            ("tgargs", arguments.into()),
            ("tgqual", trigger.condition.as_deref().into()),
            ("tgoldtable", trigger.old_table.as_deref().into()),
            ("tgnewtable", trigger.new_table.as_deref().into()),
        ]);
    }
}

fn state(of: TriggerState) -> &'static str {
    match of {
        TriggerState::Enabled => "O",
        TriggerState::Disabled => "D",
        TriggerState::Replica => "R",
        TriggerState::Always => "A",
    }
}

/// The id of a constraint trigger among constraints.
pub(super) fn constraint(trigger: &Trigger) -> i64 {
    oids::check(trigger.table.relation(), &trigger.name)
}

pub(super) fn is_deferrable(timing: Timing) -> bool {
    timing != Timing::NotDeferrable
}

pub(super) fn is_deferred(timing: Timing) -> bool {
    timing == Timing::InitiallyDeferred
}

/// The numbers of the columns of UPDATE OF.
fn numbers(table: Option<&Table>, trigger: &Trigger) -> Vec<i64> {
    let number = |id| {
        let found = declared(table?).find(|(_, column)| column.id == id);
        found.map(|(number, _)| number)
    };
    trigger.columns.iter().filter_map(|id| number(*id)).collect()
}
