//! CREATE TABLE and CREATE TABLE AS.

use super::checks;
use super::create_sequence::owned_sequence;
use super::dependents;
use super::foreign_keys;
use super::identity::next_value;
use super::index;
use super::like::{self, Copied, Indexes};
use super::place;
use super::primary_key;
use crate::analysis;
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::dml::{ingest, statement};
use catalog_views::relation_names::find_named;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_plan::ExecutionPlan;
use futures::TryStreamExt;
use integrity::names::{self, of_sequence};
use parser::Statement;
use parser::commands::{
    self, Check, ColumnDefinition, CreateTable, CreateTableAs, ForeignKeyDefinition, NewTable,
    Persistence, PrimaryKey, RelationName, SequenceOptions, TableConstraint, Unique,
};
use planner::results::stored_type;
use sdds::GroupId;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, Column, ColumnId, DEFAULT_BUCKET_SIZE, Materialized, Object, OnCommit,
    Relation, SqlType, Table, TableExtension, TableId, UserType, is_temporary_schema,
};
use table_rows::Assembly;
use table_rows::Constraints;
use table_rows::columns::{define, has_sequence, of_type, refuse_system};
use table_rows::default_values::DefaultValue;
use table_rows::generated;
use table_rows::table_options::TableOptions;
use table_rows::typed;
use user_types::Visible;
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// Maximum number of columns of a table.
const COLUMNS_MAX: usize = 1600;

/// Runs a CREATE TABLE.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateTable,
) -> Result<()> {
    let Some(mut builder) = begun(frame, transaction, &create.table)? else { return Ok(()) };
    let users = frame.types(transaction.catalog());
    if let Some(of) = &create.of_type {
        let of = typed::type_of(of, &users, frame.text)?;
        builder.add_typed(&of, &create.columns)?;
    }
    let columns: &[ColumnDefinition] = match &create.of_type {
        Some(_) => &[],
        None => &create.columns,
    };
    let mut after = 0;
    for written in &create.likes {
        builder.add_columns(&columns[after..written.after], &users, frame.text)?;
        after = written.after;
        builder.add_like(like::copied(frame, transaction, written).await?)?;
    }
    builder.add_columns(&columns[after..], &users, frame.text)?;
    builder.add_constraints(&create.constraints)?;
    builder.name_key(transaction.catalog())?;
    builder.name_sequences(transaction.catalog());
    let unique = builder.unique.clone();
    let indexes = std::mem::take(&mut builder.indexes);
    let references = std::mem::take(&mut builder.references);
    let (table, sequences) = builder.finish()?;
    let table = created(frame, transaction, table, &create.table)?;
    for indexes in &indexes {
        like::add_indexes(frame, transaction, &table, indexes).await?;
    }
    index::add_all(frame, transaction, &table, &unique).await?;
    for written in &references {
        foreign_keys::add(frame, transaction, table.id, written, true).await?;
    }
    for (column, options) in sequences {
        let id = frame.session.shared.store.next_relation_id();
        let sequence = owned_sequence(id, &table, column, &options)?;
        let create = CatalogChange::Create(Relation::Sequence(Arc::new(sequence)));
        transaction.change_catalog(create)?;
        frame.own(transaction, Object::Relation(id))?;
    }
    Ok(())
}

