//! Operations of ALTER TABLE that rewrite all rows: a new type for a column, which replaces the
//! column by a new one, and a new generated column.

use super::{dependents, index, index_columns};
use crate::context::Frame;
use crate::context::start;
use datafusion::arrow::array::{RecordBatch, new_null_array};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::physical_expr::PhysicalExpr;
use executor::short_circuit;
use futures::TryStreamExt;
use integrity::operator_classes::{require_key_order, require_order};
use parser::commands::DataType;
use planner::Planner;
use scan::provider::{BucketTable, Columns, typed_rows};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, ColumnId, Relation, Sequence, SqlType, Table, TableId};
use table_rows::Constraints;
use table_rows::columns::{is_automatic, is_integer};
use table_rows::default_values::DefaultValue;
use table_rows::expressions;
use table_rows::generated;
use values::assign::assign;
use values::error::{Error, Result, SqlState};

/// The rows of a table under its new definition.
pub(super) struct Rewritten {
    rows: Vec<RecordBatch>,
    /// The old and the new id of the column whose type has changed.
    replaced: Option<(ColumnId, ColumnId)>,
}

/// Changes the type of the column at `index` in the definition, and computes the new rows. `None` if the column has the type
/// already and keeps its values.
///
/// # Errors
/// 42804 if the cast is not automatic and there is no USING; 42611 for USING of a generated column; 0A000 if a view or a
/// generated column uses the column.
pub(super) async fn change(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    index: usize,
    data_type: &DataType,
    using: Option<&str>,
) -> Result<Option<Rewritten>> {
    let sql_type = parser::types::of_column_definition(
        data_type,
        &frame.types(transaction.catalog()),
        frame.text,
    )?;
    let column = &table.columns[index];
    if using.is_some() && column.generated.is_some() {
        let message = "cannot specify USING when altering type of generated column";
        return Err(Error::new(SqlState::InvalidColumnDefinition, message)
            .with_detail(format!("Column \"{}\" is a generated column.", column.name)));
    }
    refuse_computed(table, &column.name)?;
    if keeps(&frame.planner(transaction), table, (index, using), &sql_type) {
        dependents::refuse_type(frame, transaction, table, &table.columns[index].name).await?;
        return Ok(None);
    }
    refuse_type(frame, transaction, (table, index), &sql_type, using.is_some())?;
    dependents::refuse_type(frame, transaction, table, &table.columns[index].name).await?;
    let before = Table::clone(table);
    let value = new_value(&frame.planner(transaction), table, (index, using), &sql_type)?;
    let rows = rows(frame, transaction, table).await?;
    let (old, new) = (table.columns[index].id, ColumnId(table.next_column));
    table.next_column += 1;
    let column = &mut table.columns[index];
    (column.id, column.sql_type, column.missing) = (new, sql_type, None);
    table.key.iter_mut().filter(|id| **id == old).for_each(|id| *id = new);
    let after = Arc::new(Table::clone(table));
    let constraints = Constraints::new(&frame.planner(transaction), &after)?;
    let rewrite = |batch: RecordBatch| {
        let mut columns = batch.columns().to_vec();
        let batch = typed_rows(&before, &batch)?;
        let value = value.evaluate(&batch)?.into_array(batch.num_rows())?;
        columns[index] = assign(&value, &after.columns[index], constraints.style())?;
        constraints.batch(columns).map_err(|error| of_rows(error, &after))
    };
    let rows = rows.into_iter().map(rewrite).collect::<Result<_>>()?;
    Ok(Some(Rewritten { rows, replaced: Some((old, new)) }))
}

/// Whether a column has a type already, and no other values than its own are given. Migration tools write all types anew.
fn keeps(
    planner: &Planner<'_>,
    table: &Table,
    (index, using): (usize, Option<&str>),
    to: &SqlType,
) -> bool {
    let is_own = |using| expressions::is_column(planner, table, (using, index), to);
    table.columns[index].sql_type == *to && using.is_none_or(is_own)
}

/// The values of a column under its new type.
fn new_value(
    planner: &Planner<'_>,
    table: &Table,
    (index, using): (usize, Option<&str>),
    to: &SqlType,
) -> Result<Arc<dyn PhysicalExpr>> {
    let text = match using {
        Some(using) => using.to_owned(),
        None => format!("\"{}\"", table.columns[index].name.replace('"', "\"\"")),
    };
    let row = expressions::plan_altered(planner, table, (&text, index), to)?;
    let missing = || Error::new(SqlState::InternalError, "the value of a column is missing");
    let value = row.exprs.into_iter().next().ok_or_else(missing)?;
    Ok(short_circuit(planner.physical_expression(value, &row.schema)?.1)?)
}

/// Computes the rows for a definition whose last column is new.
///
/// # Errors
/// 23502 and 23514 for rows that violate its constraints.
pub(super) async fn compute(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
) -> Result<Rewritten> {
    let after = Arc::new(Table::clone(table));
    let mut before = Table::clone(table);
    before.columns.pop();
    let rows = rows(frame, transaction, &before).await?;
    let planner = frame.planner(transaction);
    let constraints = Constraints::new(&planner, &after)?;
    let last = before.columns.len();
    let added = &after.columns[last];
    let default = added.default.as_ref().map(|_| DefaultValue::of(&planner, &after, last));
    let default = default.transpose()?;
    let rewrite = |batch: RecordBatch| {
        let mut columns = batch.columns().to_vec();
        columns.push(match &default {
            Some(default) => assign(&default.values(batch.num_rows())?, added, planner.style())?,
            None => new_null_array(&added.sql_type.arrow(), batch.num_rows()),
        });
        constraints.batch(columns).map_err(|error| of_rows(error, table))
    };
    let rows = rows.into_iter().map(rewrite).collect::<Result<_>>()?;
    Ok(Rewritten { rows, replaced: None })
}

