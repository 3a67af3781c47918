//! Triggers in the form of the manifest, and back.

use crate::manifest::{Name, TriggerForm};
use store::catalog::{Catalog, ColumnId, RelationId, TableId, Trigger};

/// The triggers of a catalog. Those whose function is gone are left out.
pub(crate) fn forms(catalog: &Catalog) -> Vec<TriggerForm> {
    let form = |trigger: &Trigger| {
        let on = catalog.relation_by_id(trigger.table.relation())?;
        let table = catalog.table_by_id(trigger.table);
        let function = catalog.function_by_id(trigger.function)?;
        let position = |id: &ColumnId| {
            let table = table?;
            Some(table.columns[table.position(*id)?].name.clone())
        };
        Some(TriggerForm {
            definition: trigger.clone(),
            on: Name { schema: on.schema().to_owned(), name: on.name().to_owned() },
            calls: Name { schema: function.schema.clone(), name: function.name.clone() },
            column_names: trigger.columns.iter().filter_map(position).collect(),
        })
    };
    catalog.triggers().filter_map(|trigger| form(trigger)).collect()
}

/// A trigger with an id of its own; `None` if its table, function or columns are not there.
pub(crate) fn restored(form: &TriggerForm, id: RelationId, catalog: &Catalog) -> Option<Trigger> {
    let on = catalog.relation(&form.on.schema, &form.on.name)?;
    let named = catalog.functions_named(&form.calls.schema, &form.calls.name);
    let function = named.iter().find(|function| function.inputs().next().is_none())?.id;
    let column = |name: &String| Some(on.file()?.column(name)?.1.id);
    let columns = form.column_names.iter().map(column).collect::<Option<_>>()?;
    let table = TableId(on.id().0);
    Some(Trigger { id, table, function, columns, ..form.definition.clone() })
}
