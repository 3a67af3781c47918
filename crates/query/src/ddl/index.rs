//! CREATE INDEX, UNIQUE constraints, and what happens to indexes when their table changes.
//!
//! An index and the entries of the rows that exist are created in one transaction. The version of
//! the table changes with its list of indexes: a transaction that has written rows without knowing
//! of an index cannot commit.

use super::foreign_keys;
use super::in_use::refuse_in_use;
use crate::context::{Frame, start};
use analyzer::RowExpression;
use analyzer::system::Oid;
use catalog_views::relation_names::{find_named, missing_relation};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{ExprSchemable, LogicalPlanBuilder};
use futures::TryStreamExt;
use integrity::names::{chosen, of_key, refuse_taken};
use integrity::operator_classes::{require_class, require_key_order, require_order, without_order};
use parser::commands::{CreateIndex, IndexedColumn, IndexedKey, Unique};
use planner::Planner;
use scan::provider::{BucketTable, Columns};
use sdds::Key;
use std::sync::Arc;
use store::catalog::{
    CatalogChange, Column, ColumnId, ForeignKey, Index, IndexColumn, IndexExpression, IndexKey,
    Privileges, Relation, SYSTEM_COLUMNS, Table, TableId,
};
use store::{DistributedTransaction, IndexChanges, IndexedRows};
use table_rows::expressions;
use values::error::{Error, Result, SqlState};
use values::types;

/// The most columns of an index.
const COLUMNS_MAX: usize = 32;

/// Runs a CREATE INDEX.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    create: &CreateIndex,
) -> Result<()> {
    let table = table_of(frame, transaction, create)?;
    if create.if_not_exists
        && let Some(name) = &create.name
        && transaction.catalog().relation(&table.schema, name).is_some()
    {
        frame.skip_existing(SqlState::DuplicateTable, "relation", name);
        return Ok(());
    }
    let relation = Relation::Table(Arc::clone(&table));
    refuse_in_use(frame, transaction, &relation, "CREATE INDEX")?;
    let count = create.columns.len() + create.included.len();
    if count > COLUMNS_MAX {
        let message = format!("cannot use more than {COLUMNS_MAX} columns in an index");
        return Err(Error::new(SqlState::TooManyColumns, message));
    }
    let planner = frame.planner(transaction);
    let columns = create.columns.iter().map(|column| indexed(&planner, &table, column));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let included = create.included.iter().map(|name| Ok(column_named(&table, name)?.id));
    let included = included.collect::<Result<Vec<_>>>()?;
    let predicate = create.predicate.as_deref();
    let predicate = predicate.map(|text| planned_predicate(&planner, &table, text)).transpose()?;
    let name = match &create.name {
        Some(name) => name.clone(),
        None => {
            let keys = create.columns.iter().map(|column| column.key.name());
            let names = keys.chain(create.included.iter().map(String::as_str));
            chosen(transaction.catalog(), &table, names, "idx")
        }
    };
    let id = TableId(frame.session.shared.store.next_relation_id().0);
    let index = Index {
        included,
        predicate,
        is_unique: create.is_unique,
        nulls_equal: create.nulls_equal,
        is_hash: create.is_hash,
        ..Index::new(id, name, &table, columns)
    };
    add(frame, transaction, index).await
}

/// The table of a CREATE INDEX.
fn table_of(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    create: &CreateIndex,
) -> Result<Arc<Table>> {
    let (catalog, path) = (transaction.catalog(), frame.path());
    let relation = find_named(catalog, path, &create.table)?;
    let relation = relation.ok_or_else(|| missing_relation(catalog, path, &create.table))?;
    match relation {
        Relation::Table(table) => {
            let access = frame.access(transaction.catalog());
            access.require(relation, Privileges::OWNER)?;
            access.require_schema(&table.schema, Privileges::CREATE)?;
            Ok(Arc::clone(table))
        }
        Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => {
            let message = format!("cannot create index on relation \"{}\"", relation.name());
            let plural = match relation {
                Relation::Index(_) => "indexes".to_owned(),
                other => format!("{}s", other.kind()),
            };
            Err(Error::new(SqlState::WrongObjectType, message)
                .with_detail(format!("This operation is not supported for {plural}.")))
        }
    }
}

