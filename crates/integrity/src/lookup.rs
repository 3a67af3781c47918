//! Rows that are referred to, and rows that refer.

use crate::surroundings::Surroundings;
use crate::tuples;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::{Column, JoinType, ScalarValue};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::utils::{conjunction, disjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use scan::number_keys::compared;
use scan::provider::{BucketTable, Columns};
use sdds::Key;
use std::sync::Arc;
use store::catalog::{ForeignKey, Table, TableId};
use store::key::{EntryEncoder, of_entry};
use store::{DistributedTransaction, TableView};
use values::error::{Error, Result, SqlState};

/// The most values in a condition. More become a table to join with.
pub(crate) const VALUES_MAX: usize = 256;

/// The name of the rows that refer, in plans.
const REFERRING: &str = "?referring";

/// The name of values, in plans.
const VALUES: &str = "?values";

/// Rows that are referred to, as keys of the file in which they are unique.
pub(crate) struct Present {
    /// The file: the table, or its index.
    pub(crate) file: TableId,
    /// The keys of those that exist.
    pub(crate) keys: Vec<Key>,
    /// Whether each value has a row.
    pub(crate) is_present: Vec<bool>,
}

/// Looks values up that have the types of the referring columns, or of the referenced ones.
pub(crate) async fn present(
    transaction: &DistributedTransaction,
    key: &ForeignKey,
    referenced: &Table,
    values: &[ArrayRef],
) -> Result<Present> {
    let columns = key.referenced_positions(referenced);
    let (values, rows) = tuples::converted(values, &tuples::types(referenced, &columns))?;
    let all = rows.last().map_or(0, |last| last + 1);
    let in_order = |wanted: &[usize]| -> Vec<ArrayRef> {
        let place = |at: &usize| columns.iter().position(|column| column == at);
        wanted.iter().filter_map(place).map(|at| Arc::clone(&values[at])).collect()
    };
    let (file, keys) = match key.index {
        None => (referenced.id, tuples::keys(&in_order(&referenced.key_indices()))?),
        Some(id) => {
            let index = transaction.catalog().index_by_id(id).ok_or_else(missing)?;
            let parts: Vec<usize> = index.positions(referenced).into_iter().flatten().collect();
            let values = in_order(&parts);
            let encoder = EntryEncoder::new(index, &values).map_err(store::Error::from)?;
            let entry = |row: usize| of_entry(&encoder.values(row));
            (id, (0..rows.len()).map(entry).collect())
        }
    };
    let view = transaction.table(file).ok_or_else(missing)?;
    let (_, found) = view.find_many(&keys, &[]).await?;
    let mut is_present = vec![false; all];
    for at in &found {
        is_present[rows[*at]] = true;
    }
    let keys = found.into_iter().map(|at| keys[at].clone()).collect();
    Ok(Present { file, keys, is_present })
}

/// The rows of a table, with all columns, whose foreign key has one of some values. The values have
/// the types of the referring columns, or of the referenced ones, and are not NULL.
pub(crate) async fn referring(
    surroundings: &impl Surroundings,
    transaction: &DistributedTransaction,
    (table, key): (&Arc<Table>, &ForeignKey),
    values: &[ArrayRef],
) -> Result<RecordBatch> {
    let columns = key.positions(table);
    let ignoring = tuples::ignoring_blanks(transaction.catalog(), table, key);
    let values = tuples::trimmed(values, &ignoring);
    let (values, _) = tuples::converted(&values, &tuples::types(table, &columns))?;
    let distinct = tuples::distinct(&values)?;
    let schema = table.arrow_schema();
    if distinct.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    let values = tuples::picked(&values, &distinct)?;
    let view = transaction.table(table.id).ok_or_else(missing)?;
    let plan = plan(view, table, (&columns, &ignoring), &values)?;
    let mut batches = surroundings.rows(transaction, &plan).await?;
    for batch in &mut batches {
        *batch = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())?;
    }
    Ok(concat_batches(&schema, &batches)?)
}

