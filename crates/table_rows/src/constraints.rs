//! NOT NULL and CHECK constraints, and the values of generated columns.

use crate::expressions;
use crate::row_expression::RowExpression;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::physical_expr::PhysicalExpr;
use executor::first_error;
use planner::{self, Planner};
use scan::provider::{row_schema, typed_rows};
use std::sync::Arc;
use store::catalog::Table;
use user_types::{checks_of, not_null_domain};
use values::assign::assign;
use values::assign::labels::shown_values;
use values::error::{Error, Result, SqlState};
use values::style::Style;
use values::text;

/// The name of a CHECK constraint, and the domain that it is of.
struct CheckName {
    name: String,
    domain: Option<String>,
}

/// A table's constraints and generation expressions, planned.
pub struct Constraints {
    table: Arc<Table>,
    /// The names and conditions of CHECK constraints; of those of domains with the name of the domain.
    checks: Vec<(CheckName, RowExpression)>,
    /// Which checks are the table's own, in the order of their names: that in which they are checked.
    by_name: Vec<usize>,
    /// Generated columns with their generation expressions.
    generated: Vec<(usize, RowExpression)>,
    is_lasting: bool,
    /// How texts that are assigned are read.
    style: Style,
}

impl Constraints {
    /// Plans the constraints of a table.
    ///
    /// # Errors
    /// Those of planning an expression.
    pub fn new(planner: &Planner<'_>, table: &Arc<Table>) -> Result<Self> {
        let row = expressions::plan(planner, table)?;
        let mut is_lasting = row.is_lasting;
        let mut physical = Vec::with_capacity(row.exprs.len());
        for logical in row.exprs {
            let (logical, value) = planner.physical_expression(logical, &row.schema)?;
            is_lasting &= planner::is_lasting(&logical);
            physical.push(value);
        }
        let wrong = || Error::new(SqlState::InternalError, "an expression of a table is missing");
        let known = Self::of(table, physical).ok_or_else(wrong)?;
        Ok(Self { is_lasting, style: planner.style(), ..known })
    }

    /// How texts that are assigned are read.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Constraints that were planned on another server with the same table definition; `None` if
    /// the number of expressions does not match.
    pub fn of(table: &Arc<Table>, expressions: Vec<Arc<dyn PhysicalExpr>>) -> Option<Self> {
        let columns: Vec<usize> = expressions_of(table).map(|(index, _)| index).collect();
        let own = table.checks.iter().map(|check| (check.name.clone(), None));
        let of_domains = checks_of(table).into_iter().map(|check| (check.name, Some(check.domain)));
        let names: Vec<_> = own.chain(of_domains).collect();
        if expressions.len() != names.len() + columns.len() {
            return None;
        }
        let mut expressions = expressions.into_iter().map(RowExpression::new);
        let names = names.into_iter().map(|(name, domain)| CheckName { name, domain });
        let checks: Vec<_> = names.zip(expressions.by_ref()).collect();
        let mut by_name: Vec<usize> = (0..table.checks.len()).collect();
        by_name.sort_by_key(|at| &table.checks[*at].name);
        let generated = columns.into_iter().zip(expressions).collect();
        let style = Style::default();
        let table = Arc::clone(table);
        Some(Self { table, checks, by_name, generated, is_lasting: false, style })
    }

