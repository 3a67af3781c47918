//! Definitions of triggers as SQL text.

use crate::definitions::quote_ident;
use store::catalog::{Catalog, Relation, Table, Timing, Trigger};

/// The relation of a trigger: a table, or a view.
pub fn relation<'a>(catalog: &'a Catalog, trigger: &Trigger) -> Option<&'a Relation> {
    catalog.relation_by_id(trigger.table.relation())
}

/// The table of a trigger; `None` for a trigger of a view.
pub fn table<'a>(catalog: &'a Catalog, trigger: &Trigger) -> Option<&'a Table> {
    catalog.table_by_id(trigger.table).map(|table| &**table)
}

/// The names of the columns of UPDATE OF.
pub fn column_names<'a>(catalog: &'a Catalog, trigger: &'a Trigger) -> Vec<&'a str> {
    let table = table(catalog, trigger);
    let name = |id| {
        let mut columns = table?.columns.iter();
        columns.find(|column| column.id == id).map(|column| column.name.as_str())
    };
    trigger.columns.iter().filter_map(|id| name(*id)).collect()
}

/// The events of a trigger in the order of definitions.
pub fn events(trigger: &Trigger) -> impl Iterator<Item = &'static str> {
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
pub fn action<'a>(
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
pub fn definition(
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
