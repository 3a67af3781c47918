//! The expressions and conditions of indexes: planned once, computed where rows change, known to scans.

use catalog_views::functions::Functions;
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::common::{Column, DFSchema};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use executor::short_circuit;
use optimizer::with_exact_decimals;
use parking_lot::Mutex;
use planner::casts;
use scan::index_lookup::meaning::{Meaning, Meanings};
use scan::index_lookup::unqualified;
use scan::provider::plan_schema;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use store::catalog::{Index, IndexKey, SqlType, Table, TableId};
use store::{IndexExpressions, IndexedRows};
use table_rows::expressions::{self, OverRow, With};
use values::error::{Error, Result, SqlState};
use values::json::order;
use values::style::Style;
use values::translate::to_store_error;

/// The most indexes whose expressions are kept.
const KEPT_MAX: usize = 1024;

/// Plans and computes the expressions of indexes.
pub(crate) struct Indexes {
    engine: SessionState,
    kept: Mutex<HashMap<TableId, Arc<Planned>>>,
}

/// An index whose expressions are planned.
struct Planned {
    index: Arc<Index>,
    table: Arc<Table>,
    meaning: Arc<Meaning>,
    /// Over the columns that the index reads: its expressions in order, the condition last.
    expressions: Vec<Arc<dyn PhysicalExpr>>,
}

impl fmt::Debug for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Indexes")
    }
}

/// What computes the expressions of indexes in a store without a database.
///
/// # Errors
/// Those of the engine.
pub fn index_expressions() -> Result<Arc<dyn IndexExpressions>> {
    let mut engine = SessionStateBuilder::new().with_default_features().build();
    functions::register_shared(&mut engine)?;
    Ok(Arc::new(Indexes::new(engine)))
}

impl Indexes {
    /// With the functions of an engine.
    pub(crate) fn new(engine: SessionState) -> Self {
        Self { engine, kept: Mutex::default() }
    }

    /// The expressions of an index of a version of its table.
    fn planned(&self, index: &Arc<Index>, table: &Arc<Table>) -> Result<Arc<Planned>> {
        let id = index.file.id;
        let is_same =
            |of: &Arc<Planned>| Arc::ptr_eq(&of.index, index) && Arc::ptr_eq(&of.table, table);
        if let Some(planned) = self.kept.lock().get(&id).filter(|planned| is_same(planned)) {
            return Ok(Arc::clone(planned));
        }
        let planned = Arc::new(self.plan(index, table)?);
        let mut kept = self.kept.lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(id, Arc::clone(&planned));
        Ok(planned)
    }

    fn plan(&self, index: &Arc<Index>, table: &Arc<Table>) -> Result<Planned> {
        let functions = Functions::without_session(&self.engine);
        // An index is kept up where there is no session.
        let with = With { engine: &self.engine, functions: &functions, user_functions: None };
        let OverRow { schema, exprs, .. } = expressions::plan_index(with, table, index)?;
        let inputs = Arc::new(plan_schema(table, &index.input_positions(table)));
        let inputs = DFSchema::try_from(inputs)?;
        let (mut meanings, mut expressions) = (Vec::new(), Vec::new());
        for expr in exprs {
            let logical = casts::converted(expr, &schema, Style::default())?.data;
            let context = SimplifyContext::builder().with_schema(Arc::clone(&schema));
            let context = context.with_config_options(Arc::clone(self.engine.config_options()));
            let simplifier = ExprSimplifier::new(context.build());
            let exact = with_exact_decimals(logical.clone(), &schema, &simplifier)?;
            meanings.push(unqualified(simplifier.simplify(exact)?));
            let callable = lowering::callable(logical, &schema, &self.engine)?;
            let computed = self.engine.create_physical_expr(unqualified(callable), &inputs)?;
            expressions.push(short_circuit(computed)?);
        }
        let predicate = index.predicate.as_ref().and_then(|_| meanings.pop());
        let mut meanings = meanings.into_iter();
        let key = |key: &IndexKey| match key {
            IndexKey::Column(id) => {
                let column = &table.columns[table.position(*id)?];
                Some(Expr::Column(Column::new_unqualified(&column.name)))
            }
            IndexKey::Expression(_) => meanings.next(),
        };
        let keys = index.columns.iter().map(|column| &column.key).filter_map(key).collect();
        let meaning = Arc::new(Meaning { keys, predicate });
        Ok(Planned { index: Arc::clone(index), table: Arc::clone(table), meaning, expressions })
    }
}

impl Planned {
    fn compute(&self, inputs: &[ArrayRef], rows: usize) -> Result<IndexedRows> {
        let (index, table) = (&*self.index, &*self.table);
        let places = index.input_positions(table);
        let schema = plan_schema(table, &places);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(schema), inputs.to_vec(), &options)?;
        let keys = self.expressions.len() - usize::from(index.predicate.is_some());
        let (keys, predicate) = self.expressions.split_at(keys);
        let fulfils = match predicate {
            [predicate, ..] => {
                Some(predicate.evaluate(&batch)?.into_array(rows)?.as_boolean().clone())
            }
            [] => None,
        };
        // Keys may fail for the rows that the index does not have.
        let mut computed = keys.iter().map(|expression| {
            let value = match &fulfils {
                Some(fulfils) => expression.evaluate_selection(&batch, fulfils)?,
                None => expression.evaluate(&batch)?,
            };
            Ok(value.into_array(rows)?)
        });
        let mut next = || computed.next().unwrap_or_else(|| Err(missing()));
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(index.columns.len());
        for column in &index.columns {
            let (value, sql_type) = match &column.key {
                IndexKey::Column(id) => {
                    let place = table.position(*id).ok_or_else(missing)?;
                    let at = places.iter().position(|at| *at == place).ok_or_else(missing)?;
                    let value = inputs.get(at).ok_or_else(missing)?;
                    (Arc::clone(value), &table.columns[place].sql_type)
                }
                IndexKey::Expression(of) => (cast(&next()?, &of.sql_type.arrow())?, &of.sql_type),
            };
            columns.push(match sql_type.representation() {
                SqlType::Jsonb => Arc::new(order::keys(value.as_string_view())?),
                _ => value,
            });
        }
        Ok(IndexedRows { columns, fulfils })
    }
}

fn missing() -> Error {
    Error::new(SqlState::InternalError, "an expression of an index is missing")
}

impl IndexExpressions for Indexes {
    fn indexed(
        &self,
        index: &Arc<Index>,
        table: &Arc<Table>,
        inputs: &[ArrayRef],
        rows: usize,
    ) -> std::result::Result<IndexedRows, store::Error> {
        let planned = self.planned(index, table).map_err(to_store_error)?;
        if rows == 0 {
            return Ok(IndexedRows::default());
        }
        planned.compute(inputs, rows).map_err(to_store_error)
    }
}

impl Meanings for Indexes {
    fn meaning(&self, index: &Arc<Index>, table: &Arc<Table>) -> Option<Arc<Meaning>> {
        self.planned(index, table).ok().map(|planned| Arc::clone(&planned.meaning))
    }
}
