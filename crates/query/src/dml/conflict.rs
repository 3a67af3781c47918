//! INSERT ... ON CONFLICT.

use super::assignment::assigned_column;
use super::assignment::require_default;
use super::constraints::Constraints;
use super::default_values::{default_of, is_default};
use crate::analysis::changes::OnConflict;
use analyzer::tree::ConflictTarget as Target;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{filter_record_batch, take_record_batch};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::sql::sqlparser::ast::{self, Assignment, ConflictTarget, OnConflictAction};
use parser::names::fold;
use parser::walk::visit_expressions_mut;
use planner::Planner;
use scan::provider::row_schema;
use std::collections::HashSet;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Table;
use values::assign::assign;
use values::error::{Error, Result, SqlState};

/// The planned action for rows whose key already exists.
pub(crate) enum Resolution {
    /// DO NOTHING.
    Nothing,
    /// DO UPDATE.
    Update {
        /// Columns and their new values. The input of an expression is the existing row, followed
        /// by the excluded row.
        assignments: Vec<(usize, Arc<dyn PhysicalExpr>)>,
        /// The WHERE condition, over the same input.
        selection: Option<Arc<dyn PhysicalExpr>>,
        constraints: Constraints,
    },
}

impl Resolution {
    /// Plans an ON CONFLICT clause. `alias` is the name of the table in the statement.
    ///
    /// # Errors
    /// 42P10 if the conflict target is not the primary key; 0A000 if the action assigns to the
    /// primary key.
    pub(crate) fn new(
        planner: &Planner<'_>,
        table: &Arc<Table>,
        alias: &str,
        on: &ast::OnConflict,
    ) -> Result<Self> {
        require_key_target(table, on)?;
        let update = match &on.action {
            OnConflictAction::DoNothing => return Ok(Self::Nothing),
            OnConflictAction::DoUpdate(update) => update,
        };
        let row = row_schema(table);
        let schema = DFSchema::try_from_qualified_schema(alias, &row)?
            .join(&DFSchema::try_from_qualified_schema("excluded", &row)?)?;
        let mut assignments = Vec::new();
        for Assignment { target, value } in &update.assignments {
            let column = assigned_column(table, target)?;
            let value = if is_default(value) {
                default_of(table, column)?
            } else {
                require_default(&table.columns[column])?;
                value.clone()
            };
            let value = qualify(value, table, alias);
            assignments.push((column, planner.plan_expression(value, &schema)?.1));
        }
        if assignments.iter().any(|(column, _)| table.key_indices().contains(column)) {
            return Err(Error::unsupported("ON CONFLICT DO UPDATE cannot change the primary key"));
        }
        let selection = update
            .selection
            .clone()
            .map(|selection| planner.plan_expression(qualify(selection, table, alias), &schema));
        let selection = selection.transpose()?.map(|(_, physical)| physical);
        let constraints = Constraints::new(planner, table)?;
        Ok(Self::Update { assignments, selection, constraints })
    }
}

impl Resolution {
    /// ON CONFLICT as the analyzer plans it.
    ///
    /// # Errors
    /// As of [`new`](Self::new).
    pub(crate) fn of(planner: &Planner<'_>, table: &Arc<Table>, on: OnConflict) -> Result<Self> {
        let key = table.key_indices();
        let is_key = match &on.target {
            Target::Any => on.update.is_none(),
            Target::Constraint(name) => *name == table.key_name(),
            Target::Columns(columns) => {
                let named: HashSet<usize> = columns.iter().copied().collect();
                named == key.iter().copied().collect()
            }
        };
        if !is_key {
            return Err(no_constraint());
        }
        let Some(update) = on.update else { return Ok(Self::Nothing) };
        for (target, _) in &update.values {
            if !target.is_default {
                require_default(&table.columns[target.column])?;
            }
            if key.contains(&target.column) {
                let message = "ON CONFLICT DO UPDATE cannot change the primary key";
                return Err(Error::unsupported(message));
            }
        }
        let values = update.values.into_iter();
        let assignments = values.map(|(target, value)| (target.column, value)).collect();
        let constraints = Constraints::new(planner, table)?;
        Ok(Self::Update { assignments, selection: update.filter, constraints })
    }
}

