//! `pg_trigger`, and the texts of triggers.

use super::definitions::quote_ident;
use super::oids;
use crate::catalog_tables::declared;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::catalog::{Catalog, Relation, Table, Timing, Trigger, TriggerState};
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

/// The relation of a trigger: a table, or a view.
pub(crate) fn relation<'a>(catalog: &'a Catalog, trigger: &Trigger) -> Option<&'a Relation> {
    catalog.relation_by_id(trigger.table.relation())
}

/// The table of a trigger; `None` for a trigger of a view.
fn table<'a>(catalog: &'a Catalog, trigger: &Trigger) -> Option<&'a Table> {
    catalog.table_by_id(trigger.table).map(|table| &**table)
}

/// The numbers of the columns of UPDATE OF.
fn numbers(table: Option<&Table>, trigger: &Trigger) -> Vec<i64> {
    let number = |id| {
        let found = declared(table?).find(|(_, column)| column.id == id);
        found.map(|(number, _)| number)
    };
    trigger.columns.iter().filter_map(|id| number(*id)).collect()
}

/// The names of the columns of UPDATE OF.
pub(crate) fn column_names<'a>(catalog: &'a Catalog, trigger: &'a Trigger) -> Vec<&'a str> {
    let table = table(catalog, trigger);
    let name = |id| {
        let mut columns = table?.columns.iter();
        columns.find(|column| column.id == id).map(|column| column.name.as_str())
    };
    trigger.columns.iter().filter_map(|id| name(*id)).collect()
}

/// The events of a trigger in the order of definitions.
pub(crate) fn events(trigger: &Trigger) -> impl Iterator<Item = &'static str> {
    let of = trigger.events;
    let all = [
        (of.insert, "INSERT"),
        (of.delete, "DELETE"),
        (of.update, "UPDATE"),
        (of.truncate, "TRUNCATE"),
    ];
    all.into_iter().filter(|(is_meant, _)| *is_meant).map(|(_, name)| name)
}

/// `EXECUTE FUNCTION` of a trigger. The function has its schema unless one of the schemas in the path has it.
pub(crate) fn action<'a>(
    catalog: &Catalog,
    path: impl Iterator<Item = &'a str>,
    trigger: &Trigger,
) -> String {
    let mut name = String::new();
    if let Some(function) = catalog.function_by_id(trigger.function) {
        let mut path = path;
        let found = path.find_map(|schema| catalog.functions_named(schema, &function.name).first());
        if found.is_none_or(|found| found.schema != function.schema) {
            name = format!("{}.", quote_ident(&function.schema));
        }
        name.push_str(&quote_ident(&function.name));
    }
    let quoted = |text: &String| match text.contains('\\') {
        true => format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        false => format!("'{}'", text.replace('\'', "''")),
    };
    let arguments: Vec<String> = trigger.arguments.iter().map(quoted).collect();
    format!("EXECUTE FUNCTION {name}({})", arguments.join(", "))
}

/// The definition of a trigger. `name` is that of its table or view, `action` as of [`action`].
pub(crate) fn definition(
    catalog: &Catalog,
    trigger: &Trigger,
    (name, action): (&str, &str),
    pretty: bool,
) -> String {
    let columns = column_names(catalog, trigger);
    let columns: Vec<String> = columns.into_iter().map(quote_ident).collect();
    let event = |name: &'static str| match name == "UPDATE" && !columns.is_empty() {
        true => format!("UPDATE OF {}", columns.join(", ")),
        false => name.to_owned(),
    };
    let events: Vec<String> = events(trigger).map(event).collect();
    let when = match &trigger.condition {
        None => String::new(),
        Some(condition) if pretty => format!("WHEN ({condition}) "),
        Some(condition) => format!("WHEN (({condition})) "),
    };
    format!(
        "CREATE {}TRIGGER {} {} {} ON {name} {}{}FOR EACH {} {when}{action}",
        if trigger.constraint.is_some() { "CONSTRAINT " } else { "" },
        quote_ident(&trigger.name),
        trigger.timing(),
        events.join(" OR "),
        trigger.constraint.map_or("", deferral),
        transitions(trigger),
        if trigger.is_row { "ROW" } else { "STATEMENT" },
    )
}

/// When a constraint trigger fires.
fn deferral(timing: Timing) -> &'static str {
    match timing {
        Timing::NotDeferrable => "NOT DEFERRABLE INITIALLY IMMEDIATE ",
        Timing::InitiallyImmediate => "DEFERRABLE INITIALLY IMMEDIATE ",
        Timing::InitiallyDeferred => "DEFERRABLE INITIALLY DEFERRED ",
    }
}

/// REFERENCING of a trigger.
fn transitions(trigger: &Trigger) -> String {
    if !trigger.has_transitions() {
        return String::new();
    }
    let named = |which: &str, name: &Option<String>| match name {
        Some(name) => format!("{which} TABLE AS {} ", quote_ident(name)),
        None => String::new(),
    };
    let (old, new) = (named("OLD", &trigger.old_table), named("NEW", &trigger.new_table));
    format!("REFERENCING {old}{new}")
}
