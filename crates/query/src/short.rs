//! The short path: statements on one row by its whole primary key, without the engine's planner.
//!
//! Recognised once per prepared statement and catalog: `SELECT columns FROM t WHERE key = ...`,
//! `INSERT INTO t VALUES (...)`, `UPDATE t SET ... WHERE key = ...`, `DELETE FROM t WHERE key = ...`, where
//! keys and values are parameters, constants, or (in SET) expressions over the row. Executing one costs
//! microseconds; everything that is not of this form takes the long path.

use crate::dml::assembly::Assembly;
use crate::dml::assign::assign;
use crate::dml::conflict::assigned_column;
use crate::dml::constraints::Constraints;
use crate::dml::{declared_column, insert::is_default};
use crate::error::{Error, Result, SqlState};
use crate::outcome::{Field, Outcome, Rows, Tag};
use crate::planner::is_lasting;
use crate::planner::origins::field_of;
use crate::planner::relations::{Tables, find, fold};
use crate::scan::provider::plan_schema;
use crate::scan::provider::{row_schema, typed_rows};
use crate::session::Frame;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::sql::sqlparser::ast::{
    AssignmentTarget, BinaryOperator, Delete, Expr, FromTable, GroupByExpr, Insert, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, TableObject, TableWithJoins, Update, Value,
};
use std::sync::Arc;
use store::catalog::{Catalog, Privileges, Relation, SqlType, Table};
use store::{JointTransaction, Store, TableView};

/// A write is tried so many times when others write the same row.
const RETRIES: usize = 64;

/// A statement in its short form.
pub(crate) struct Short {
    table: Arc<Table>,
    action: Action,
}

enum Action {
    Select { key: Vec<Operand>, columns: Vec<usize>, fields: Vec<Field>, schema: SchemaRef },
    Insert { rows: Vec<Vec<Operand>>, assembly: Box<Assembly>, schema: SchemaRef },
    Update { key: Vec<Operand>, values: Vec<(usize, NewValue)>, constraints: Constraints },
    Delete { key: Vec<Operand> },
}

/// A value that is known when the statement is executed.
enum Operand {
    Constant(ScalarValue),
    Parameter(usize),
}

/// What a column is set to.
enum NewValue {
    Operand(Operand),
    Expression(Arc<dyn PhysicalExpr>),
}

impl Operand {
    fn of(expression: &Expr) -> Option<Self> {
        let Expr::Value(value) = expression else { return None };
        let text = |text: &str| Some(Self::Constant(ScalarValue::Utf8View(Some(text.to_owned()))));
        match &value.value {
            Value::Placeholder(name) => {
                let number: usize = name.strip_prefix('$')?.parse().ok()?;
                Some(Self::Parameter(number.checked_sub(1)?))
            }
            Value::Number(number, _) => {
                let number: i64 = number.to_string().parse().ok()?;
                Some(Self::Constant(ScalarValue::Int64(Some(number))))
            }
            Value::SingleQuotedString(value) => text(value),
            Value::Boolean(value) => Some(Self::Constant(ScalarValue::Boolean(Some(*value)))),
            Value::Null => Some(Self::Constant(ScalarValue::Null)),
            _ => None,
        }
    }

    fn number(&self) -> Option<usize> {
        match self {
            Self::Parameter(number) => Some(*number),
            Self::Constant(_) => None,
        }
    }

    fn value<'a>(&'a self, parameters: &'a [ScalarValue]) -> Result<&'a ScalarValue> {
        match self {
            Self::Constant(value) => Ok(value),
            Self::Parameter(index) => parameters.get(*index).ok_or_else(|| {
                let message = format!("there is no parameter ${}", index + 1);
                Error::new(SqlState::UndefinedParameter, message)
            }),
        }
    }
}