/// Qualifies bare column names: they refer to the existing row, as in PostgreSQL.
fn qualify(
    mut expression: datafusion::sql::sqlparser::ast::Expr,
    table: &Table,
    alias: &str,
) -> datafusion::sql::sqlparser::ast::Expr {
    use datafusion::sql::sqlparser::ast::Expr;
    let _ = visit_expressions_mut(&mut expression, |expr| {
        if let Expr::Identifier(ident) = expr
            && table.column(&fold(ident)).is_some()
        {
            *expr = Expr::CompoundIdentifier(vec![super::select::quoted(alias), ident.clone()]);
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    expression
}

fn require_key_target(table: &Table, on: &ast::OnConflict) -> Result<()> {
    let is_key = match &on.conflict_target {
        None => matches!(on.action, OnConflictAction::DoNothing),
        Some(ConflictTarget::OnConstraint(name)) => name.to_string() == table.key_name(),
        Some(ConflictTarget::Columns(columns)) => {
            let named: HashSet<String> = columns.iter().map(fold).collect();
            let key = table.key_indices();
            named == key.iter().map(|index| table.columns[*index].name.clone()).collect()
        }
    };
    if is_key {
        return Ok(());
    }
    Err(no_constraint())
}

fn no_constraint() -> Error {
    let message =
        "there is no unique or exclusion constraint matching the ON CONFLICT specification";
    Error::new(SqlState::InvalidColumnReference, message)
        .with_hint("The primary key is the one that can be named.")
}

/// Inserts a batch, resolves conflicts, and returns the inserted and updated rows.
///
/// # Errors
/// 21000 if DO UPDATE would update a row twice.
pub(crate) async fn insert(
    transaction: &mut DistributedTransaction,
    table: &Arc<Table>,
    resolution: &Resolution,
    batch: &RecordBatch,
) -> Result<Vec<RecordBatch>> {
    let view = transaction.table(table.id).ok_or_else(|| {
        Error::new(SqlState::UndefinedTable, format!("relation \"{}\" does not exist", table.name))
    })?;
    let keys = view.encode_keys(batch)?;
    let (_, present) = view.find_many(&keys, &[]).await?;
    let present: HashSet<usize> = present.into_iter().collect();
    let mut seen = HashSet::new();
    let (mut new, mut conflicting) = (Vec::new(), Vec::new());
    for (row, key) in keys.iter().enumerate() {
        let is_first = seen.insert(key.clone());
        match (present.contains(&row), is_first, resolution) {
            (false, true, _) => new.push(row as u32),
            (_, false, Resolution::Update { .. }) => {
                let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
                return Err(Error::new(SqlState::CardinalityViolation, message).with_hint(
                    "Ensure that no rows proposed for insertion within the same command have \
                     duplicate constrained values.",
                ));
            }
            (true, true, Resolution::Update { .. }) => conflicting.push(row as u32),
            (_, _, Resolution::Nothing) => {}
        }
    }
    let mut written = Vec::new();
    if !new.is_empty() {
        let rows = take_record_batch(batch, &UInt32Array::from(new))?;
        transaction.insert(table.id, &rows).await?;
        written.push(rows);
    }
    if let (Resolution::Update { assignments, selection, constraints }, false) =
        (resolution, conflicting.is_empty())
    {
        let conflicting_keys: Vec<_> =
            conflicting.iter().map(|row| keys[*row as usize].clone()).collect();
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let (existing, _) = view.find_many(&conflicting_keys, &all).await?;
        let excluded = take_record_batch(batch, &UInt32Array::from(conflicting))?;
        let both = join_columns(table, existing, &excluded)?;
        let both = selected(both, selection.as_ref())?;
        let mut columns: Vec<ArrayRef> = both.columns()[..table.columns.len()].to_vec();
        for (column, value) in assignments {
            let value = value.evaluate(&both)?.into_array(both.num_rows())?;
            columns[*column] = assign(&value, &table.columns[*column], constraints.style())?;
        }
        let rows = constraints.batch(columns)?;
        transaction.upsert(table.id, &rows).await?;
        written.push(rows);
    }
    Ok(written)
}

fn join_columns(
    table: &Table,
    existing: Vec<ArrayRef>,
    excluded: &RecordBatch,
) -> Result<RecordBatch> {
    let row = row_schema(table);
    let fields: Vec<_> = row.fields().iter().chain(row.fields()).cloned().collect();
    let mut columns = existing;
    columns.extend(excluded.columns().iter().cloned());
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn selected(rows: RecordBatch, selection: Option<&Arc<dyn PhysicalExpr>>) -> Result<RecordBatch> {
    let Some(selection) = selection else { return Ok(rows) };
    let mask = selection.evaluate(&rows)?.into_array(rows.num_rows())?;
    let mask = mask.as_boolean();
    let chosen: BooleanArray =
        (0..mask.len()).map(|row| Some(mask.is_valid(row) && mask.value(row))).collect();
    Ok(filter_record_batch(&rows, &chosen)?)
}
