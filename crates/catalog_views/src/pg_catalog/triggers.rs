//! `pg_trigger`, and the texts of triggers.

use super::definitions::quote_ident;
use super::oids;
use crate::catalog_tables::declared;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::catalog::{Catalog, Table, Trigger, TriggerState};
use values::cells::Cell;

/// The bits of `tgtype`.
const ROW: i64 = 1;
const BEFORE: i64 = 2;
const INSERT: i64 = 4;
const DELETE: i64 = 8;
const UPDATE: i64 = 16;
const TRUNCATE: i64 = 32;

/// `pg_trigger`.
pub(super) fn triggers(context: &ViewContext<'_>, rows: &mut TableRows) {
    for trigger in context.catalog.triggers() {
        let Some(table) = context.catalog.table_by_id(trigger.table) else { continue };
        let events = trigger.events;
        let bits = [
            (trigger.is_row, ROW),
            (trigger.is_before, BEFORE),
            (events.insert, INSERT),
            (events.delete, DELETE),
            (events.update, UPDATE),
            (events.truncate, TRUNCATE),
        ];
        let kind: i64 = bits.into_iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| bit).sum();
        let numbers = numbers(table, trigger);
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
            ("tgconstraint", 0.into()),
            ("tgdeferrable", false.into()),
            ("tginitdeferred", false.into()),
            ("tgnargs", (trigger.arguments.len() as i64).into()),
            ("tgattr", Cell::Numbers(numbers)),
            ("tgargs", arguments.into()),
            ("tgqual", trigger.condition.as_deref().into()),
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

/// The numbers of the columns of UPDATE OF.
fn numbers(table: &Table, trigger: &Trigger) -> Vec<i64> {
    let number = |id| declared(table).find(|(_, column)| column.id == id).map(|(number, _)| number);
    trigger.columns.iter().filter_map(|id| number(*id)).collect()
}

/// The names of the columns of UPDATE OF.
pub(crate) fn column_names<'a>(table: &'a Table, trigger: &'a Trigger) -> Vec<&'a str> {
    let name = |id| {
        let mut columns = table.columns.iter();
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

/// The definition of a trigger. `name` is that of its table, `action` as of [`action`].
pub(crate) fn definition(
    table: &Table,
    trigger: &Trigger,
    (name, action): (&str, &str),
    pretty: bool,
) -> String {
    let columns = column_names(table, trigger);
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
        "CREATE TRIGGER {} {} {} ON {name} FOR EACH {} {when}{action}",
        quote_ident(&trigger.name),
        if trigger.is_before { "BEFORE" } else { "AFTER" },
        events.join(" OR "),
        if trigger.is_row { "ROW" } else { "STATEMENT" },
    )
}