/// A column of a CREATE INDEX.
fn indexed(planner: &Planner<'_>, table: &Table, written: &IndexedColumn) -> Result<IndexColumn> {
    let key = match &written.key {
        IndexedKey::Column(name) => IndexKey::Column(column_named(table, name)?.id),
        IndexedKey::Expression(text, name) => {
            let of = definition(planner, table, RowExpression::IndexKey(text))?;
            IndexKey::Expression(IndexExpression { name: name.clone(), ..of })
        }
    };
    let mut column = IndexColumn {
        key,
        descending: written.descending,
        nulls_first: written.nulls_first,
        operator_class: written.operator_class.clone(),
    };
    require_order_of(table, &column)?;
    column.operator_class.take_if(|class| !class.contains("_pattern_"));
    Ok(column)
}

/// Refuses a column of an index whose values have no order, or not the one of its operator class.
///
/// # Errors
/// 42704, 42804 and 0A000.
pub(super) fn require_order_of(table: &Table, column: &IndexColumn) -> Result<()> {
    let sql_type = match &column.key {
        IndexKey::Expression(expression) => Some(&expression.sql_type),
        IndexKey::Column(id) => table.position(*id).map(|at| &table.columns[at].sql_type),
    };
    let Some(sql_type) = sql_type else { return Ok(()) };
    require_order(sql_type)?;
    column.operator_class.as_ref().map_or(Ok(()), |class| require_class(class, sql_type))
}

/// An expression of an index for the columns of a table, which may have other types than before.
pub(super) fn planned_key(
    planner: &Planner<'_>,
    table: &Table,
    before: &IndexExpression,
) -> Result<IndexExpression> {
    let of = definition(planner, table, RowExpression::IndexKey(&before.text))?;
    Ok(IndexExpression { name: before.name.clone(), ..of })
}

/// The condition of a partial index.
pub(super) fn planned_predicate(
    planner: &Planner<'_>,
    table: &Table,
    text: &str,
) -> Result<IndexExpression> {
    definition(planner, table, RowExpression::IndexPredicate(text))
}

fn column_named<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    let column = table.columns.iter().find(|column| column.name == name && !column.hidden);
    column.ok_or_else(|| {
        if SYSTEM_COLUMNS.contains(&name) {
            return Error::unsupported("index creation on system columns is not supported");
        }
        let message = format!("column \"{name}\" does not exist");
        Error::new(SqlState::UndefinedColumn, message)
    })
}

/// An expression of an index.
///
/// # Errors
/// What is wrong with it; 42P17 if it depends on more than the row.
fn definition(
    planner: &Planner<'_>,
    table: &Table,
    expression: RowExpression<'_>,
) -> Result<IndexExpression> {
    let (tree, calls_none) = expressions::expanded(planner, table, expression)?;
    let tree = tree.filter(|tree| tree.sql_type.oid != Oid::UNKNOWN);
    let Some(tree) = tree else { return Err(without_order("unknown")) };
    let row = expressions::plan_one(planner, table, expression)?;
    let (text, what) = match expression {
        RowExpression::IndexPredicate(text) => (text, "predicate"),
        RowExpression::IndexKey(text) => (text, "expression"),
        _ => return Err(Error::new(SqlState::InternalError, "this is no expression of an index")),
    };
    if !row.is_immutable && !calls_none {
        let what = "a function in an index whose body calls functions that are not immutable";
        return Err(Error::unsupported(format!("{what} is not supported")));
    }
    if !row.is_immutable {
        let message = format!("functions in index {what} must be marked IMMUTABLE");
        return Err(Error::new(SqlState::InvalidObjectDefinition, message));
    }
    let Some(expr) = row.exprs.first() else {
        return Err(Error::new(SqlState::InternalError, "the expression has no value"));
    };
    let (_, field) = expr.to_field(&row.schema)?;
    let shown: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let shown = deparse::text(&tree, &shown);
    let references = grammar::columns(text).unwrap_or_default();
    let text = match !calls_none || references.iter().any(|reference| reference.parts.len() > 1) {
        // The name of the table may change, and so may functions of users.
        true => shown.clone().ok_or_else(|| {
            let what = if calls_none { "the name of the table" } else { "a function" };
            Error::unsupported(format!("{what} in {text} is not supported in an index"))
        })?,
        false => text.to_owned(),
    };
    let names = expr.column_refs().into_iter().map(|column| column.name.clone());
    let names: Vec<String> = names.collect();
    let columns = table.columns.iter().filter(|column| names.contains(&column.name));
    Ok(IndexExpression {
        shown: shown.unwrap_or_else(|| text.clone()),
        text,
        name: String::new(),
        sql_type: types::of_field(&field),
        columns: columns.map(|column| column.id).collect(),
    })
}