/// The error for a row that violates a constraint since its table was altered.
fn of_rows(error: Error, table: &Table) -> Error {
    let name = &table.name;
    let subject = error.subject();
    let error = match (error.state(), &subject.constraint, &subject.column) {
        (SqlState::CheckViolation, Some(check), _)
            if table.checks.iter().any(|of| of.name == *check) =>
        {
            let message = format!(
                "check constraint \"{check}\" of relation \"{name}\" is violated by some row"
            );
            Error::new(SqlState::CheckViolation, message).of_constraint(check)
        }
        (SqlState::NotNullViolation, _, Some(column)) => {
            let message =
                format!("column \"{column}\" of relation \"{name}\" contains null values");
            Error::new(SqlState::NotNullViolation, message).of_column(column)
        }
        _ => return error,
    };
    error.of_table(&table.schema, name)
}

impl Rewritten {
    /// Replaces the rows of the table. The catalog must have the new definition.
    pub(super) async fn write(
        self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        table: TableId,
    ) -> Result<()> {
        // All values stay as they are, or are checked below.
        let before = transaction.row_changes().clone();
        if before.has_deferred(table) {
            let of = transaction.catalog().table_by_id(table);
            let name = of.map_or_else(String::new, |of| of.name.clone());
            let message =
                format!("cannot ALTER TABLE \"{name}\" because it has pending trigger events");
            return Err(Error::new(SqlState::ObjectInUse, message));
        }
        transaction.truncate(table)?;
        if let Some(replaced) = self.replaced {
            index_columns::follow_type(frame, transaction, table, replaced)?;
            integrity::follow_type(transaction, table, replaced)?;
        }
        let catalog = Arc::clone(transaction.catalog());
        for relation in catalog.relations() {
            if let (Relation::Sequence(owned), Some((old, new))) = (relation, self.replaced)
                && owned.owned_by == Some((table, old))
            {
                let owned = Sequence { owned_by: Some((table, new)), ..Sequence::clone(owned) };
                let owned = Relation::Sequence(Arc::new(owned));
                transaction.change_catalog(CatalogChange::Replace(owned))?;
            }
        }
        for rows in &self.rows {
            let written = transaction.insert(table, rows).await;
            written.map_err(index::not_unique)?;
        }
        *transaction.row_changes() = before;
        if let Some((_, new)) = self.replaced {
            integrity::check_type(frame, transaction, table, new).await?;
        }
        let catalog = Arc::clone(transaction.catalog());
        for index in catalog.indexes_of(table).iter().filter(|index| index.is_deferrable()) {
            if let Some(of) = catalog.table_by_id(table) {
                integrity::check_all(frame, transaction, of, index).await?;
            }
        }
        Ok(())
    }
}

/// Rejects a type that the column cannot have.
fn refuse_type(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    (table, index): (&Table, usize),
    to: &SqlType,
    using: bool,
) -> Result<()> {
    let column = &table.columns[index];
    let (name, from) = (&column.name, &column.sql_type);
    if table.key.contains(&column.id) {
        require_key_order(to, "a primary key")?;
    }
    for index in transaction.catalog().indexes_of(table.id) {
        if index.columns.iter().any(|of| of.key.column() == Some(column.id)) {
            require_order(to)?;
        }
    }
    if column.identity.is_some() && !is_integer(to) {
        let message = "identity column type must be smallint, integer, or bigint";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    if !using && !is_automatic(from, to) {
        let message = format!("column \"{name}\" cannot be cast automatically to type {to}");
        return Err(Error::new(SqlState::DatatypeMismatch, message)
            .with_hint(format!("You might need to specify \"USING {name}::{to}\".")));
    }
    if let Some(default) = &column.default {
        let given =
            expressions::type_of_default(&frame.planner(transaction), table, default, index)?;
        if given.is_some_and(|given| !is_automatic(&given, to)) {
            let message =
                format!("default for column \"{name}\" cannot be cast automatically to type {to}");
            return Err(Error::new(SqlState::DatatypeMismatch, message));
        }
    }
    Ok(())
}

fn refuse_computed(table: &Table, name: &str) -> Result<()> {
    let Some(computed) = generated::computed_from(table, name) else { return Ok(()) };
    let message = "cannot alter type of a column used by a generated column";
    Err(Error::unsupported(message).with_detail(format!(
        "Column \"{name}\" is used by generated column \"{}\".",
        computed.name
    )))
}

/// The name of the rows in plans.
const TARGET: &str = "?target";

/// The rows with all columns.
async fn rows(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
) -> Result<Vec<RecordBatch>> {
    let view = transaction.table(table.id);
    let view = view.unwrap_or_else(|| unreachable!("the table exists in the transaction"));
    let source = provider_as_source(Arc::new(BucketTable::new(view, Columns::All)));
    let plan = LogicalPlanBuilder::scan(TARGET, source, None)?.build()?;
    let physical = frame.planner(transaction).physical(&plan).await?;
    Ok(start(frame, physical)?.try_collect().await?)
}