impl Short {
    /// The short form of a statement, if it has one.
    pub(crate) fn recognise(
        frame: &Frame<'_>,
        tables: &dyn Tables,
        statement: &Statement,
    ) -> Result<Option<Self>> {
        Ok(match statement {
            Statement::Query(query) => select(frame, tables, query),
            Statement::Insert(statement) => insert(frame, tables, statement)?,
            Statement::Update(statement) => update(frame, tables, statement)?,
            Statement::Delete(statement) => delete(frame, tables, statement),
            _ => None,
        })
    }

    /// The parameters and the types of the columns that they are compared with or written to.
    pub(crate) fn parameters(&self) -> Box<dyn Iterator<Item = (usize, SqlType)> + '_> {
        let column = |index: usize| self.table.columns[index].sql_type.clone();
        let of_key = move |key: &'_ [Operand]| -> Vec<(usize, SqlType)> {
            let operands = key.iter().zip(self.table.key_indices());
            operands
                .filter_map(|(operand, index)| Some((operand.number()?, column(index))))
                .collect()
        };
        match &self.action {
            Action::Select { key, .. } | Action::Delete { key } => {
                Box::new(of_key(key).into_iter())
            }
            Action::Insert { rows, schema, .. } => Box::new(rows.iter().flat_map(move |row| {
                let operands = row.iter().zip(schema.fields());
                operands.filter_map(|(operand, field)| {
                    let (_, column) = self.table.column(field.name())?;
                    Some((operand.number()?, column.sql_type.clone()))
                })
            })),
            Action::Update { key, values, .. } => {
                let set = values.iter().filter_map(move |(index, value)| match value {
                    NewValue::Operand(operand) => Some((operand.number()?, column(*index))),
                    NewValue::Expression(_) => None,
                });
                Box::new(set.chain(of_key(key)))
            }
        }
    }

    /// The columns that it gives; `None` where it gives none.
    pub(crate) fn fields(&self) -> Option<Vec<Field>> {
        match &self.action {
            Action::Select { fields, .. } => Some(fields.clone()),
            _ => None,
        }
    }

    /// Executes it outside a transaction; `None` where the values ask for the long path after all, and where the catalog
    /// is not the one any more under which it was recognised.
    pub(crate) async fn execute(
        &self,
        store: &Arc<Store>,
        catalog: &Arc<Catalog>,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        let Action::Select { .. } = &self.action else {
            return self.write(store, catalog, parameters).await;
        };
        let reading = store.reading().await?;
        match reading.table(self.table.id) {
            Some(view) if Arc::ptr_eq(reading.catalog(), catalog) => {
                self.select(&view, parameters).await
            }
            _ => Ok(None),
        }
    }

    /// Executes it inside a transaction, which it leaves half done where it fails.
    pub(crate) async fn execute_in(
        &self,
        transaction: &mut JointTransaction,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        if let Action::Select { .. } = &self.action {
            return match transaction.table(self.table.id) {
                Some(view) => self.select(&view, parameters).await,
                None => Ok(None),
            };
        }
        let done = self.apply(transaction, parameters).await?;
        Ok(done.map(|(command, rows)| Outcome::Done(Tag::counted(command, rows))))
    }

    async fn select(
        &self,
        view: &TableView,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        let Action::Select { key, columns, fields, schema } = &self.action else {
            return Ok(None);
        };
        let Some(key) = self.key_values(key, parameters)? else { return Ok(None) };
        let found = match view.encode_key(&key) {
            Ok(key) => view.find(&key, columns).await?,
            Err(_) => None,
        };
        let options = RecordBatchOptions::new().with_row_count(Some(usize::from(found.is_some())));
        let batches = match found {
            None => Vec::new(),
            Some(found) => {
                vec![RecordBatch::try_new_with_options(Arc::clone(schema), found, &options)?]
            }
        };
        let stream = MemoryStream::try_new(batches, Arc::clone(schema), None)?;
        Ok(Some(Outcome::Rows(Rows::ready(fields.clone(), stream, "SELECT"))))
    }

    async fn write(
        &self,
        store: &Arc<Store>,
        catalog: &Arc<Catalog>,
        parameters: &[ScalarValue],
    ) -> Result<Option<Outcome>> {
        for _ in 0..RETRIES {
            let mut transaction = store.begin_joint().await?;
            if !Arc::ptr_eq(transaction.catalog(), catalog) {
                return Ok(None);
            }
            let Some((command, rows)) = self.apply(&mut transaction, parameters).await? else {
                return Ok(None);
            };
            match transaction.commit().await {
                Ok(_) => return Ok(Some(Outcome::Done(Tag::counted(command, rows)))),
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    async fn apply(
        &self,
        transaction: &mut JointTransaction,
        parameters: &[ScalarValue],
    ) -> Result<Option<(&'static str, u64)>> {
        let id = self.table.id;
        match &self.action {
            Action::Select { .. } => Ok(None),
            Action::Insert { rows, assembly, schema } => {
                for row in rows {
                    let mut values = Vec::with_capacity(row.len());
                    for (operand, field) in row.iter().zip(schema.fields()) {
                        let value = operand.value(parameters)?;
                        values.push(one_value(value, field.data_type())?);
                    }
                    let row = one_row(&values);
                    transaction.insert(id, &assembly.assemble(&row?)?).await?;
                }
                Ok(Some(("INSERT", rows.len() as u64)))
            }
            Action::Update { key, values, constraints } => {
                let Some(key) = self.key_values(key, parameters)? else { return Ok(None) };
                let Some(view) = transaction.table(id) else { return Ok(None) };
                let Some(row) = self.row(&view, &key).await? else {
                    return Ok(Some(("UPDATE", 0)));
                };
                let mut columns = row.columns().to_vec();
                for (column, value) in values {
                    let value = match value {
                        NewValue::Operand(operand) => operand.value(parameters)?.to_array()?,
                        NewValue::Expression(expression) => {
                            let row = typed_rows(&self.table, &row)?;
                            expression.evaluate(&row)?.into_array(1)?
                        }
                    };
                    columns[*column] = assign(&value, &self.table.columns[*column])?;
                }
                transaction.upsert(id, &constraints.batch(columns)?).await?;
                Ok(Some(("UPDATE", 1)))
            }
            Action::Delete { key } => {
                let Some(key) = self.key_values(key, parameters)? else { return Ok(None) };
                let Some(view) = transaction.table(id) else { return Ok(None) };
                let key = view.encode_key(&key)?;
                let found = view.find(&key, &[]).await?.is_some();
                if found {
                    transaction.delete(id, &[key]).await?;
                }
                Ok(Some(("DELETE", u64::from(found))))
            }
        }
    }

    async fn row(&self, view: &TableView, key: &[ArrayRef]) -> Result<Option<RecordBatch>> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        let Ok(key) = view.encode_key(key) else { return Ok(None) };
        let Some(values) = view.find(&key, &all).await? else { return Ok(None) };
        Ok(RecordBatch::try_new(self.table.arrow_schema(), values).ok())
    }

    /// The key's values in its columns' types; `None` where a value does not convert exactly.
    fn key_values(
        &self,
        key: &[Operand],
        parameters: &[ScalarValue],
    ) -> Result<Option<Vec<ArrayRef>>> {
        let mut values = Vec::with_capacity(key.len());
        for (operand, index) in key.iter().zip(self.table.key_indices()) {
            let value = operand.value(parameters)?;
            let data_type = self.table.columns[index].sql_type.arrow();
            let same_kind = value.data_type() == data_type
                || value.data_type().is_integer() && data_type.is_integer()
                || value.data_type().is_string() && data_type.is_string();
            if !same_kind || value.is_null() {
                return Ok(None);
            }
            match one_value(value, &data_type) {
                Ok(array) if array.null_count() == 0 => values.push(array),
                _ => return Ok(None),
            }
        }
        Ok(Some(values))
    }
}

fn one_value(
    value: &ScalarValue,
    data_type: &datafusion::arrow::datatypes::DataType,
) -> Result<ArrayRef> {
    match value.data_type() == *data_type || !value.data_type().is_integer() {
        true => Ok(value.to_array()?),
        false if data_type.is_integer() => Ok(value.cast_to(data_type)?.to_array()?),
        false => Ok(value.to_array()?),
    }
}

fn one_row(values: &[ArrayRef]) -> Result<RecordBatch> {
    use datafusion::arrow::datatypes::Field;
    let fields = values.iter().map(|value| Field::new("", value.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(schema, values.to_vec(), &options)?)
}

/// The table of a FROM clause of one table without an alias.
fn only_table(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    from: &TableWithJoins,
    needed: Privileges,
) -> Option<Arc<Table>> {
    let TableFactor::Table { name, alias: None, args: None, .. } = &from.relation else {
        return None;
    };
    if !from.joins.is_empty() {
        return None;
    }
    match find(tables.catalog(), frame.path(), name) {
        Ok(Some(relation @ Relation::Table(table))) if !table.has_hidden_key() => {
            // What is not allowed is refused on the long path.
            frame.access(tables.catalog()).require(relation, needed).ok()?;
            Some(Arc::clone(table))
        }
        _ => None,
    }
}

/// The key's values from `k1 = a AND k2 = b`; `None` for every other condition.
fn key_of(table: &Table, condition: Option<&Expr>) -> Option<Vec<Operand>> {
    let mut equalities = Vec::new();
    collect_equalities(condition?, &mut equalities)?;
    let key = table.key_indices();
    if equalities.len() != key.len() {
        return None;
    }
    key.iter()
        .map(|index| {
            let name = &table.columns[*index].name;
            let position = equalities.iter().position(|(column, _)| column == name)?;
            Some(equalities.swap_remove(position).1)
        })
        .collect::<Option<Vec<_>>>()
        .filter(|_| equalities.is_empty())
}

fn collect_equalities(condition: &Expr, out: &mut Vec<(String, Operand)>) -> Option<()> {
    match condition {
        Expr::Nested(inner) => collect_equalities(inner, out),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            collect_equalities(left, out)?;
            collect_equalities(right, out)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            let (column, value) = match (&**left, &**right) {
                (Expr::Identifier(column), value) => (column, value),
                (value, Expr::Identifier(column)) => (column, value),
                _ => return None,
            };
            out.push((fold(column), Operand::of(value)?));
            Some(())
        }
        _ => None,
    }
}

fn select(frame: &Frame<'_>, tables: &dyn Tables, query: &Query) -> Option<Short> {
    let plain = query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty();
    let SetExpr::Select(select) = &*query.body else { return None };
    if !plain || !is_plain_select(select) {
        return None;
    }
    let table = only_table(frame, tables, &select.from[0], Privileges::SELECT)?;
    let key = key_of(&table, select.selection.as_ref())?;
    let mut columns = Vec::new();
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => {
                columns.push(declared_column(&table, &fold(name)).ok()?);
            }
            SelectItem::Wildcard(options) if options.to_string().is_empty() => {
                columns.extend(0..table.columns.len());
            }
            _ => return None,
        }
    }
    let schema = Arc::new(plan_schema(&table, &columns));
    let fields = columns.iter().map(|index| field_of(&table, *index)).collect();
    Some(Short { action: Action::Select { key, columns, fields, schema }, table })
}

