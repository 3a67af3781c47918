//! INSERT.

use super::assembly::Assembly;
use super::conflict::{self, Resolution};
use super::default_values::{accepts_default_only, default_of, generated_always, is_default};
use super::returning::{Returning, outcome};
use super::{constants, declared_column, ingest, target};
use crate::analysis::changes::{self, Planned};
use crate::context::Frame;
use crate::context::outcome::Outcome;
use crate::context::start;
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::sql::sqlparser::ast::{
    self, Expr, Insert, ObjectName, OnInsert, Query, SetExpr, Statement, TableObject, Value, Values,
};
use futures::TryStreamExt;
use parser::names::fold;
use planner::Planner;
use scan::BATCH_ROWS;
use std::sync::Arc;
use store::catalog::{Column, Privileges, SqlType, Table};
use store::{DistributedTransaction, TableView};
use values::error::{Error, Result, SqlState};

/// Runs an INSERT.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    insert: &Insert,
) -> Result<Outcome> {
    let TableObject::TableName(name) = &insert.table else {
        return Err(Error::unsupported(format!("INSERT INTO {} is not supported", insert.table)));
    };
    let table = target(frame, transaction, name, needed(insert))?;
    let mut planner = frame.planner(transaction);
    let view = transaction.table(table.id).ok_or_else(|| super::undefined(name))?;
    let Clauses { returning, resolution, columns, source } =
        clauses(frame, &mut planner, &view, insert).await?;
    let assembly = Assembly::new(&planner, &frame.session.shared.store, &table, &columns)?;
    drop(planner);
    let mut stream = match source {
        Source::Constants(rows) => rows,
        Source::Plan { plan, is_values } => {
            if !is_values && returning.is_none() && resolution.is_none() {
                let rows = ingest(frame, transaction, table.id, plan, assembly).await?;
                return outcome("INSERT", None, rows, &[]);
            }
            start(frame, plan)?
        }
    };
    let mut written = Vec::new();
    while let Some(batch) = stream.try_next().await? {
        let batch = assembly.assemble(&batch)?;
        match &resolution {
            None => transaction.insert(table.id, &batch).await?,
            Some(resolution) => {
                written.extend(conflict::insert(transaction, &table, resolution, &batch).await?);
                continue;
            }
        }
        written.push(batch);
    }
    let rows = written.iter().map(|batch| batch.num_rows() as u64).sum();
    let written: Vec<_> = written.iter().map(|batch| batch.columns().to_vec()).collect();
    outcome("INSERT", returning.as_ref(), rows, &written)
}

/// What an INSERT does, planned.
struct Clauses {
    returning: Option<Returning>,
    resolution: Option<Resolution>,
    /// The columns that get values.
    columns: Vec<usize>,
    source: Source,
}

/// Plans an INSERT.
async fn clauses(
    frame: &Frame<'_>,
    planner: &mut Planner<'_>,
    view: &TableView,
    insert: &Insert,
) -> Result<Clauses> {
    let table = view.table();
    let columns = columns(table, &insert.columns)?;
    let has_clauses = insert.on.is_some() || insert.returning.is_some();
    let constants = constants::rows(insert, table, &columns);
    let planned = match constants.is_some() && !has_clauses {
        true => None,
        false => changes::plan(frame, planner, view).await?,
    };
    let Some(mut planned) = planned else {
        let alias = match &insert.table_alias {
            Some(alias) => fold(&alias.alias),
            None => table.name.clone(),
        };
        let returning = Returning::new(planner, table, &alias, insert.returning.as_deref())?;
        let resolution = match &insert.on {
            None => None,
            Some(OnInsert::OnConflict(on)) => Some(Resolution::new(planner, table, &alias, on)?),
            Some(other) => return Err(Error::unsupported(format!("{other} is not supported"))),
        };
        let (columns, source) = source(planner, table, insert, columns, constants).await?;
        return Ok(Clauses { returning, resolution, columns, source });
    };
    let returning = planned.returning.take().map(Returning::of);
    let conflict = planned.conflict.take();
    let resolution = conflict.map(|on| Resolution::of(planner, table, on)).transpose()?;
    let (columns, source) = match constants {
        Some(rows) => source(planner, table, insert, columns, Some(rows)).await?,
        None => of_planned(planner, table, insert, planned).await?,
    };
    Ok(Clauses { returning, resolution, columns, source })
}

/// Where the rows come from.
enum Source {
    /// VALUES with nothing but constants.
    Constants(SendableRecordBatchStream),
    /// Any other query.
    Plan {
        plan: Arc<dyn ExecutionPlan>,
        /// Whether it is a VALUES, or one row: its rows are written in their order.
        is_values: bool,
    },
}

/// The rows of a planned INSERT, and their target columns.
async fn of_planned(
    planner: &Planner<'_>,
    table: &Table,
    insert: &Insert,
    planned: Planned,
) -> Result<(Vec<usize>, Source)> {
    for target in &planned.targets {
        let column = &table.columns[target.column];
        if !target.is_default && accepts_default_only(column) {
            return Err(only_default(column));
        }
    }
    let is_values = insert
        .source
        .as_deref()
        .is_none_or(|query| matches!(&*query.body, SetExpr::Values(_)) || is_one_row(query));
    let columns = planned.targets.iter().map(|target| target.column).collect();
    let plan = planner.physical(&planned.rows).await?;
    Ok((columns, Source::Plan { plan, is_values }))
}

