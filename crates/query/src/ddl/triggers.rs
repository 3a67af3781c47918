//! CREATE, ALTER, DROP and COMMENT ON of triggers.

use super::dependents::needed;
use crate::analysis;
use crate::context::Frame;
use crate::dml::declared_column;
use analyzer::system::{Oid, functions as system_function};
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::{find_named, missing_relation};
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::LogicalPlan;
use grammar::tree::{ColumnRef, Node, NodeEnum, NodeRef};
use parser::commands::{
    ConstraintTiming, CreateTrigger, SwitchedTo, TriggerDefinition, TriggerName, TriggerSwitch,
};
use parser::errors::of_analyzer;
use procedural::trigger_rows::{NEW, OLD, named_columns, written_out};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, ColumnId, Function, Object, Privileges, Relation, SYSTEM_COLUMNS,
    SqlType, Table, TableId, Timing, Trigger, TriggerEvents, TriggerState, is_temporary_schema,
};
use table_rows::generated::renamed;
use values::error::{Error, Result, SqlState};

/// Runs a statement about a trigger.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    definition: &TriggerDefinition,
) -> Result<()> {
    match definition {
        TriggerDefinition::Create(create) => self::create(frame, transaction, create).await,
        TriggerDefinition::Drop { trigger, if_exists } => {
            drop(frame, transaction, trigger, *if_exists)
        }
        TriggerDefinition::Rename { trigger, to } => {
            let found = owned(frame, transaction.catalog(), trigger)?;
            if transaction.catalog().triggers_of(found.table).iter().any(|of| of.name == *to) {
                return Err(taken(to, &trigger.table.name));
            }
            put(transaction, Trigger { name: to.clone(), ..Trigger::clone(&found) })
        }
        TriggerDefinition::Comment { trigger, text } => {
            let found = owned(frame, transaction.catalog(), trigger)?;
            put(transaction, Trigger { comment: text.clone(), ..Trigger::clone(&found) })
        }
    }
}

/// Puts a trigger into the catalog, and its table with another version: transactions that have written its rows without
/// knowing of the trigger fail.
fn put(transaction: &mut DistributedTransaction, trigger: Trigger) -> Result<()> {
    let table = trigger.table;
    transaction.change_catalog(CatalogChange::PutTrigger(trigger))?;
    renew(transaction, table)
}

/// Gives a table another version. Views have none: what they read is looked up with each use.
fn renew(transaction: &mut DistributedTransaction, table: TableId) -> Result<()> {
    match transaction.catalog().table_by_id(table) {
        Some(_) => integrity::put(transaction, table, table, |_| {}),
        None => Ok(()),
    }
}

fn remove(transaction: &mut DistributedTransaction, trigger: &Trigger) -> Result<()> {
    let (table, id) = (trigger.table, trigger.id);
    transaction.change_catalog(CatalogChange::DropTrigger { table, id })?;
    renew(transaction, table)
}