    /// The CHECK conditions, followed by the generation expressions, over the columns of the table.
    pub fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        let checks = self.checks.iter().map(|(_, condition)| condition);
        let all = checks.chain(self.generated.iter().map(|(_, value)| value));
        all.map(|expression| Arc::clone(expression.planned())).collect()
    }

    /// Whether other statements may reuse them: no condition depends on the start time or the user
    /// of a statement.
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// Computes the generated columns, checks the constraints, and returns the columns as a batch
    /// of the table.
    ///
    /// # Errors
    /// 23502 for NOT NULL and 23514 for CHECK, of the first row in error. The message names the constraint, the detail
    /// shows the row.
    pub fn batch(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        let (rows, error) = self.rows_before_error(columns)?;
        error.map_or(Ok(rows), Err)
    }

    /// As [`Self::batch`]; of rows of which one is in error those before it, and its error.
    ///
    /// # Errors
    /// As of [`Self::batch`], if it is the first row.
    pub fn rows_before_error(
        &self,
        columns: Vec<ArrayRef>,
    ) -> Result<(RecordBatch, Option<Error>)> {
        let count = columns.first().map_or(0, |column| column.len());
        let error = match self.batch_of_all(columns.clone()) {
            Err(error) if count > 1 => error,
            batch => return Ok((batch?, None)),
        };
        let (sound, error) = self.first_error(&columns, error);
        if sound == 0 {
            return Err(error);
        }
        Ok((self.batch_of_all(sliced(&columns, 0, sound))?, Some(error)))
    }

    /// The number of rows before the first one in error, and its error. `error` is that of all rows together.
    fn first_error(&self, columns: &[ArrayRef], error: Error) -> (usize, Error) {
        let rows = columns.first().map_or(0, |column| column.len());
        first_error(rows, error, |begin, end| {
            self.batch_of_all(sliced(columns, begin, end)).map(drop)
        })
    }

    /// As [`Self::batch`], with the error of any row. Of a single row it is the one that PostgreSQL finds first.
    fn batch_of_all(&self, mut columns: Vec<ArrayRef>) -> Result<RecordBatch> {
        if !self.generated.is_empty() {
            self.generate(&mut columns)?;
        }
        self.check_domains(&columns)?;
        for (column, array) in self.table.columns.iter().zip(&columns) {
            if !column.nullable && array.null_count() > 0 {
                let row = (0..array.len()).find(|row| array.is_null(*row)).unwrap_or(0);
                let message = format!(
                    "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    column.name, self.table.name
                );
                return Err(Error::new(SqlState::NotNullViolation, message)
                    .with_detail(describe_row(&self.table, &columns, row))
                    .of_table(&self.table.schema, &self.table.name)
                    .of_column(&column.name));
            }
        }
        let batch = RecordBatch::try_new(self.table.arrow_schema(), columns)?;
        if self.by_name.is_empty() {
            return Ok(batch);
        }
        let typed = typed_rows(&self.table, &batch)?;
        for (CheckName { name, .. }, check) in self.by_name.iter().map(|at| &self.checks[*at]) {
            if let Some(row) = broken(check, &typed)? {
                let message = format!(
                    "new row for relation \"{}\" violates check constraint \"{name}\"",
                    self.table.name
                );
                return Err(Error::new(SqlState::CheckViolation, message)
                    .with_detail(describe_row(&self.table, batch.columns(), row))
                    .of_table(&self.table.schema, &self.table.name)
                    .of_constraint(name));
            }
        }
        Ok(batch)
    }

    /// Checks the constraints of the columns' domains.
    fn check_domains(&self, columns: &[ArrayRef]) -> Result<()> {
        for (column, array) in self.table.columns.iter().zip(columns) {
            if array.null_count() > 0
                && let Some(domain) = not_null_domain(&column.sql_type)
            {
                let message = format!("domain {domain} does not allow null values");
                return Err(Error::new(SqlState::NotNullViolation, message));
            }
        }
        if self.checks.len() == self.by_name.len() {
            return Ok(());
        }
        let given = self.given_rows(columns)?;
        for (CheckName { name, domain }, check) in &self.checks {
            if let Some(domain) = domain
                && broken(check, &given)?.is_some()
            {
                let message =
                    format!("value for domain {domain} violates check constraint \"{name}\"");
                return Err(Error::new(SqlState::CheckViolation, message).of_constraint(name));
            }
        }
        Ok(())
    }

    /// Rows for expressions before NOT NULL is checked.
    pub(crate) fn given_rows(&self, columns: &[ArrayRef]) -> Result<RecordBatch> {
        let schema = row_schema(&self.table);
        let nullable = |field: &Arc<Field>| Field::clone(field).with_nullable(true);
        let schema = Schema::new(schema.fields().iter().map(nullable).collect::<Vec<_>>());
        Ok(RecordBatch::try_new(Arc::new(schema), columns.to_vec())?)
    }

    /// Replaces generated columns by their computed values.
    fn generate(&self, columns: &mut [ArrayRef]) -> Result<()> {
        let given = self.given_rows(columns)?;
        for (index, value) in &self.generated {
            let value = value.values(&given)?;
            columns[*index] = assign(&value, &self.table.columns[*index], self.style)?;
        }
        Ok(())
    }
}

/// The first row for which a condition does not hold.
fn broken(condition: &RowExpression, rows: &RecordBatch) -> Result<Option<usize>> {
    let holds = condition.values(rows)?;
    let holds = holds.as_boolean();
    Ok((0..holds.len()).find(|row| holds.is_valid(*row) && !holds.value(*row)))
}

/// The rows from `begin` to before `end`.
fn sliced(columns: &[ArrayRef], begin: usize, end: usize) -> Vec<ArrayRef> {
    columns.iter().map(|column| column.slice(begin, end - begin)).collect()
}

/// The visible values of a row, as the detail of an error.
pub fn describe_row(table: &Table, columns: &[ArrayRef], row: usize) -> String {
    let shown = table.columns.iter().zip(columns).filter(|(column, _)| !column.hidden);
    let values = shown.map(|(column, array)| {
        let mut value = String::new();
        let array = shown_values(array, &column.sql_type);
        match text::write_value(&array, row, &mut value) {
            Ok(true) => value,
            _ => "null".to_owned(),
        }
    });
    format!("Failing row contains ({}).", values.collect::<Vec<_>>().join(", "))
}

/// The generated columns of a table with their generation expressions.
fn expressions_of(table: &Table) -> impl Iterator<Item = (usize, &str)> {
    let columns = table.columns.iter().enumerate();
    columns.filter_map(|(index, column)| Some((index, column.generated.as_deref()?)))
}
