//! CREATE TABLE and CREATE TABLE AS.

use super::checks::{self, CheckDefinition};
use super::columns::{Defined, define};
use super::create_sequence::owned_sequence;
use super::generated;
use super::place;
use super::table_options::TableOptions;
use super::unsupported;
use crate::analysis;
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::dml::assembly::Assembly;
use crate::dml::constraints::Constraints;
use crate::dml::default_values::DefaultValue;
use crate::dml::ingest;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::sqlparser::ast::{
    self, ColumnDef, CreateTable, Expr, IndexColumn, Query, SequenceOptions, TableConstraint,
};
use parser::names::fold;
use planner::relations::rename_columns;
use sdds::GroupId;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, Column, ColumnId, DEFAULT_BUCKET_SIZE, Object, OnCommit, Relation, SqlType,
    Table, TableId, is_temporary_schema,
};
use values::error::{Error, Result, SqlState};
use values::types;

/// Maximum number of columns of a table.
const COLUMNS_MAX: usize = 1600;

/// Runs a CREATE TABLE.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateTable,
) -> Result<Outcome> {
    refuse_unsupported(create)?;
    let (schema, name) = place::of_new(frame, transaction, &create.name, create.temporary)?;
    let on_commit = on_commit(create, &schema)?;
    let catalog = Arc::clone(transaction.catalog());
    if create.if_not_exists && catalog.relation(&schema, &name).is_some() {
        frame.skip_existing(SqlState::DuplicateTable, "relation", &name);
        return Ok(Outcome::Done(Tag::plain("CREATE TABLE")));
    }
    let query = match &create.query {
        None => None,
        Some(query) => Some(planned(frame, transaction, create, query).await?),
    };
    let id = frame.session.shared.store.next_relation_id();
    let home = frame.session.shared.store.group();
    let mut builder = Builder::new(TableId(id.0), home, schema, name);
    match &query {
        Some((columns, _)) => builder.add_query_columns(columns),
        None => builder.add_columns(&create.columns)?,
    }
    builder.add_constraints(&create.constraints)?;
    let options = TableOptions::of(&create.table_options)?;
    builder.table.on_commit = on_commit;
    builder.table.bucket_size = options.bucket_size.unwrap_or(frame.session.shared.bucket_size);
    let (mut table, sequences) = builder.finish()?;
    options.colocate(frame, transaction.catalog(), &mut table)?;
    let table = Arc::new(table);
    refuse_bad_expressions(frame, transaction, &table)?;
    transaction.change_catalog(CatalogChange::Create(Relation::Table(Arc::clone(&table))))?;
    frame.own(transaction, Object::Relation(table.id.relation()))?;
    for (column, options) in sequences {
        let id = frame.session.shared.store.next_relation_id();
        let sequence = owned_sequence(id, &table, column, &options)?;
        let create = CatalogChange::Create(Relation::Sequence(Arc::new(sequence)));
        transaction.change_catalog(create)?;
        frame.own(transaction, Object::Relation(id))?;
    }
    let Some((_, physical)) = query else {
        return Ok(Outcome::Done(Tag::plain("CREATE TABLE")));
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

/// The columns of a CREATE TABLE AS, and the plan of its rows.
async fn planned(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    create: &CreateTable,
    query: &Query,
) -> Result<(Vec<(String, SqlType)>, Arc<dyn ExecutionPlan>)> {
    let planner = frame.planner(transaction);
    let names: Vec<String> = create.columns.iter().map(|column| fold(&column.name)).collect();
    let (plan, fields) = match analysis::plan_source(frame, &planner).await? {
        Some((plan, fields)) => (plan, Some(fields)),
        None => {
            let plan = analysis::plan_text(&planner, &query.to_string()).await;
            (plan.map_err(Error::without_position)?, None)
        }
    };
    let plan = rename_columns(plan, &names)?;
    let mut columns: Vec<(String, SqlType)> = match fields {
        Some(fields) => fields.into_iter().map(|field| (field.name, field.sql_type)).collect(),
        None => {
            let fields = plan.schema().fields().iter();
            fields.map(|field| (field.name().clone(), types::of_field(field))).collect()
        }
    };
    for (column, name) in columns.iter_mut().zip(names) {
        column.0 = name;
    }
    let physical = planner.physical(&plan).await?;
    Ok((columns, physical))
}

fn on_commit(create: &CreateTable, schema: &str) -> Result<OnCommit> {
    match create.on_commit {
        None => Ok(OnCommit::default()),
        Some(_) if !is_temporary_schema(schema) => {
            let message = "ON COMMIT can only be used on temporary tables";
            Err(Error::new(SqlState::InvalidTableDefinition, message))
        }
        Some(ast::OnCommit::PreserveRows) => Ok(OnCommit::PreserveRows),
        Some(ast::OnCommit::DeleteRows) => Ok(OnCommit::DeleteRows),
        Some(ast::OnCommit::Drop) => Ok(OnCommit::Drop),
    }
}

fn refuse_unsupported(create: &CreateTable) -> Result<()> {
    let unsupported = [
        (create.external, "CREATE EXTERNAL TABLE"),
        (create.or_replace, "CREATE OR REPLACE TABLE"),
        (create.like.is_some(), "CREATE TABLE LIKE"),
        (create.inherits.is_some(), "INHERITS"),
        (create.partition_by.is_some() || create.partition_of.is_some(), "PARTITION"),
    ];
    let Some((_, feature)) = unsupported.iter().find(|(used, _)| *used) else { return Ok(()) };
    let error = Error::unsupported(format!("{feature} is not supported"));
    Err(if *feature == "PARTITION" {
        error.with_hint("Every table is partitioned automatically as it grows.")
    } else {
        error
    })
}

/// Builds a table definition.
struct Builder {
    table: Table,
    /// The names of the key columns.
    keys: Vec<String>,
    checks: Vec<CheckDefinition>,
    sequences: OwnedSequences,
}

/// Columns with a sequence of their own, and the options of the sequence.
type OwnedSequences = Vec<(ColumnId, Vec<SequenceOptions>)>;

impl Builder {
    fn new(id: TableId, home: GroupId, schema: String, name: String) -> Self {
        let table = Table {
            id,
            schema,
            name,
            columns: Vec::new(),
            key: Vec::new(),
            checks: Vec::new(),
            bucket_size: DEFAULT_BUCKET_SIZE,
            colocate_with: None,
            on_commit: OnCommit::default(),
            home,
            next_column: 0,
            version: 1,
            comment: None,
        };
        Self { table, keys: Vec::new(), checks: Vec::new(), sequences: Vec::new() }
    }

    fn add_columns(&mut self, definitions: &[ColumnDef]) -> Result<()> {
        for definition in definitions {
            let id = self.table.next_column;
            let Defined { mut column, is_key, checks, sequence } =
                define(&self.table.name, id, definition)?;
            if let Some(options) = sequence {
                let name = format!("{}_{}_seq", self.table.name, column.name);
                let name = format!("\"{}\".\"{name}\"", self.table.schema);
                column.default = Some(format!("nextval('{name}')"));
                self.sequences.push((column.id, options));
            }
            if is_key {
                if !self.keys.is_empty() {
                    return Err(self.second_key());
                }
                self.keys.push(column.name.clone());
            }
            self.checks.extend(checks);
            self.add_column(column)?;
        }
        Ok(())
    }

    fn add_column(&mut self, column: Column) -> Result<()> {
        if self.table.column(&column.name).is_some() {
            let message = format!("column \"{}\" specified more than once", column.name);
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        self.table.columns.push(column);
        self.table.next_column += 1;
        Ok(())
    }

    fn add_query_columns(&mut self, columns: &[(String, SqlType)]) {
        for (name, sql_type) in columns {
            let column = Column {
                id: ColumnId(self.table.next_column),
                name: unique_name(&self.table, name),
                sql_type: sql_type.clone(),
                nullable: true,
                default: None,
                identity: None,
                generated: None,
                hidden: false,
                missing: None,
                comment: None,
            };
            self.table.columns.push(column);
            self.table.next_column += 1;
        }
    }

    fn second_key(&self) -> Error {
        let message =
            format!("multiple primary keys for table \"{}\" are not allowed", self.table.name);
        Error::new(SqlState::InvalidTableDefinition, message)
    }

    fn add_constraints(&mut self, constraints: &[TableConstraint]) -> Result<()> {
        for constraint in constraints {
            match constraint {
                TableConstraint::PrimaryKey(key) => {
                    if !self.keys.is_empty() {
                        return Err(self.second_key());
                    }
                    self.keys = key.columns.iter().map(key_column).collect::<Result<_>>()?;
                }
                TableConstraint::Check(check) => {
                    self.checks.push(CheckDefinition::of(check));
                }
                other => return Err(unsupported::constraint(other)),
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Table, OwnedSequences)> {
        if self.table.columns.len() > COLUMNS_MAX {
            let message = format!("tables can have at most {COLUMNS_MAX} columns");
            return Err(Error::new(SqlState::ProgramLimitExceeded, message));
        }
        let mut key = Vec::new();
        for name in &self.keys {
            let Some(column) = self.table.columns.iter_mut().find(|c| c.name == *name) else {
                let message = format!("column \"{name}\" named in key does not exist");
                return Err(Error::new(SqlState::UndefinedColumn, message));
            };
            if key.contains(&column.id) {
                let message = format!("column \"{name}\" appears twice in primary key constraint");
                return Err(Error::new(SqlState::DuplicateColumn, message));
            }
            let data_type = column.sql_type.arrow();
            if !store::key::is_key_type(&data_type) {
                let message = format!("type {} cannot be part of a primary key", column.sql_type);
                return Err(Error::new(SqlState::InvalidTableDefinition, message));
            }
            column.nullable = false;
            key.push(column.id);
        }
        if key.is_empty() {
            key.push(self.add_row_id()?);
        }
        self.table.key = key;
        for check in self.checks {
            checks::add(&mut self.table, check)?;
        }
        Ok((self.table, self.sequences))
    }

    fn add_row_id(&mut self) -> Result<ColumnId> {
        let id = ColumnId(self.table.next_column);
        self.add_column(Column::row_id(id))?;
        Ok(id)
    }
}

fn key_column(column: &IndexColumn) -> Result<String> {
    match &column.column.expr {
        Expr::Identifier(ident) => Ok(fold(ident)),
        other => Err(Error::new(
            SqlState::InvalidTableDefinition,
            format!("a primary key must consist of columns, not of {other}"),
        )),
    }
}

fn unique_name(table: &Table, name: &str) -> String {
    let mut unique = name.to_owned();
    let mut number = 1;
    while table.column(&unique).is_some() {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
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