/// Runs a CREATE TRIGGER.
async fn create(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateTrigger,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let table = target(frame, transaction, create).await?;
    create.check().map_err(|error| of_analyzer(error, frame.text))?;
    let mut columns: Vec<ColumnId> = Vec::new();
    for name in &create.columns {
        let column = table.columns[declared_column(&table, name)?].id;
        if columns.contains(&column) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        columns.push(column);
    }
    if let Some(condition) = &create.condition {
        check_condition(frame, transaction, create, &table, condition).await?;
    }
    let function = function(frame, &catalog, create)?;
    if function.is_temporary() && !is_temporary_schema(&table.schema) {
        let message = "temporary functions in triggers of permanent relations are not supported";
        return Err(Error::unsupported(message));
    }
    let mut others = catalog.triggers_of(table.id).iter();
    let existing = others.find(|other| other.name == create.trigger.name);
    if existing.is_some() && !create.replaces {
        return Err(taken(&create.trigger.name, &table.name));
    }
    let id = match existing {
        Some(existing) => existing.id,
        None => frame.session.shared.store.next_relation_id(),
    };
    if existing.is_some_and(|existing| existing.constraint.is_some()) {
        let message = format!(
            "trigger \"{}\" for relation \"{}\" is a constraint trigger",
            create.trigger.name, table.name
        );
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    let CreateTrigger { insert, update, delete, truncate, .. } = *create;
    let events = TriggerEvents { insert, update, delete, truncate };
    let constraint = create.constraint.map(|timing| match timing {
        ConstraintTiming { is_deferred: true, .. } => Timing::InitiallyDeferred,
        ConstraintTiming { is_deferrable: true, .. } => Timing::InitiallyImmediate,
        _ => Timing::NotDeferrable,
    });
    put(
        transaction,
        Trigger {
            id,
            table: table.id,
            name: create.trigger.name.clone(),
            function: function.id,
            is_before: create.is_before,
            is_instead: create.is_instead,
            constraint,
            old_table: create.old_table.clone(),
            new_table: create.new_table.clone(),
            is_row: create.is_row,
            events,
            columns,
            condition: create.condition.clone(),
            arguments: create.arguments.clone(),
            state: TriggerState::Enabled,
            comment: existing.and_then(|existing| existing.comment.clone()),
        },
    )
}

/// The table of a new trigger; a view as a table of its columns.
///
/// # Errors
/// 42501 without the privilege TRIGGER; 42809 if it cannot have such a trigger.
async fn target(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    create: &CreateTrigger,
) -> Result<Arc<Table>> {
    let (catalog, name) = (transaction.catalog(), &create.trigger.table);
    let relation = find_named(catalog, frame.path(), name)?;
    let relation = relation.ok_or_else(|| missing_relation(catalog, frame.path(), name))?;
    let wrong = |what: &str, detail: &str| {
        let message = format!("\"{}\" is a {what}", relation.name());
        Err(Error::new(SqlState::WrongObjectType, message).with_detail(detail))
    };
    let transitions = create.old_table.is_some() || create.new_table.is_some();
    match relation {
        Relation::Table(_) if create.is_instead => {
            wrong("table", "Tables cannot have INSTEAD OF triggers.")
        }
        Relation::Table(table) => {
            frame.access(catalog).require(relation, Privileges::TRIGGER)?;
            Ok(Arc::clone(table))
        }
        Relation::View(_) if create.is_row && !create.is_instead => {
            wrong("view", "Views cannot have row-level BEFORE or AFTER triggers.")
        }
        Relation::View(_) if create.truncate => {
            wrong("view", "Views cannot have TRUNCATE triggers.")
        }
        Relation::View(_) if transitions => {
            wrong("view", "Triggers on views cannot have transition tables.")
        }
        Relation::View(_) if !create.columns.is_empty() => {
            Err(Error::unsupported("UPDATE OF in a trigger of a view is not supported"))
        }
        Relation::View(view) => {
            frame.access(catalog).require(relation, Privileges::TRIGGER)?;
            let planner = frame.planner(transaction);
            let rows = Box::pin(planner.view(view)).await?;
            Ok(Arc::new(view.as_table(analysis::columns_of(&rows.schema()))))
        }
        other => {
            let message = format!("relation \"{}\" cannot have triggers", other.name());
            Err(Error::new(SqlState::WrongObjectType, message).with_detail(format!(
                "This operation is not supported for {}.",
                if other.kind() == "sequence" { "sequences" } else { "indexes" }
            )))
        }
    }
}

/// PostgreSQL's own functions of triggers, which users name.
const OF_SYSTEM: [&str; 3] = [
    "suppress_redundant_updates_trigger",
    "tsvector_update_trigger",
    "tsvector_update_trigger_column",
];

/// The function of a new trigger.
///
/// # Errors
/// 42883, 42P17, 42501.
fn function(frame: &Frame<'_>, catalog: &Catalog, create: &CreateTrigger) -> Result<Arc<Function>> {
    let name = &create.function;
    let schemas = frame.path().of_function(name.schema.as_deref());
    let named = schemas.iter().flat_map(|schema| catalog.functions_named(schema, &name.name));
    let mut found = named.filter(|of| of.inputs().next().is_none() && !of.is_procedure);
    let Some(function) = found.next() else {
        if OF_SYSTEM.contains(&name.name.as_str()) {
            return Err(Error::unsupported(format!("the function {name}() is not supported")));
        }
        let is_of_system = name.schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
        let mut known = system_function::named(&name.name);
        if is_of_system && known.any(|of| of.arguments.is_empty()) {
            return Err(no_trigger_function(&name.name));
        }
        let message = format!("function {name}() does not exist");
        return Err(Error::new(SqlState::UndefinedFunction, message));
    };
    let held = frame.access(catalog).privileges(&Object::Relation(function.id));
    if !held.contains(Privileges::EXECUTE) {
        let message = format!("permission denied for function {}", function.name);
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    if function.result_id != Oid::TRIGGER.0 {
        return Err(no_trigger_function(&function.name));
    }
    Ok(Arc::clone(function))
}

fn no_trigger_function(name: &str) -> Error {
    let message = format!("function {name} must return type trigger");
    Error::new(SqlState::InvalidObjectDefinition, message)
}

/// Checks a condition of WHEN.
async fn check_condition(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    create: &CreateTrigger,
    table: &Table,
    condition: &str,
) -> Result<()> {
    let refused = |message: &str| Err(Error::new(SqlState::InvalidObjectDefinition, message));
    let statement = parser::one(&format!("SELECT {condition}"))?;
    let query = analysis::query_of(&statement)?;
    for (node, ..) in query.nodes() {
        let NodeRef::ColumnRef(reference) = node else {
            if matches!(node, NodeRef::SubLink(_)) {
                return refused("cannot use subquery in trigger WHEN condition").map_err(|error| {
                    Error::new(SqlState::FeatureNotSupported, error.message().to_owned())
                });
            }
            continue;
        };
        check_reference(create, table, reference)?;
    }
    let names = named_columns(table);
    let statement = parser::one(&format!("SELECT {}", written_out(table, condition)))?;
    let query = analysis::query_of(&statement)?;
    let inner = frame.session.frame_of(&[], &statement).with_names(&names);
    let planner = inner.planner(transaction);
    let planned = analysis::plan_without_values(&inner, &planner, query).await;
    let (plan, fields) = planned.map_err(Error::without_position)?;
    refuse_aggregates(&plan)?;
    match fields.first().map(|field| &field.sql_type) {
        Some(SqlType::Boolean) | None => Ok(()),
        Some(other) => {
            let message = format!("argument of WHEN must be type boolean, not type {other}");
            Err(Error::new(SqlState::DatatypeMismatch, message))
        }
    }
}

/// Checks what a condition of WHEN refers to.
fn check_reference(create: &CreateTrigger, table: &Table, reference: &ColumnRef) -> Result<()> {
    let refused = |message: &str| Err(Error::new(SqlState::InvalidObjectDefinition, message));
    let (row, column) = parts(reference);
    match row {
        NEW | OLD if !create.is_row => {
            return refused("statement trigger's WHEN condition cannot reference column values");
        }
        OLD if create.insert => {
            return refused("INSERT trigger's WHEN condition cannot reference OLD values");
        }
        NEW if create.delete => {
            return refused("DELETE trigger's WHEN condition cannot reference NEW values");
        }
        _ => {}
    }
    let found = column.and_then(|name| table.column(name));
    if let (NEW | OLD, Some(name), None) = (row, column, found)
        && !name.is_empty()
    {
        if SYSTEM_COLUMNS.contains(&name) {
            return Err(Error::unsupported(match (row, create.is_before) {
                (NEW, true) => {
                    "BEFORE trigger's WHEN condition cannot reference NEW system columns".to_owned()
                }
                _ => {
                    format!("the system column {name} in a condition of a trigger is not supported")
                }
            }));
        }
        let message = format!("column {row}.{name} does not exist");
        return Err(Error::new(SqlState::UndefinedColumn, message));
    }
    let wrong = "BEFORE trigger's WHEN condition cannot reference NEW generated columns";
    let detail = match (row, create.is_before, found) {
        (NEW, true, Some((_, column))) if column.generated.is_some() => {
            format!("Column \"{}\" is a generated column.", column.name)
        }
        (NEW, true, None) if table.columns.iter().any(|column| column.generated.is_some()) => {
            "A whole-row reference is used and the table contains generated columns.".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Error::new(SqlState::InvalidObjectDefinition, wrong).with_detail(detail))
}

/// Refuses a condition of several rows.
fn refuse_aggregates(plan: &LogicalPlan) -> Result<()> {
    let has = |wanted: fn(&LogicalPlan) -> bool| plan.exists(|part| Ok(wanted(part)));
    let refused = |state, what: &str| {
        let message = format!("{what} functions are not allowed in trigger WHEN conditions");
        Err(Error::new(state, message))
    };
    if has(|part| matches!(part, LogicalPlan::Aggregate(_)))? {
        return refused(SqlState::GroupingError, "aggregate");
    }
    if has(|part| matches!(part, LogicalPlan::Window(_)))? {
        return refused(SqlState::WindowingError, "window");
    }
    Ok(())
}

/// The first part of a reference, and the second.
fn parts(reference: &ColumnRef) -> (&str, Option<&str>) {
    let mut texts = reference.fields.iter().map(|field: &Node| match &field.node {
        Some(NodeEnum::String(text)) => text.sval.as_str(),
        _ => "",
    });
    (texts.next().unwrap_or_default(), texts.next())
}

fn taken(name: &str, relation: &str) -> Error {
    let message = format!("trigger \"{name}\" for relation \"{relation}\" already exists");
    Error::new(SqlState::DuplicateObject, message)
}

fn unknown(name: &str, table: &str) -> Error {
    let message = format!("trigger \"{name}\" for table \"{table}\" does not exist");
    Error::new(SqlState::UndefinedObject, message)
}

/// The trigger that a statement names, of whose table or view the user is the owner.
fn owned(frame: &Frame<'_>, catalog: &Catalog, name: &TriggerName) -> Result<Arc<Trigger>> {
    let relation = find_named(catalog, frame.path(), &name.table)?;
    let relation = relation.ok_or_else(|| missing_relation(catalog, frame.path(), &name.table))?;
    let unknown = || unknown(&name.name, relation.name());
    let triggers = catalog.triggers_of(TableId(relation.id().0));
    let found = triggers.iter().find(|of| of.name == name.name).ok_or_else(unknown)?;
    frame.access(catalog).require(relation, Privileges::OWNER)?;
    Ok(Arc::clone(found))
}

/// Runs a DROP TRIGGER.
fn drop(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &TriggerName,
    if_exists: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    if if_exists && find_named(&catalog, frame.path(), &name.table)?.is_none() {
        frame.skip_missing("relation", &name.table.name);
        return Ok(());
    }
    match owned(frame, &catalog, name) {
        Ok(trigger) => remove(transaction, &trigger),
        Err(error) if if_exists && error.state() == SqlState::UndefinedObject => {
            let message = format!(
                "trigger \"{}\" for relation \"{}\" does not exist, skipping",
                name.name, name.table.name
            );
            frame.session.notice(SqlState::SuccessfulCompletion, message);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// ALTER TABLE ... ENABLE or DISABLE TRIGGER.
///
/// # Errors
/// 42704 if the table has no such trigger. 0A000 for constraints that would not be checked.
pub(super) fn switch(
    transaction: &mut DistributedTransaction,
    table: TableId,
    switch: &TriggerSwitch,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    if switch.of_constraints && has_checked_later(&catalog, table) {
        let message = "DISABLE TRIGGER ALL of a table with foreign keys or deferrable constraints";
        return Err(Error::unsupported(format!("{message} is not supported"))
            .with_hint("DISABLE TRIGGER USER disables the triggers that are not of constraints."));
    }
    let state = match switch.to {
        SwitchedTo::Enabled => TriggerState::Enabled,
        SwitchedTo::Disabled => TriggerState::Disabled,
        SwitchedTo::Replica => TriggerState::Replica,
        SwitchedTo::Always => TriggerState::Always,
    };
    let triggers = catalog.triggers_of(table).iter();
    let meant = triggers.filter(|of| switch.name.as_ref().is_none_or(|name| *name == of.name));
    let meant: Vec<_> = meant.collect();
    if let (Some(name), true, Some(table)) =
        (&switch.name, meant.is_empty(), catalog.table_by_id(table))
    {
        return Err(unknown(name, &table.name));
    }
    for trigger in meant.into_iter().filter(|of| of.state != state) {
        put(transaction, Trigger { state, ..Trigger::clone(trigger) })?;
    }
    Ok(())
}

/// Whether PostgreSQL checks constraints of a table by triggers.
fn has_checked_later(catalog: &Catalog, table: TableId) -> bool {
    let refers = catalog.table_by_id(table).is_some_and(|of| !of.foreign_keys.is_empty());
    refers || catalog.references_to(table).next().is_some() || catalog.has_deferrable(table)
}

/// With CASCADE, drops the triggers that call a function which is dropped.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) fn drop_with_function(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    function: &Function,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let shown = format!("{} {}", function.kind(), routines::signature(function));
    let using: Vec<_> = catalog.triggers().filter(|of| of.function == function.id).collect();
    let name = |trigger: &Trigger| {
        let on = catalog.relation_by_id(trigger.table.relation());
        let on = on.map_or_else(String::new, |on| format!("{} {}", on.kind(), on.name()));
        format!("trigger {} on {on}", trigger.name)
    };
    if !cascade && !using.is_empty() {
        let each = using.iter().map(|trigger| format!("{} depends on {shown}", name(trigger)));
        return Err(needed(&shown, each.collect::<Vec<_>>().join("\n")));
    }
    for trigger in using {
        remove(transaction, trigger)?;
        let message = format!("drop cascades to {}", name(trigger));
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    Ok(())
}

/// With CASCADE, drops the triggers that name a column which is dropped.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) fn drop_with_column(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    name: &str,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let Some(table) = catalog.table_by_id(table) else { return Ok(()) };
    let Some((_, column)) = table.column(name) else { return Ok(()) };
    for trigger in catalog.triggers_of(table.id) {
        let condition = trigger.condition.as_deref();
        if !trigger.columns.contains(&column.id) && !condition.is_some_and(|of| names(of, name)) {
            continue;
        }
        let what = format!("trigger {} on table {}", trigger.name, table.name);
        if !cascade {
            let of = format!("column {name} of table {}", table.name);
            return Err(needed(&of, format!("{what} depends on {of}")));
        }
        let (table, id) = (trigger.table, trigger.id);
        transaction.change_catalog(CatalogChange::DropTrigger { table, id })?;
        let message = format!("drop cascades to {what}");
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    Ok(())
}

/// Gives a renamed column its new name in the conditions of triggers.
///
/// # Errors
/// 0A000 if a condition cannot be changed.
pub(super) fn follow_name(
    transaction: &mut DistributedTransaction,
    table: TableId,
    old: &str,
    new: &str,
) -> Result<()> {
    for trigger in Arc::clone(transaction.catalog()).triggers_of(table) {
        let Some(condition) = trigger.condition.as_deref().filter(|of| names(of, old)) else {
            continue;
        };
        let condition = Some(renamed(condition, old, &quote_ident(new))?);
        let changed = Trigger { condition, ..Trigger::clone(trigger) };
        transaction.change_catalog(CatalogChange::PutTrigger(changed))?;
    }
    Ok(())
}

/// Whether a condition names a column.
fn names(condition: &str, column: &str) -> bool {
    let Ok(statement) = parser::one(&format!("SELECT {condition}")) else { return true };
    let Some(query) = statement.query() else { return true };
    query.nodes().into_iter().any(|(node, ..)| match node {
        NodeRef::ColumnRef(reference) => parts(reference).1 == Some(column),
        _ => false,
    })
}
