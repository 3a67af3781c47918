//! Restores a backup into a new data directory.

use crate::directory::Unfinished;
use crate::manifest::{GrantForm, Name};
use crate::{
    Backup, Error, Progress, Target, definitions, foreign_keys, indexes, load, triggers, type_ids,
    user_types,
};
use std::path::Path;
use std::sync::Arc;
use store::catalog::{
    CatalogChange, Object, PUBLIC, Privileges, Relation, Schema, Table, TableId, TypeId,
};
use store::journal::Durability;
use store::{Data, IndexExpressions, Options, Store, Transaction};

/// What has been restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Tables.
    pub tables: u64,
    /// Rows.
    pub rows: u64,
}

/// Restores a backup into a data directory, which must not exist or be empty. The directory is complete when this
/// returns, and no data directory before. `expressions` computes what its indexes have of rows.
///
/// # Errors
/// [`Error::NotEmpty`], [`Error::Damaged`], [`Error::Missing`]; those of the object store and the disk.
pub async fn restore(
    target: &Target,
    backup: &Backup,
    path: &Path,
    memory_limit: Option<u64>,
    expressions: Arc<dyn IndexExpressions>,
    progress: &Progress,
) -> Result<Restored, Error> {
    let directory = Unfinished::create(path)?;
    let options = Options { memory_limit, background: false, ..Options::default() };
    let data = Data::at(directory.path(), Durability::Sync);
    let (store, _) = Store::open_durable(&options, data)?;
    store.compute_indexes_by(expressions);
    progress.expect(backup.manifest.tables.iter().map(|table| table.rows).sum());
    let restore = Restore { store: &store, target, backup, progress };
    restore.schemas()?;
    restore.types()?;
    for number in 0..backup.manifest.tables.len() {
        restore.table(number).await?;
    }
    restore.colocations()?;
    restore.foreign_keys()?;
    restore.others()?;
    restore.roles()?;
    store.settle_sequences()?;
    store.checkpoint()?;
    drop(store);
    directory.finish()?;
    let tables = &backup.manifest.tables;
    let rows = tables.iter().map(|table| table.rows).sum();
    Ok(Restored { tables: tables.len() as u64, rows })
}

/// A restore into a store that nobody else uses.
struct Restore<'a> {
    store: &'a Arc<Store>,
    target: &'a Target,
    backup: &'a Backup,
    progress: &'a Progress,
}