fn is_plain_select(select: &Select) -> bool {
    let grouped = match &select.group_by {
        GroupByExpr::Expressions(by, modifiers) => !by.is_empty() || !modifiers.is_empty(),
        GroupByExpr::All(_) => true,
    };
    select.from.len() == 1
        && !grouped
        && select.distinct.is_none()
        && select.top.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && select.into.is_none()
        && select.named_window.is_empty()
        && select.lateral_views.is_empty()
}

fn insert(frame: &Frame<'_>, tables: &dyn Tables, insert: &Insert) -> Result<Option<Short>> {
    let plain = insert.on.is_none() && insert.returning.is_none() && insert.table_alias.is_none();
    let (TableObject::TableName(name), Some(source), true) = (&insert.table, &insert.source, plain)
    else {
        return Ok(None);
    };
    let SetExpr::Values(values) = &*source.body else { return Ok(None) };
    let table = match find(tables.catalog(), frame.path(), name)? {
        Some(relation @ Relation::Table(table)) => {
            frame.access(tables.catalog()).require(relation, Privileges::INSERT)?;
            Arc::clone(table)
        }
        _ => return Ok(None),
    };
    if table.columns.iter().any(|column| column.identity.is_some()) {
        return Ok(None);
    }
    let mut given = Vec::new();
    for name in &insert.columns {
        let Some(name) = name.0.last().and_then(|part| part.as_ident()) else { return Ok(None) };
        let column = declared_column(&table, &fold(name))?;
        if given.contains(&column) {
            return Ok(None);
        }
        given.push(column);
    }
    if given.is_empty() {
        given = (0..table.columns.len()).filter(|index| !table.columns[*index].hidden).collect();
    }
    if given.iter().any(|index| table.columns[*index].generated.is_some()) {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for row in &values.rows {
        let operands = row.content.iter().filter(|value| !is_default(value)).map(Operand::of);
        match operands.collect::<Option<Vec<_>>>() {
            Some(row) if row.len() == given.len() => rows.push(row),
            _ => return Ok(None),
        }
    }
    let planner = frame.planner(tables);
    let store = &frame.session.shared.store;
    let assembly = Box::new(Assembly::new(&planner, store, &table, &given)?);
    if !assembly.is_lasting() {
        return Ok(None);
    }
    let schema = Arc::new(plan_schema(&table, &given));
    Ok(Some(Short { table, action: Action::Insert { rows, assembly, schema } }))
}

fn update(frame: &Frame<'_>, tables: &dyn Tables, update: &Update) -> Result<Option<Short>> {
    if update.from.is_some() || update.returning.is_some() {
        return Ok(None);
    }
    let needed = Privileges::UPDATE.union(Privileges::SELECT);
    let Some(table) = only_table(frame, tables, &update.table, needed) else { return Ok(None) };
    let Some(key) = key_of(&table, update.selection.as_ref()) else { return Ok(None) };
    let planner = frame.planner(tables);
    let schema = DFSchema::try_from_qualified_schema(&table.name, &row_schema(&table))?;
    let mut values = Vec::new();
    for assignment in &update.assignments {
        if matches!(assignment.target, AssignmentTarget::Tuple(_)) {
            return Ok(None);
        }
        let column = assigned_column(&table, &assignment.target)?;
        let definition = &table.columns[column];
        if table.key.contains(&definition.id)
            || definition.identity.is_some()
            || definition.generated.is_some()
            || is_default(&assignment.value)
        {
            return Ok(None);
        }
        let value = match Operand::of(&assignment.value) {
            Some(operand) => NewValue::Operand(operand),
            None if assignment.value.to_string().contains(['$', '(']) => return Ok(None),
            None => match planner.plan_expression(assignment.value.clone(), &schema)? {
                (value, physical) if is_lasting(&value) => NewValue::Expression(physical),
                _ => return Ok(None),
            },
        };
        values.push((column, value));
    }
    let constraints = Constraints::new(&planner, &table)?;
    if !constraints.is_lasting() {
        return Ok(None);
    }
    Ok(Some(Short { table, action: Action::Update { key, values, constraints } }))
}

fn delete(frame: &Frame<'_>, tables: &dyn Tables, delete: &Delete) -> Option<Short> {
    if delete.using.is_some() || delete.returning.is_some() {
        return None;
    }
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [from] = &from[..] else { return None };
    let table = only_table(frame, tables, from, Privileges::DELETE.union(Privileges::SELECT))?;
    let key = key_of(&table, delete.selection.as_ref())?;
    Some(Short { table, action: Action::Delete { key } })
}