/// Adds a UNIQUE constraint to a table.
///
/// # Errors
/// 42703 and 42701 for its columns; 42P07 and 42710 for its name; 23505 if rows violate it.
pub(super) async fn add_unique(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    unique: &Unique,
) -> Result<()> {
    let Some(table) = transaction.catalog().table_by_id(table).cloned() else { return Ok(()) };
    let mut columns: Vec<IndexColumn> = Vec::with_capacity(unique.columns.len());
    let named = |name: &String| {
        let column = table.columns.iter().find(|column| column.name == *name && !column.hidden);
        column.ok_or_else(|| {
            let message = format!("column \"{name}\" named in key does not exist");
            Error::new(SqlState::UndefinedColumn, message)
        })
    };
    for name in &unique.columns {
        let column = named(name)?;
        if columns.iter().any(|known| known.key.column() == Some(column.id)) {
            let kind = if unique.is_primary { "primary key" } else { "unique" };
            let message = format!("column \"{name}\" appears twice in {kind} constraint");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        match unique.is_deferrable {
            true => require_key_order(&column.sql_type, "a deferrable constraint")?,
            false => require_order(&column.sql_type)?,
        }
        columns.push(IndexColumn::new(column.id));
    }
    let included = unique.included.iter().map(|name| Ok(named(name)?.id));
    let included = included.collect::<Result<Vec<_>>>()?;
    let names = unique.columns.iter().chain(&unique.included).map(String::as_str);
    let name = match &unique.name {
        Some(name) => name.clone(),
        None if unique.is_primary => of_key(transaction.catalog(), &table, None)?,
        None => chosen(transaction.catalog(), &table, names, "key"),
    };
    refuse_taken(transaction.catalog(), &table, &name, true)?;
    let id = TableId(frame.session.shared.store.next_relation_id().0);
    let index = Index {
        included,
        is_unique: true,
        nulls_equal: unique.nulls_equal,
        is_constraint: true,
        is_primary: unique.is_primary,
        timing: integrity::timing(unique.is_deferrable, unique.is_deferred),
        ..Index::new(id, name, &table, columns)
    };
    add(frame, transaction, index).await
}

/// Adds the UNIQUE constraints of a new table, without those that repeat the primary key or another. A primary key that is
/// deferrable comes first.
pub(super) async fn add_all(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Table,
    all: &[Unique],
) -> Result<()> {
    let key = table.key_indices().into_iter().map(|at| table.columns[at].name.clone());
    let key = Unique { columns: key.collect(), ..Unique::default() };
    let (first, rest): (Vec<&Unique>, Vec<&Unique>) = all.iter().partition(|of| of.is_primary);
    let mut known = vec![&key];
    for unique in first.into_iter().chain(rest) {
        if !known.iter().any(|known| known.is_same(unique)) {
            known.push(unique);
            add_unique(frame, transaction, table.id, unique).await?;
        }
    }
    Ok(())
}

/// Adds a copy of an index of another table, whose columns it finds by their names, to a table.
///
/// # Errors
/// As of CREATE INDEX.
pub(super) async fn add_copy(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Table,
    (of, source): (&Index, &Table),
    has_comment: bool,
) -> Result<()> {
    let name_of = |id: ColumnId| source.columns[source.position(id)?].name.as_str().into();
    let place = |id: &ColumnId| -> Result<ColumnId> {
        let name: Option<&str> = name_of(*id);
        Ok(column_named(table, name.unwrap_or_default())?.id)
    };
    let expression = |of: &IndexExpression| -> Result<IndexExpression> {
        let columns = of.columns.iter().map(place).collect::<Result<_>>()?;
        Ok(IndexExpression { columns, ..of.clone() })
    };
    let mut columns = Vec::with_capacity(of.columns.len());
    for column in &of.columns {
        let key = match &column.key {
            IndexKey::Column(id) => IndexKey::Column(place(id)?),
            IndexKey::Expression(of) => IndexKey::Expression(expression(of)?),
        };
        columns.push(IndexColumn { key, ..column.clone() });
    }
    let named = of.columns.iter().filter_map(|column| match &column.key {
        IndexKey::Column(id) => name_of(*id),
        IndexKey::Expression(expression) => Some(expression.name.as_str()),
    });
    let names = named.chain(of.included.iter().filter_map(|id| name_of(*id)));
    let name = match (of.is_primary, of.is_constraint) {
        (true, _) => of_key(transaction.catalog(), table, None)?,
        (false, true) => chosen(transaction.catalog(), table, names, "key"),
        (false, false) => chosen(transaction.catalog(), table, names, "idx"),
    };
    let id = TableId(frame.session.shared.store.next_relation_id().0);
    let Index { file, .. } = Index::new(id, name, table, Vec::new());
    let comment = of.file.comment.clone().filter(|_| has_comment);
    let index = Index {
        file: Arc::new(Table { comment, ..Table::clone(&file) }),
        table: table.id,
        columns,
        included: of.included.iter().map(place).collect::<Result<_>>()?,
        predicate: of.predicate.as_ref().map(expression).transpose()?,
        ..of.clone()
    };
    add(frame, transaction, index).await
}

/// Adds an index with the entries of the rows that exist.
async fn add(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    index: Index,
) -> Result<()> {
    // It begins here, where the entries are made.
    let index = Arc::new(index.at(frame.session.shared.store.group()));
    let entries = entries(frame, transaction, &index).await?;
    let table = index.table;
    transaction.change_catalog(CatalogChange::Create(Relation::Index(Arc::clone(&index))))?;
    changed(transaction, table)?;
    transaction.write_entries(entries).await.map_err(not_unique)?;
    match transaction.catalog().table_by_id(table).cloned().filter(|_| index.is_deferrable()) {
        Some(table) => integrity::check_all(frame, transaction, &table, &index).await,
        None => Ok(()),
    }
}

/// Makes the entries of an index that has none.
pub(super) async fn fill(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    index: &Arc<Index>,
) -> Result<()> {
    let entries = entries(frame, transaction, index).await?;
    transaction.write_entries(entries).await.map_err(not_unique)
}

/// The error for rows that violate a new unique index.
pub(super) fn not_unique(error: store::Error) -> Error {
    let store::Error::DuplicateKey { schema, table, constraint, key } = error else {
        return error.into();
    };
    let message = format!("could not create unique index \"{constraint}\"");
    Error::new(SqlState::UniqueViolation, message)
        .with_detail(format!("Key {key} is duplicated."))
        .of_table(&schema, &table)
        .of_constraint(&constraint)
}

/// Makes a new version of a table whose indexes have changed.
fn changed(transaction: &mut DistributedTransaction, table: TableId) -> Result<()> {
    if let Some(table) = transaction.catalog().table_by_id(table) {
        let next = Table { version: table.version + 1, ..Table::clone(table) };
        transaction.change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(next))))?;
    }
    Ok(())
}