impl Restore<'_> {
    /// Makes the schemas those of the backup.
    fn schemas(&self) -> Result<(), Error> {
        let mut transaction = self.store.begin();
        let forms = &self.backup.manifest.schemas;
        let catalog = Arc::clone(transaction.catalog());
        for schema in catalog.schemas() {
            if forms.iter().all(|form| form.name != schema.name) {
                transaction.change_catalog(CatalogChange::DropSchema(schema.name.clone()))?;
            }
        }
        for form in forms {
            let schema = Schema { name: form.name.clone(), comment: form.comment.clone() };
            transaction.change_catalog(match catalog.schema(&form.name) {
                Some(_) => CatalogChange::ReplaceSchema(schema),
                None => CatalogChange::CreateSchema(schema),
            })?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Restores types of users, each behind those that it is made of.
    fn types(&self) -> Result<(), Error> {
        let mut transaction = self.store.begin();
        for form in &self.backup.manifest.types {
            let next = || TypeId(self.store.next_relation_id().0);
            let restored = user_types::restored(form, (next(), next()), transaction.catalog());
            let flaw = || self.backup.flaw()(format!("the type \"{}\" is wrong", form.name.name));
            transaction.change_catalog(CatalogChange::CreateType(restored.ok_or_else(flaw)?))?;
        }
        transaction.commit()?;
        Ok(())
    }

    async fn table(&self, number: usize) -> Result<(), Error> {
        let form = &self.backup.manifest.tables[number];
        let id = TableId(self.store.next_relation_id().0);
        let mut transaction = self.store.begin();
        let (group, catalog) = (self.store.group(), transaction.catalog());
        let table = definitions::table(form, id, group, catalog, self.backup.flaw())?;
        let table = Arc::new(table);
        let relation = Relation::Table(Arc::clone(&table));
        transaction.change_catalog(CatalogChange::Create(relation))?;
        for form in &form.indexes {
            let id = TableId(self.store.next_relation_id().0);
            let flaw = || self.backup.flaw()("an index has an unknown column or type".to_owned());
            let index = indexes::index(form, id, &table, transaction.catalog());
            let index = index.ok_or_else(flaw)?;
            let relation = Relation::Index(Arc::new(index));
            transaction.change_catalog(CatalogChange::Create(relation))?;
        }
        load::load(&mut transaction, self.store, self.target, &table, form, self.progress).await?;
        transaction.commit()?;
        Ok(())
    }

    /// Relates tables to those that they are colocated with.
    fn colocations(&self) -> Result<(), Error> {
        let mut transaction = self.store.begin();
        for form in &self.backup.manifest.tables {
            let Some(other) = &form.colocate_with else { continue };
            let (Some(own), Some(other)) = (id(&transaction, &form.name), id(&transaction, other))
            else {
                continue;
            };
            let table = transaction.catalog().table_by_id(own);
            let mut table = table.expect("the table has been restored").as_ref().clone();
            table.colocate_with = Some(other);
            table.version += 1;
            let relation = Relation::Table(Arc::new(table));
            transaction.change_catalog(CatalogChange::Replace(relation))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Restores foreign keys: they refer to tables that are all there now.
    fn foreign_keys(&self) -> Result<(), Error> {
        let mut transaction = self.store.begin();
        for form in &self.backup.manifest.tables {
            let Some(own) = id(&transaction, &form.name) else { continue };
            let catalog = Arc::clone(transaction.catalog());
            let Some(table) = catalog.table_by_id(own) else { continue };
            let flaw = || self.backup.flaw()("a foreign key refers to nothing".to_owned());
            let keys = foreign_keys::restored(form, &catalog, table).ok_or_else(flaw)?;
            if !keys.is_empty() {
                let mut table = Table::clone(table);
                table.foreign_keys = keys;
                table.extension.comments.clone_from(&form.constraint_comments);
                table.version += 1;
                let relation = Relation::Table(Arc::new(table));
                transaction.change_catalog(CatalogChange::Replace(relation))?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Restores views, sequences, functions and triggers. The value of a sequence is there before the sequence is.
    fn others(&self) -> Result<(), Error> {
        let mut transaction = self.store.begin();
        for form in &self.backup.manifest.sequences {
            let id = self.store.next_relation_id();
            let sequence = definitions::sequence(form, id, transaction.catalog());
            self.store.sequence_set(&sequence, form.last, form.called)?;
            let relation = Relation::Sequence(Arc::new(sequence));
            transaction.change_catalog(CatalogChange::Create(relation))?;
        }
        for form in &self.backup.manifest.views {
            let view = definitions::view(form, self.store.next_relation_id());
            transaction.change_catalog(CatalogChange::Create(Relation::View(Arc::new(view))))?;
        }
        let functions = &self.backup.manifest.functions;
        let ids = functions.iter().map(|form| (form.definition.id, self.store.next_relation_id()));
        let ids = ids.collect();
        let types = type_ids::restored(&self.backup.manifest.type_ids, transaction.catalog());
        for form in functions {
            let function = definitions::function(form, &ids, &types, transaction.catalog());
            transaction.change_catalog(CatalogChange::put_function(function))?;
        }
        for form in &self.backup.manifest.triggers {
            let id = self.store.next_relation_id();
            let flaw = || self.backup.flaw()("a trigger is of no table or function".to_owned());
            let trigger = triggers::restored(form, id, transaction.catalog()).ok_or_else(flaw)?;
            transaction.change_catalog(CatalogChange::PutTrigger(trigger))?;
        }
        transaction.commit()?;
        Ok(())
    }

    fn roles(&self) -> Result<(), Error> {
        let mut transaction = self.store.begin();
        for form in &self.backup.manifest.roles {
            transaction.change_catalog(CatalogChange::PutRole(definitions::role(form)))?;
        }
        let initial: Vec<String> = transaction.catalog().public().schemas.keys().cloned().collect();
        for schema in initial {
            set(&mut transaction, PUBLIC, Object::Schema(schema), Privileges::default())?;
        }
        let roles = self.backup.manifest.roles.iter();
        let roles = roles.map(|form| (form.name.as_str(), &form.grants));
        for (role, grants) in roles.chain([(PUBLIC, &self.backup.manifest.public)]) {
            self.grants(&mut transaction, role, grants)?;
        }
        transaction.commit()?;
        Ok(())
    }

    fn grants(
        &self,
        transaction: &mut Transaction,
        role: &str,
        grants: &[GrantForm],
    ) -> Result<(), Error> {
        let types = type_ids::restored(&self.backup.manifest.type_ids, transaction.catalog());
        for grant in grants {
            let object = definitions::object(transaction.catalog(), &grant.on, &types);
            let flaw = || self.backup.flaw()(format!("role \"{role}\" has privileges on nothing"));
            set(transaction, role, object.ok_or_else(flaw)?, definitions::privileges(grant))?;
        }
        Ok(())
    }
}

fn id(transaction: &Transaction, name: &Name) -> Option<TableId> {
    let relation = transaction.catalog().relation(&name.schema, &name.name)?;
    Some(TableId(relation.id().0))
}

fn set(
    transaction: &mut Transaction,
    role: &str,
    object: Object,
    privileges: Privileges,
) -> Result<(), Error> {
    let role = role.to_owned();
    Ok(transaction.change_catalog(CatalogChange::SetPrivileges { role, object, privileges })?)
}