/// The plan of the rows with all columns that have one of some values in some columns, of which some are compared without
/// the blanks at their end.
pub(crate) fn plan(
    view: TableView,
    table: &Table,
    (columns, ignoring): (&[usize], &[bool]),
    values: &[ArrayRef],
) -> Result<LogicalPlan> {
    let source = provider_as_source(Arc::new(BucketTable::new(view, Columns::All)));
    let scan = LogicalPlanBuilder::scan(REFERRING, source, None)?;
    let column = |at: usize| {
        let name = table.columns[columns[at]].name.clone();
        let value = Expr::Column(Column::new(Some(REFERRING), name));
        match ignoring.get(at) {
            Some(true) => rtrim().call(vec![value, lit(ScalarValue::from(" "))]),
            _ => value,
        }
    };
    if tuples::len(values) <= VALUES_MAX {
        let condition = condition(column, values)?;
        return Ok(scan.filter(condition)?.build()?);
    }
    Ok(joined(scan, (0..columns.len()).map(column).collect(), values)?.build()?)
}

/// The rows of a plan whose columns have one of some values.
pub(crate) fn joined(
    scan: LogicalPlanBuilder,
    columns: Vec<Expr>,
    values: &[ArrayRef],
) -> Result<LogicalPlanBuilder> {
    let field = |(at, value): (usize, &ArrayRef)| {
        Field::new(format!("v{at}"), value.data_type().clone(), false)
    };
    let fields: Vec<Field> = values.iter().enumerate().map(field).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), values.to_vec())?;
    let rows = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
    let rows = LogicalPlanBuilder::scan(VALUES, provider_as_source(Arc::new(rows)), None)?;
    let right = |at: usize| Expr::Column(Column::new(Some(VALUES), format!("v{at}")));
    let right = (0..columns.len()).map(right);
    let keys = |columns: &mut dyn Iterator<Item = Expr>| -> Result<Vec<Expr>> {
        let keys = columns.zip(values);
        let keys = keys.map(|(column, of)| compared(column, of.data_type()));
        Ok(keys.collect::<Result<_, _>>()?)
    };
    let keys = (keys(&mut columns.into_iter())?, keys(&mut right.into_iter())?);
    Ok(scan.join_with_expr_keys(rows.build()?, JoinType::LeftSemi, keys, None)?)
}

/// The plan of all rows with all columns; `None` if there are none.
pub(crate) fn all_rows(
    transaction: &DistributedTransaction,
    table: &Table,
) -> Result<Option<LogicalPlan>> {
    let view = transaction.table(table.id);
    let Some(view) = view.filter(|view| view.row_count() != Some(0)) else { return Ok(None) };
    let source = provider_as_source(Arc::new(BucketTable::new(view, Columns::All)));
    Ok(Some(LogicalPlanBuilder::scan(REFERRING, source, None)?.build()?))
}

/// The plan of the values of a foreign key in all rows; `None` if there are none.
pub(crate) fn all_values(
    transaction: &DistributedTransaction,
    table: &Table,
    key: &ForeignKey,
) -> Result<Option<LogicalPlan>> {
    let view = transaction.table(table.id);
    let Some(view) = view.filter(|view| view.row_count() != Some(0)) else { return Ok(None) };
    let source = provider_as_source(Arc::new(BucketTable::new(view, Columns::All)));
    let column =
        |at: usize| Expr::Column(Column::new(Some(REFERRING), table.columns[at].name.clone()));
    let columns: Vec<Expr> = key.positions(table).into_iter().map(column).collect();
    Ok(Some(LogicalPlanBuilder::scan(REFERRING, source, None)?.project(columns)?.build()?))
}

/// The condition that columns have one of some values.
pub(crate) fn condition(column: impl Fn(usize) -> Expr, values: &[ArrayRef]) -> Result<Expr> {
    let value = |at: usize, row: usize| -> Result<Expr> {
        let value = lit(ScalarValue::try_from_array(&values[at], row)?);
        Ok(compared(value, values[at].data_type())?)
    };
    let column = |at: usize| Ok::<_, Error>(compared(column(at), values[at].data_type())?);
    let rows = 0..tuples::len(values);
    if values.len() == 1 && rows.len() > 1 {
        let list = rows.map(|row| value(0, row)).collect::<Result<Vec<_>>>()?;
        return Ok(column(0)?.in_list(list, false));
    }
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let equal = |at: usize| Ok(column(at)?.eq(value(at, row)?));
        let equal = (0..values.len()).map(equal).collect::<Result<Vec<_>>>()?;
        all.extend(conjunction(equal));
    }
    disjunction(all).ok_or_else(missing)
}

/// The error for a definition that is gone.
pub(crate) fn missing() -> Error {
    Error::new(SqlState::InternalError, "a foreign key refers to what does not exist")
}