/// Drops an index, unless foreign keys need it; with CASCADE they are dropped, too.
///
/// # Errors
/// 2BP01.
pub(super) fn drop_with_dependents(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    index: &Index,
    cascade: bool,
) -> Result<()> {
    let (id, name) = (index.file.id, &index.file.name);
    let of = transaction.catalog().table_by_id(index.table).map(|table| table.name.clone());
    let on = format!("index {name}");
    let what = match of.filter(|_| index.is_constraint) {
        Some(table) => format!("constraint {name} on table {table}"),
        None => on.clone(),
    };
    let (names, depends) = ((&*what, &*on), |_: &Table, key: &ForeignKey| key.index == Some(id));
    foreign_keys::drop_dependents(frame, transaction, index.table, names, cascade, depends)?;
    drop(transaction, index)
}

/// Drops an index.
pub(super) fn drop(transaction: &mut DistributedTransaction, index: &Index) -> Result<()> {
    transaction.change_catalog(CatalogChange::Drop(index.file.id.relation()))?;
    changed(transaction, index.table)
}

/// Renames an index, and the constraint that it belongs to.
pub(super) fn rename(
    transaction: &mut DistributedTransaction,
    index: &Index,
    to: &str,
) -> Result<()> {
    let (name, version) = (to.to_owned(), index.file.version + 1);
    let file = Table { name, version, ..Table::clone(&index.file) };
    let next = Index { file: Arc::new(file), ..index.clone() };
    transaction.change_catalog(CatalogChange::Replace(Relation::Index(Arc::new(next))))?;
    changed(transaction, index.table)
}

