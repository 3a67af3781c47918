//! Restores one table into a running store.

use crate::manifest::{Name, SequenceForm, TableForm};
use crate::{Backup, Error, Progress, Target, definitions, indexes, load, user_types};
use std::sync::Arc;
use store::catalog::{CatalogChange, Object, Privileges, Relation, RelationId, TableId};
use store::{Store, Transaction};

/// Which table is restored, and as what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTable {
    /// The schema of the table in the backup; `None` if no other schema has a table of the name.
    pub schema: Option<String>,
    /// The name of the table in the backup.
    pub name: String,
    /// The schema of the new table; `None` for the old one's.
    pub new_schema: Option<String>,
    /// The name of the new table; `None` for the old one's.
    pub new_name: Option<String>,
    /// The role that owns the new table.
    pub owner: Option<String>,
}

/// Restores one table with its rows and the sequences of its columns, in one transaction. Returns the number of rows.
/// Privileges, foreign keys, triggers and colocation are not restored.
///
/// # Errors
/// [`Error::TableMissing`], [`Error::TableAmbiguous`]; [`Error::TypeMissing`], [`Error::TypeDiffers`]; those of the store
/// for a table that exists; [`Error::Damaged`], [`Error::Missing`]; those of the object store. Nothing has changed then.
pub async fn restore_table(
    store: &Arc<Store>,
    target: &Target,
    backup: &Backup,
    wanted: &NewTable,
    progress: &Progress,
) -> Result<u64, Error> {
    if store.peers().is_some() {
        let message = "restoring a table into a cluster is not supported yet";
        return Err(Error::Unsupported(message.to_owned()));
    }
    let mut form = find(backup, wanted)?.clone();
    let old = form.name.clone();
    form.name = Name {
        schema: wanted.new_schema.clone().unwrap_or_else(|| old.schema.clone()),
        name: wanted.new_name.clone().unwrap_or_else(|| old.name.clone()),
    };
    progress.expect(form.rows);
    let sequences = own_sequences(backup, &old, &mut form);
    let id = TableId(store.next_relation_id().0);
    let mut transaction = store.begin();
    let catalog = transaction.catalog();
    for sql_type in sql_types(&form) {
        user_types::require(&backup.manifest.types, sql_type, catalog)?;
    }
    let table = definitions::table(&form, id, store.group(), catalog, backup.flaw())?;
    let table = Arc::new(table);
    let relation = Relation::Table(Arc::clone(&table));
    create(&mut transaction, relation, wanted.owner.as_deref())?;
    for form in &form.indexes {
        let id = TableId(store.next_relation_id().0);
        let mut form = form.clone();
        while transaction.catalog().relation(&table.schema, &form.name).is_some() {
            form.name.push_str("_restored");
        }
        let flaw = || backup.flaw()("an index has an unknown column or type".to_owned());
        let index = indexes::index(&form, id, &table, transaction.catalog()).ok_or_else(flaw)?;
        transaction.change_catalog(CatalogChange::Create(Relation::Index(Arc::new(index))))?;
    }
    for sequence in sequences {
        let id: RelationId = store.next_relation_id();
        let relation = definitions::sequence(&sequence, id, transaction.catalog());
        // Before the sequence is there, so that nobody gets an earlier value.
        store.sequence_set(&relation, sequence.last, sequence.called)?;
        create(&mut transaction, Relation::Sequence(Arc::new(relation)), wanted.owner.as_deref())?;
    }
    load::load(&mut transaction, store, target, &table, &form, progress).await?;
    transaction.commit_async().await?;
    Ok(form.rows)
}

fn create(
    transaction: &mut Transaction,
    relation: Relation,
    owner: Option<&str>,
) -> Result<(), Error> {
    let object = Object::Relation(relation.id());
    transaction.change_catalog(CatalogChange::Create(relation))?;
    if let Some(role) = owner {
        let (role, privileges) = (role.to_owned(), Privileges::ALL);
        transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?;
    }
    Ok(())
}

/// Returns the types of the columns of a table, and of the expressions of its indexes.
fn sql_types(form: &TableForm) -> impl Iterator<Item = &str> {
    let indexed = form.indexes.iter().flat_map(|index| &index.columns);
    let expressions = indexed.filter_map(|column| column.expression.as_ref());
    let columns = form.columns.iter().map(|column| column.sql_type.as_str());
    columns.chain(expressions.map(|expression| expression.sql_type.as_str()))
}

fn find<'a>(backup: &'a Backup, wanted: &NewTable) -> Result<&'a TableForm, Error> {
    let is_wanted = |name: &Name| {
        name.name == wanted.name
            && wanted.schema.as_ref().is_none_or(|schema| name.schema == *schema)
    };
    let found: Vec<_> =
        backup.manifest.tables.iter().filter(|form| is_wanted(&form.name)).collect();
    match &found[..] {
        [form] => Ok(form),
        [] => {
            let schema = wanted.schema.iter().map(|schema| format!("{schema}."));
            let table = format!("{}{}", schema.collect::<String>(), wanted.name);
            Err(Error::TableMissing { table, backup: backup.name().to_owned() })
        }
        several => {
            let schemas: Vec<&str> = several.iter().map(|form| form.name.schema.as_str()).collect();
            Err(Error::TableAmbiguous { table: wanted.name.clone(), schemas: schemas.join(", ") })
        }
    }
}

/// Returns the sequences of the table's columns. They get the names that sequences of a new table have, and the
/// defaults of the columns name them.
fn own_sequences(backup: &Backup, old: &Name, form: &mut TableForm) -> Vec<SequenceForm> {
    let mut own = Vec::new();
    for sequence in &backup.manifest.sequences {
        let Some(owner) = sequence.owned_by.as_ref().filter(|owner| owner.table == *old) else {
            continue;
        };
        let mut new = sequence.clone();
        new.name.schema.clone_from(&form.name.schema);
        if form.name.name != old.name {
            new.name.name = format!("{}_{}_seq", form.name.name, owner.column);
        }
        new.owned_by = Some(crate::manifest::ColumnName {
            table: form.name.clone(),
            column: owner.column.clone(),
        });
        let column = form.columns.iter_mut().find(|column| column.name == owner.column);
        if let Some(default) = column.and_then(|column| column.default.as_mut()) {
            *default = default.replace(&in_default(&sequence.name), &in_default(&new.name));
        }
        own.push(new);
    }
    own
}

/// Returns the name of a sequence in the default of its column.
fn in_default(name: &Name) -> String {
    format!("\"{}\".\"{}\"", name.schema, name.name)
}
