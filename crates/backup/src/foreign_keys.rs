//! Foreign keys in a manifest.

use crate::manifest::{ActionForm, ForeignKeyForm, Name, TableForm};
use store::catalog::{Catalog, ColumnId, ForeignKey, ReferentialAction, Table, TableId, Timing};

/// Returns the foreign keys of a table.
pub(crate) fn forms(catalog: &Catalog, table: &Table) -> Vec<ForeignKeyForm> {
    table.foreign_keys.iter().filter_map(|key| form(catalog, table, key)).collect()
}

fn form(catalog: &Catalog, table: &Table, key: &ForeignKey) -> Option<ForeignKeyForm> {
    let referenced = catalog.table_by_id(key.references)?;
    let index = key.index.and_then(|id| catalog.index_by_id(id));
    Some(ForeignKeyForm {
        name: key.name.clone(),
        columns: names(table, &key.columns),
        references: Name { schema: referenced.schema.clone(), name: referenced.name.clone() },
        referenced: names(referenced, &key.referenced),
        index: index.map(|index| index.file.name.clone()),
        on_delete: action_form(key.on_delete),
        on_update: action_form(key.on_update),
        on_delete_set: names(table, &key.on_delete_set),
        is_full: key.is_full,
        is_deferrable: key.timing != Timing::NotDeferrable,
        is_deferred: key.timing == Timing::InitiallyDeferred,
        is_valid: key.is_valid,
    })
}

fn names(table: &Table, columns: &[ColumnId]) -> Vec<String> {
    let positions = columns.iter().filter_map(|id| table.position(*id));
    positions.map(|at| table.columns[at].name.clone()).collect()
}

fn action_form(action: ReferentialAction) -> ActionForm {
    match action {
        ReferentialAction::NoAction => ActionForm::NoAction,
        ReferentialAction::Restrict => ActionForm::Restrict,
        ReferentialAction::Cascade => ActionForm::Cascade,
        ReferentialAction::SetNull => ActionForm::SetNull,
        ReferentialAction::SetDefault => ActionForm::SetDefault,
    }
}

fn action(form: ActionForm) -> ReferentialAction {
    match form {
        ActionForm::NoAction => ReferentialAction::NoAction,
        ActionForm::Restrict => ReferentialAction::Restrict,
        ActionForm::Cascade => ReferentialAction::Cascade,
        ActionForm::SetNull => ReferentialAction::SetNull,
        ActionForm::SetDefault => ReferentialAction::SetDefault,
    }
}

/// Returns the foreign keys of a restored table, whose form this is. All tables and indexes are
/// there. `None` if a column or a table is missing.
pub(crate) fn restored(
    form: &TableForm,
    catalog: &Catalog,
    table: &Table,
) -> Option<Vec<ForeignKey>> {
    form.foreign_keys.iter().map(|key| restored_key(key, catalog, table)).collect()
}

fn restored_key(form: &ForeignKeyForm, catalog: &Catalog, table: &Table) -> Option<ForeignKey> {
    let Name { schema, name } = &form.references;
    let referenced = catalog.table_by_id(TableId(catalog.relation(schema, name)?.id().0))?;
    let index = |name: &String| catalog.relation(schema, name).map(|found| TableId(found.id().0));
    Some(ForeignKey {
        name: form.name.clone(),
        columns: ids(table, &form.columns)?,
        references: referenced.id,
        referenced: ids(referenced, &form.referenced)?,
        index: match &form.index {
            Some(name) => Some(index(name)?),
            None => None,
        },
        on_delete: action(form.on_delete),
        on_update: action(form.on_update),
        on_delete_set: ids(table, &form.on_delete_set)?,
        is_full: form.is_full,
        timing: timing(form.is_deferrable, form.is_deferred),
        is_valid: form.is_valid,
    })
}

fn ids(table: &Table, names: &[String]) -> Option<Vec<ColumnId>> {
    names.iter().map(|name| table.column(name).map(|(_, column)| column.id)).collect()
}

/// When a constraint with these attributes is checked.
pub(crate) fn timing(is_deferrable: bool, is_deferred: bool) -> Timing {
    match (is_deferrable, is_deferred) {
        (_, true) => Timing::InitiallyDeferred,
        (true, false) => Timing::InitiallyImmediate,
        (false, false) => Timing::NotDeferrable,
    }
}