/// The index of a table's UNIQUE constraint.
pub(super) fn of_constraint(
    transaction: &DistributedTransaction,
    table: TableId,
    name: &str,
) -> Option<Arc<Index>> {
    let mut all = transaction.catalog().indexes_of(table).iter();
    all.find(|index| index.is_constraint && index.file.name == name).cloned()
}

/// The entries of the rows of a table in a new index.
async fn entries(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    index: &Arc<Index>,
) -> Result<IndexChanges> {
    let mut changes = IndexChanges::default();
    let view = transaction.table(index.table);
    let Some(view) = view.filter(|view| view.row_count() != Some(0)) else { return Ok(changes) };
    let table = Arc::clone(view.table());
    if table.materialized.as_ref().is_some_and(|of| !of.is_populated) {
        return Ok(changes);
    }
    let (inputs, key) = (index.input_positions(&table), table.key_indices());
    let mut read = [inputs.clone(), key.clone()].concat();
    read.sort_unstable();
    read.dedup();
    let source = provider_as_source(Arc::new(BucketTable::new(view, Columns::All)));
    let plan = LogicalPlanBuilder::scan("indexed", source, Some(read.clone()))?.build()?;
    let physical = frame.planner(transaction).physical(&plan).await?;
    let mut rows = start(frame, physical)?;
    while let Some(batch) = rows.try_next().await? {
        let of = |wanted: &[usize]| picked(&batch, &read, wanted);
        let keys = store::key::encode_columns(&of(&key)).map_err(store::Error::from)?;
        let rows = transaction.store().indexed(index, &table, &of(&inputs), keys.len())?;
        let all: Vec<(&Key, usize)> = keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
        let added = changes.change(index, (&IndexedRows::default(), &[]), (&rows, &all));
        added.map_err(store::Error::from)?;
    }
    Ok(changes)
}

/// The columns of a batch that are those of a table.
fn picked(batch: &RecordBatch, read: &[usize], wanted: &[usize]) -> Vec<ArrayRef> {
    let places = wanted.iter().filter_map(|column| read.iter().position(|other| other == column));
    places.map(|at| Arc::clone(batch.column(at))).collect()
}
