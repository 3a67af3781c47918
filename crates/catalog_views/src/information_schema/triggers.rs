//! `triggers` and `triggered_update_columns`.

use crate::names::DATABASE;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::triggers;
use std::sync::Arc;
use store::catalog::{DEFAULT_SCHEMA, Object, Privileges, Relation, Trigger};

/// The triggers of tables and views that the user may change, with these.
fn shown<'a>(
    context: &'a ViewContext<'_>,
) -> impl Iterator<Item = (&'a Relation, &'a Arc<Trigger>)> {
    let of_table = |trigger: &'a Arc<Trigger>| {
        let table = triggers::relation(context.catalog, trigger)?;
        let held = context.access.privileges(&Object::Relation(trigger.table.relation()));
        let others = held.without(Privileges::SELECT);
        (!others.is_empty()).then_some((table, trigger))
    };
    context.catalog.triggers().filter_map(of_table)
}

/// The view `triggers`: a row for each event of a trigger.
pub(super) fn triggers(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, trigger) in shown(context) {
        let is_alike = |other: &&Arc<Trigger>, event: &str| {
            other.is_row == trigger.is_row
                && other.timing() == trigger.timing()
                && triggers::events(other).any(|name| name == event)
                && other.name <= trigger.name
        };
        let path = [DEFAULT_SCHEMA].into_iter();
        let action = triggers::action(context.catalog, path, trigger);
        for event in triggers::events(trigger).filter(|event| *event != "TRUNCATE") {
            let alike = context.catalog.triggers_of(trigger.table).iter();
            let order = alike.filter(|other| is_alike(other, event)).count() as i64;
            let condition = trigger.condition.as_ref().map(|condition| format!("({condition})"));
            rows.row([
                ("trigger_catalog", DATABASE.into()),
                ("trigger_schema", table.schema().into()),
                ("trigger_name", trigger.name.as_str().into()),
                ("event_manipulation", event.into()),
                ("event_object_catalog", DATABASE.into()),
                ("event_object_schema", table.schema().into()),
                ("event_object_table", table.name().into()),
                ("action_order", order.into()),
                ("action_condition", condition.into()),
                ("action_statement", action.as_str().into()),
                ("action_orientation", (if trigger.is_row { "ROW" } else { "STATEMENT" }).into()),
                ("action_reference_old_table", trigger.old_table.as_deref().into()),
                ("action_reference_new_table", trigger.new_table.as_deref().into()),
                ("action_timing", trigger.timing().into()),
            ]);
        }
    }
}

/// The view `triggered_update_columns`.
pub(super) fn columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, trigger) in shown(context) {
        for column in triggers::column_names(context.catalog, trigger) {
            rows.row([
                ("trigger_catalog", DATABASE.into()),
                ("trigger_schema", table.schema().into()),
                ("trigger_name", trigger.name.as_str().into()),
                ("event_object_catalog", DATABASE.into()),
                ("event_object_schema", table.schema().into()),
                ("event_object_table", table.name().into()),
                ("event_object_column", column.into()),
            ]);
        }
    }
}