/// Runs a CREATE TABLE AS or a CREATE MATERIALIZED VIEW.
pub(crate) async fn run_as(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateTableAs,
) -> Result<Outcome> {
    let is_view = create.materialized.is_some();
    let tag = if is_view { "CREATE MATERIALIZED VIEW" } else { "CREATE TABLE AS" };
    let done = Outcome::Done(Tag::plain(tag));
    let Some(mut builder) = begun(frame, transaction, &create.table)? else { return Ok(done) };
    let (schema, name) = (&builder.table.schema, &builder.table.name);
    if transaction.catalog().relation(schema, name).is_some() {
        let message = format!("relation \"{name}\" already exists");
        return Err(Error::new(SqlState::DuplicateTable, message));
    }
    let (columns, physical) = planned(frame, transaction, create).await?;
    builder.add_query_columns(&columns)?;
    if let Some((query, relations)) = &create.materialized {
        refuse_temporary(frame, transaction.catalog(), relations)?;
        let reads = dependents::reads(frame, transaction.catalog(), relations);
        builder.table.extension.reads = reads;
        builder.table.materialized = Some(Materialized {
            sql: analysis::without_stars(&frame.planner(transaction), query).await?,
            search_path: frame.path().named().map(str::to_owned).collect(),
            is_populated: create.with_data,
        });
    }
    let (table, _) = builder.finish()?;
    let table = created(frame, transaction, table, &create.table)?;
    let Some(physical) = physical else {
        // What EXECUTE makes is always counted.
        let is_counted = create.execute.is_some() && !is_view;
        return Ok(if is_counted { Outcome::Done(Tag::counted("SELECT", 0)) } else { done });
    };
    let given: Vec<usize> =
        (0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect();
    let assembly = {
        let planner = frame.planner(transaction);
        Assembly::new(&planner, &frame.session.shared.store, &table, &given)?
    };
    let rows = ingest(frame, transaction, table.id, physical, assembly).await?;
    Ok(Outcome::Done(Tag::counted("SELECT", rows)))
}

/// The beginning of a new table. `None` if it exists already and need not be created.
fn begun(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    new: &NewTable,
) -> Result<Option<Builder>> {
    let is_temporary = new.persistence == Persistence::Temporary;
    let (schema, name) = place::of_new(frame, transaction, &new.name, is_temporary)?;
    if new.persistence == Persistence::Unlogged && is_temporary_schema(&schema) {
        let message = "only temporary relations may be created in temporary schemas";
        return Err(Error::new(SqlState::InvalidTableDefinition, message));
    }
    let on_commit = on_commit(new, &schema)?;
    if new.if_not_exists && transaction.catalog().relation(&schema, &name).is_some() {
        frame.skip_existing(SqlState::DuplicateTable, "relation", &name);
        return Ok(None);
    }
    let id = frame.session.shared.store.next_relation_id();
    let home = frame.session.shared.store.group();
    let mut builder = Builder::new(TableId(id.0), home, schema, name);
    builder.table.on_commit = on_commit;
    builder.table.is_unlogged = new.persistence == Persistence::Unlogged;
    builder.table.bucket_size = frame.session.shared.bucket_size;
    Ok(Some(builder))
}

/// Adds a new table to the catalog.
fn created(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    mut table: Table,
    new: &NewTable,
) -> Result<Arc<Table>> {
    let options = TableOptions::of(&new.options)?;
    table.bucket_size = options.bucket_size.unwrap_or(table.bucket_size);
    options.colocate(frame.path(), transaction.catalog(), &mut table)?;
    let table = Arc::new(table);
    refuse_bad_expressions(frame, transaction, &table)?;
    transaction.change_catalog(CatalogChange::Create(Relation::Table(Arc::clone(&table))))?;
    frame.own(transaction, Object::Relation(table.id.relation()))?;
    Ok(table)
}

/// Refuses the query of a materialized view that reads a temporary relation.
///
/// # Errors
/// 0A000.
fn refuse_temporary(frame: &Frame<'_>, catalog: &Catalog, names: &[RelationName]) -> Result<()> {
    for name in names {
        if find_named(catalog, frame.path(), name)?.is_some_and(Relation::is_temporary) {
            let message = "materialized views must not use temporary tables or views";
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}

/// The columns of a CREATE TABLE AS, and the plan of its rows; `None` without data.
async fn planned(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateTableAs,
) -> Result<(Vec<(String, SqlType)>, Option<Arc<dyn ExecutionPlan>>)> {
    let changes = frame.statement.is_some_and(Statement::has_changing_source);
    let (fields, physical) = if changes && create.with_data && create.materialized.is_none() {
        changed(frame, transaction).await?
    } else {
        let planner = frame.planner(transaction);
        let (plan, fields) = analysis::plan_source(frame, &planner).await?;
        match create.with_data {
            true if frame.site.needs_driver() => {
                drop(planner);
                changed(frame, transaction).await?
            }
            true => (fields, Some(planner.physical(&plan).await?)),
            false => (fields, None),
        }
    };
    if create.columns.len() > fields.len() {
        let message = "too many column names were specified";
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    let names = create.columns.iter().map(Some).chain(std::iter::repeat(None));
    let columns = fields.into_iter().zip(names);
    let columns = columns.map(|(of, name)| {
        let sql_type = stored_type(&of);
        (name.cloned().unwrap_or(of.name), sql_type)
    });
    let columns: Vec<(String, SqlType)> = columns.collect();
    columns.iter().try_for_each(|(name, of)| {
        parser::types::refuse_record(name, of)?;
        parser::types::refuse_rows(of).and_then(|()| parser::types::refuse_unstorable(name, of))
    })?;
    Ok((columns, physical))
}

/// The columns and rows of a query that changes something, or calls functions that do.
async fn changed(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<(Vec<Field>, Option<Arc<dyn ExecutionPlan>>)> {
    let Outcome::Rows(rows) = Box::pin(statement::run(frame, transaction)).await? else {
        return Err(analysis::missing_source());
    };
    let schema = rows.stream.schema();
    let batches: Vec<_> = rows.stream.try_collect().await?;
    let plan: Arc<dyn ExecutionPlan> = MemorySourceConfig::try_new_exec(&[batches], schema, None)?;
    Ok((rows.fields.to_vec(), Some(plan)))
}

fn on_commit(new: &NewTable, schema: &str) -> Result<OnCommit> {
    match new.on_commit {
        None => Ok(OnCommit::default()),
        Some(_) if !is_temporary_schema(schema) => {
            let message = "ON COMMIT can only be used on temporary tables";
            Err(Error::new(SqlState::InvalidTableDefinition, message))
        }
        Some(commands::OnCommit::PreserveRows) => Ok(OnCommit::PreserveRows),
        Some(commands::OnCommit::DeleteRows) => Ok(OnCommit::DeleteRows),
        Some(commands::OnCommit::Drop) => Ok(OnCommit::Drop),
    }
}

/// Builds a table definition.
struct Builder {
    table: Table,
    key: Option<PrimaryKey>,
    checks: Vec<Check>,
    unique: Vec<Unique>,
    /// The indexes of LIKE.
    indexes: Vec<Indexes>,
    references: Vec<ForeignKeyDefinition>,
    sequences: OwnedSequences,
}

/// Columns with a sequence of their own, and the options of the sequence.
type OwnedSequences = Vec<(ColumnId, SequenceOptions)>;

impl Builder {
    fn new(id: TableId, home: GroupId, schema: String, name: String) -> Self {
        let table = Table {
            id,
            schema,
            name,
            columns: Vec::new(),
            key: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            bucket_size: DEFAULT_BUCKET_SIZE,
            colocate_with: None,
            on_commit: OnCommit::default(),
            home,
            next_column: 0,
            version: 1,
            materialized: None,
            key_constraint: None,
            is_unlogged: false,
            extension: TableExtension::default(),
            comment: None,
        };
        let (key, checks, unique, indexes, references, sequences) = Default::default();
        Self { table, key, checks, unique, indexes, references, sequences }
    }

    fn add_columns(
        &mut self,
        definitions: &[ColumnDefinition],
        users: &Visible,
        text: &str,
    ) -> Result<()> {
        for definition in definitions {
            let column = define(self.table.next_column, definition, users, text)?;
            self.add_defined(column, definition)?;
        }
        Ok(())
    }

    fn add_defined(&mut self, column: Column, definition: &ColumnDefinition) -> Result<()> {
        if has_sequence(definition) {
            self.sequences.push((column.id, definition.sequence.clone()));
        }
        if let Some(key) = &definition.key {
            self.set_key(key.clone())?;
        }
        self.checks.extend(definition.checks.iter().cloned());
        definition.unique.iter().try_for_each(|unique| self.add_unique(unique))?;
        self.references.extend(definition.references.iter().cloned());
        self.add_column(column)
    }

    /// Adds the columns of a composite type, with options of some.
    fn add_typed(&mut self, of: &UserType, options: &[ColumnDefinition]) -> Result<()> {
        typed::check_options(of, options)?;
        for attribute in of.attributes().unwrap_or_default() {
            let id = self.table.next_column;
            match options.iter().find(|option| option.name == attribute.name) {
                Some(option) => {
                    let column = of_type(id, option, attribute.sql_type.clone())?;
                    self.add_defined(column, option)?;
                }
                None => self.add_column(typed::column(id, attribute))?,
            }
        }
        self.table.extension.of_type = Some(of.id);
        Ok(())
    }

    /// Adds what a LIKE copies.
    fn add_like(&mut self, copied: Copied) -> Result<()> {
        for like::CopiedColumn { mut column, sequence } in copied.columns {
            column.id = ColumnId(self.table.next_column);
            if let Some(options) = sequence {
                self.sequences.push((column.id, options));
            }
            self.add_column(column)?;
        }
        if !copied.keys.is_empty() {
            self.set_key(PrimaryKey { name: None, columns: copied.keys })?;
        }
        self.checks.extend(copied.checks);
        self.table.extension.comments.extend(copied.comments);
        if copied.indexes.iter().flat_map(|of| &of.all).any(|index| index.is_primary) {
            self.refuse_second_key()?;
        }
        self.indexes.extend(copied.indexes);
        Ok(())
    }

    /// Chooses names for the sequences of columns, which fill them.
    fn name_sequences(&mut self, catalog: &Catalog) {
        let mut chosen = Vec::new();
        for (id, options) in &mut self.sequences {
            let Some(at) = self.table.columns.iter().position(|column| column.id == *id) else {
                continue;
            };
            let column = &self.table.columns[at].name;
            let named = options.name.get_or_insert_with(|| {
                let name = of_sequence(catalog, &self.table, column, &chosen);
                RelationName { schema: None, name }
            });
            chosen.push(named.name.clone());
            let schema = named.schema.as_ref().unwrap_or(&self.table.schema);
            self.table.columns[at].default = Some(next_value(schema, &named.name));
        }
    }

    fn set_key(&mut self, key: PrimaryKey) -> Result<()> {
        self.refuse_second_key()?;
        self.key = Some(key);
        Ok(())
    }

    /// Gives the primary key its name.
    fn name_key(&mut self, catalog: &Catalog) -> Result<()> {
        let Some(key) = &self.key else { return Ok(()) };
        let name = names::of_key(catalog, &self.table, key.name.as_deref())?;
        self.table.set_key_name(name);
        Ok(())
    }

    fn add_unique(&mut self, unique: &Unique) -> Result<()> {
        if unique.is_primary {
            self.refuse_second_key()?;
        }
        self.unique.push(unique.clone());
        Ok(())
    }

    fn refuse_second_key(&self) -> Result<()> {
        let is_copied = |indexes: &Indexes| indexes.all.iter().any(|index| index.is_primary);
        let has_key = self.key.is_some()
            || self.unique.iter().any(|unique| unique.is_primary)
            || self.indexes.iter().any(is_copied);
        if has_key { Err(primary_key::second(&self.table)) } else { Ok(()) }
    }

    fn add_column(&mut self, column: Column) -> Result<()> {
        refuse_system(&column.name)?;
        if self.table.column(&column.name).is_some() {
            let message = format!("column \"{}\" specified more than once", column.name);
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        self.table.columns.push(column);
        self.table.next_column += 1;
        Ok(())
    }

    fn add_query_columns(&mut self, columns: &[(String, SqlType)]) -> Result<()> {
        for (name, sql_type) in columns {
            self.add_column(Column {
                id: ColumnId(self.table.next_column),
                name: name.clone(),
                sql_type: sql_type.clone(),
                nullable: true,
                default: None,
                identity: None,
                generated: None,
                hidden: false,
                missing: None,
                comment: None,
            })?;
        }
        Ok(())
    }

    fn add_constraints(&mut self, constraints: &[TableConstraint]) -> Result<()> {
        for constraint in constraints {
            match constraint {
                TableConstraint::PrimaryKey(key) => self.set_key(key.clone())?,
                TableConstraint::Check(check) => self.checks.push(check.clone()),
                TableConstraint::Unique(unique) => self.add_unique(unique)?,
                // Refused where it is read.
                TableConstraint::Existing(_) => {}
                TableConstraint::ForeignKey(key) => {
                    self.references.push(ForeignKeyDefinition::clone(key));
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Table, OwnedSequences)> {
        if self.table.columns.len() > COLUMNS_MAX {
            let message = format!("tables can have at most {COLUMNS_MAX} columns");
            return Err(Error::new(SqlState::ProgramLimitExceeded, message));
        }
        let deferrable = self.unique.iter().filter(|unique| unique.is_primary);
        let required: Vec<&String> = deferrable.flat_map(|unique| &unique.columns).collect();
        let in_key = self.table.columns.iter_mut().filter(|of| required.contains(&&of.name));
        in_key.for_each(|column| column.nullable = false);
        match &self.key {
            Some(key) => primary_key::set_key(&mut self.table, &key.columns)?,
            None => self.table.key = vec![self.add_row_id()?],
        }
        for check in self.checks {
            checks::add(&mut self.table, Check { is_valid: true, ..check })?;
        }
        Ok((self.table, self.sequences))
    }

    fn add_row_id(&mut self) -> Result<ColumnId> {
        let id = ColumnId(self.table.next_column);
        self.add_column(Column::row_id(id))?;
        Ok(id)
    }
}

/// Plans the defaults, checks and generation expressions, so that errors are reported now and not
/// for the first row.
fn refuse_bad_expressions(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Arc<Table>,
) -> Result<()> {
    let planner = frame.planner(transaction);
    generated::refuse_bad(&planner, table)?;
    Constraints::new(&planner, table)?;
    let columns = table.columns.iter().enumerate();
    for (index, _) in columns.filter(|(_, column)| column.default.is_some()) {
        DefaultValue::of(&planner, table, index)?;
    }
    Ok(())
}