/// The rows to insert, and their target columns.
async fn source(
    planner: &mut Planner<'_>,
    table: &Arc<Table>,
    insert: &Insert,
    columns: Vec<usize>,
    constants: Option<RecordBatch>,
) -> Result<(Vec<usize>, Source)> {
    let is_named = !insert.columns.is_empty();
    if let Some(rows) = constants {
        let columns = match_width(rows.num_columns(), columns, is_named)?;
        refuse_generated_always(table, &columns, insert)?;
        return Ok((columns, Source::Constants(in_batches(rows)?)));
    }
    let (query, columns) = query(table, insert, columns)?;
    let is_values = matches!(&*query.body, SetExpr::Values(_)) || is_one_row(&query);
    let plan = planner.plan_query(query).await?;
    let columns = match_width(plan.schema().fields().len(), columns, is_named)?;
    refuse_generated_always(table, &columns, insert)?;
    let plan = planner.physical(&plan).await?;
    Ok((columns, Source::Plan { plan, is_values }))
}

/// The rows, a batch at a time.
fn in_batches(rows: RecordBatch) -> Result<SendableRecordBatchStream> {
    let begins = (0..rows.num_rows()).step_by(BATCH_ROWS);
    let batches =
        begins.map(|begin| rows.slice(begin, BATCH_ROWS.min(rows.num_rows() - begin))).collect();
    Ok(Box::pin(MemoryStream::try_new(batches, rows.schema(), None)?))
}

/// The target columns, in the order of the values.
fn columns(table: &Table, named: &[ObjectName]) -> Result<Vec<usize>> {
    if named.is_empty() {
        return Ok((0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect());
    }
    let mut columns = Vec::with_capacity(named.len());
    for name in named {
        let last = name.0.last().and_then(|part| part.as_ident()).map(fold).unwrap_or_default();
        let column = declared_column(table, &last)?;
        if columns.contains(&column) {
            let message = format!("column \"{last}\" specified more than once");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The query that returns the rows to insert, and its target columns.
fn query(table: &Table, insert: &Insert, columns: Vec<usize>) -> Result<(Query, Vec<usize>)> {
    let Some(query) = &insert.source else {
        let Statement::Query(one_row) = parser::parse_sql("SELECT NULL")? else {
            unreachable!("a SELECT is a query");
        };
        let first = columns.into_iter().next().unwrap_or_default();
        let mut query = *one_row;
        if let SetExpr::Select(select) = &mut *query.body {
            let default = default_of(table, first)?;
            select.projection =
                vec![datafusion::sql::sqlparser::ast::SelectItem::UnnamedExpr(default)];
        }
        return Ok((query, vec![first]));
    };
    let mut query = Query::clone(query);
    if let SetExpr::Values(values) = &mut *query.body {
        for row in &mut values.rows {
            for (index, value) in row.content.iter_mut().enumerate() {
                if let (true, Some(column)) = (is_default(value), columns.get(index)) {
                    *value = default_of(table, *column)?;
                }
            }
        }
        for (index, column) in columns.iter().enumerate() {
            cast_literals(values, index, &table.columns[*column].sql_type)?;
        }
    }
    Ok((query, columns))
}

/// Casts the quoted literals of a VALUES column to the column's type if other values of the column
/// are not quoted. DataFusion would coerce all of them to text.
fn cast_literals(values: &mut Values, index: usize, sql_type: &SqlType) -> Result<()> {
    let is_text = |expr: &Expr| {
        use Value::{EscapedStringLiteral, SingleQuotedString};
        matches!(expr, Expr::Value(v) if matches!(v.value, SingleQuotedString(_) | EscapedStringLiteral(_)))
    };
    let mut cells = values.rows.iter().filter_map(|row| row.content.get(index));
    let is_mixed = cells.clone().any(is_text) && !cells.all(is_text);
    if !is_mixed || matches!(sql_type, SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_)) {
        return Ok(());
    }
    let null = parser::parse_expression(&format!("CAST(NULL AS {sql_type})"))?;
    let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(index));
    for value in cells.filter(|value| is_text(value)) {
        let mut cast = null.clone();
        if let Expr::Cast { expr, .. } = &mut cast {
            std::mem::swap(&mut **expr, value);
        }
        *value = cast;
    }
    Ok(())
}

fn is_one_row(query: &Query) -> bool {
    matches!(&*query.body, SetExpr::Select(select) if select.from.is_empty())
}

fn match_width(width: usize, mut columns: Vec<usize>, named: bool) -> Result<Vec<usize>> {
    if width > columns.len() {
        let message = "INSERT has more expressions than target columns";
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    if width < columns.len() && named {
        let message = "INSERT has more target columns than expressions";
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    columns.truncate(width);
    Ok(columns)
}

fn refuse_generated_always(table: &Arc<Table>, columns: &[usize], insert: &Insert) -> Result<()> {
    let values = insert.source.as_ref().and_then(|query| match &*query.body {
        SetExpr::Values(values) => Some(values),
        _ => None,
    });
    for (position, &column) in columns.iter().enumerate() {
        let column = &table.columns[column];
        if !accepts_default_only(column) || insert.source.is_none() {
            continue;
        }
        let all_default = values.is_some_and(|values| {
            values.rows.iter().all(|row| row.content.get(position).is_some_and(is_default))
        });
        if !all_default {
            return Err(only_default(column));
        }
    }
    Ok(())
}

fn only_default(column: &Column) -> Error {
    let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
    generated_always(column, message)
}

/// The privileges that a statement needs. RETURNING needs SELECT; DO UPDATE needs UPDATE and
/// SELECT.
fn needed(insert: &Insert) -> Privileges {
    let mut needed = Privileges::INSERT;
    if insert.returning.is_some() {
        needed = needed.union(Privileges::SELECT);
    }
    match &insert.on {
        Some(OnInsert::OnConflict(ast::OnConflict {
            action: ast::OnConflictAction::DoUpdate(_),
            ..
        })) => needed.union(Privileges::UPDATE).union(Privileges::SELECT),
        _ => needed,
    }
}
