//! A correlated subquery as a scalar function of its outer columns.

use super::bind::{Bound, bind};
use super::domain::{Domain, Rows};
use super::index::{Found, Index};
use super::keyed::Keyed;
use super::late::{Failures, Outcome, carrying};
use super::members::Members;
use super::outside;
use crate::physical_plan;
use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, StructArray, UInt64Array};
use datafusion::arrow::compute::{cast, concat_batches, take};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::async_udf::AsyncScalarUDFImpl;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl,
    Signature, TypeSignature, Volatility,
};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, collect};
use executor::comes_late;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::OnceCell;
use values::error::{Error, SqlState};
use values::translate::external;

/// The result that an expression takes from a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    /// The value of its single row; NULL without a row.
    Value,
    /// Whether it has a row.
    Exists { negated: bool },
    /// Whether it returns the argument behind the outer columns (IN).
    Contains { negated: bool },
    /// All rows, as an array of composites; NULL without a row.
    Rows,
}

/// A correlated subquery as a function. Its arguments are the outer columns, for IN the value, and
/// the expressions that equal its keys if its rows have keys.
pub struct SubqueryFunction {
    plan: Arc<LogicalPlan>,
    columns: Vec<Column>,
    answer: Answer,
    /// The type of the answer.
    returns: DataType,
    /// The errors of answers, if they are raised where rows need these.
    failures: Option<Arc<Failures>>,
    /// Whether rows with the same arguments have answers of their own.
    is_volatile: bool,
    signature: Signature,
    engine: Arc<SessionState>,
    /// Number of executions.
    runs: AtomicU64,
    /// The subquery without its correlation, if it has such a form.
    keyed: Option<Keyed>,
    /// The rows of `keyed`; `None` if they cannot be had.
    index: OnceCell<Option<Index>>,
    /// The values among which IN looks, if no outer column decides which these are.
    members: OnceCell<Members>,
    /// The plan for the sets of outer values of the first batch, if it ran for all of them at once.
    together: OnceLock<LogicalPlan>,
}

/// Values up to which a subquery runs for each of them, and is not indexed.
const VALUES_BY_ROW: usize = 16;

/// Sets of outer values up to which a subquery runs for each of them, if its rows have no keys.
const SETS_BY_ROW: usize = 4;

/// Rows that are read and indexed in the time that it takes to plan and run a subquery.
const ROWS_PER_RUN: usize = 500;

impl SubqueryFunction {
    pub(super) fn new(
        plan: Arc<LogicalPlan>,
        columns: Vec<Column>,
        answer: Answer,
        is_late: bool,
        engine: Arc<SessionState>,
    ) -> Result<Self> {
        let returns = match answer {
            Answer::Value => plan.schema().field(0).data_type().clone(),
            Answer::Exists { .. } | Answer::Contains { .. } => DataType::Boolean,
            Answer::Rows => {
                let row = DataType::Struct(row_fields(&plan));
                DataType::List(Arc::new(Field::new_list_field(row, true)))
            }
        };
        // Volatile: the optimizer must neither move the call nor evaluate it.
        let kinds = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
        let signature = Signature::one_of(kinds, Volatility::Volatile);
        let keyed = Keyed::of(&plan, &columns)?;
        let is_volatile = !columns.is_empty() && outside::is_volatile(&plan)?;
        Ok(Self {
            plan,
            columns,
            answer,
            returns,
            failures: is_late.then(Arc::default),
            is_volatile,
            signature,
            engine,
            runs: AtomicU64::new(0),
            keyed,
            index: OnceCell::new(),
            members: OnceCell::new(),
            together: OnceLock::new(),
        })
    }

    /// The outer columns, which are the first arguments.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The expressions over outer columns that equal the keys of the subquery's rows. They are the
    /// last arguments.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Expr> {
        self.keyed.iter().flat_map(|keyed| keyed.outer.iter().map(|(expr, _)| expr))
    }

    /// The errors of answers, if they are raised where rows need these.
    pub(super) fn failures(&self) -> Option<&Arc<Failures>> {
        self.failures.as_ref()
    }

    /// What an answer is.
    pub(super) fn field(&self) -> FieldRef {
        let field = Field::new(self.name(), self.returns.clone(), true);
        Arc::new(match self.answer {
            Answer::Value => field.with_metadata(self.plan.schema().field(0).metadata().clone()),
            _ => field,
        })
    }

    /// Number of executions.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// The physical plan for values of the outer columns, in the order of
    /// [`columns`](Self::columns).
    ///
    /// # Errors
    /// As planning the subquery.
    pub async fn plan(&self, values: &[ScalarValue]) -> Result<Arc<dyn ExecutionPlan>> {
        let values = values.iter().cloned().map(Bound::Value);
        let bound: Vec<(Column, Bound)> = self.columns.iter().cloned().zip(values).collect();
        let plan = bind(&self.plan, &bound)?;
        Box::pin(physical_plan(&self.engine, &plan)).await
    }

    /// The physical plan that found the rows for many sets of outer values at once, if one did: for all of them by key, or
    /// for those of the first batch.
    ///
    /// # Errors
    /// As planning the subquery.
    pub async fn plan_for_many(&self) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let plan = match (&self.keyed, self.index.get()) {
            (Some(keyed), Some(Some(_))) => Some(&keyed.plan),
            _ => self.together.get(),
        };
        match plan {
            Some(plan) => Box::pin(physical_plan(&self.engine, plan)).await.map(Some),
            None => Ok(None),
        }
    }

    async fn rows(&self, values: &[ScalarValue]) -> Result<RecordBatch> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let physical = self.plan(values).await?;
        let schema = physical.schema();
        let batches = collect(physical, self.engine.task_ctx()).await?;
        Ok(concat_batches(&schema, &batches)?)
    }

    /// The rows of the subquery by key, if finding them there is faster than running the subquery
    /// for each of `values` outer values.
    async fn index(&self, values: usize) -> Result<Option<(&Keyed, &Index)>> {
        let Some(keyed) = &self.keyed else { return Ok(None) };
        if !self.index.initialized() {
            if values <= VALUES_BY_ROW {
                return Ok(None);
            }
            let plan = Box::pin(physical_plan(&self.engine, &keyed.plan)).await?;
            let rows = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?;
            let rows = &rows.num_rows;
            if rows.get_value().is_some_and(|rows| *rows > values.saturating_mul(ROWS_PER_RUN)) {
                return Ok(None);
            }
            // Rows that no outer value needs may fail. Then the subquery runs for each value.
            let build = async || {
                self.runs.fetch_add(1, Ordering::Relaxed);
                Index::build(keyed, plan, &self.engine).await.ok()
            };
            self.index.get_or_init(build).await;
        }
        Ok(self.index.get().and_then(Option::as_ref).map(|index| (keyed, index)))
    }

    /// The rows of the subquery for each of `count` sets of outer values, if it can run for all at once.
    async fn together(&self, arguments: &[ArrayRef], count: usize) -> Result<Option<Rows>> {
        if self.keyed.is_some() || count <= SETS_BY_ROW || self.columns.is_empty() {
            return Ok(None);
        }
        let sets = &arguments[..self.columns.len()];
        let is_asked = matches!(self.answer, Answer::Exists { .. });
        let Some(domain) = Domain::of(&self.plan, &self.columns, sets, is_asked)? else {
            return Ok(None);
        };
        self.runs.fetch_add(1, Ordering::Relaxed);
        let plan = domain.plan.clone();
        // Rows that no answer needs may fail, or take too much memory. Then the subquery runs for each set.
        let rows = domain.rows(count, &self.engine).await.ok();
        if rows.is_some() {
            self.together.get_or_init(|| plan);
        }
        Ok(rows)
    }

    /// The answers of an IN whose subquery has no outer columns; `None` for others.
    async fn among_all(&self, arguments: &[ArrayRef]) -> Result<Option<Vec<ScalarValue>>> {
        let (Answer::Contains { negated }, [wanted]) = (self.answer, arguments) else {
            return Ok(None);
        };
        if !self.columns.is_empty() || !Members::hold(wanted.data_type()) {
            return Ok(None);
        }
        let build = async || {
            self.runs.fetch_add(1, Ordering::Relaxed);
            Members::build(self.plan(&[]).await?, wanted.data_type(), &self.engine).await
        };
        let found = self.members.get_or_try_init(build).await?.contain(wanted)?;
        let answer = |found: Option<bool>| ScalarValue::Boolean(found.map(|is| is != negated));
        Ok(Some(found.into_iter().map(answer).collect()))
    }

    /// The answers for outer values, which are distinct rows of the arguments.
    async fn answers(
        &self,
        arguments: &[ArrayRef],
        values: &[Vec<ScalarValue>],
    ) -> Result<Vec<Outcome>> {
        if let Some(answers) = self.among_all(arguments).await? {
            return Ok(answers.into_iter().map(Ok).collect());
        }
        let mut answers = Vec::with_capacity(values.len());
        let Some((keyed, index)) = self.index(values.len()).await? else {
            let together = self.together(arguments, values.len()).await?;
            let nothing = OnceCell::new();
            for (set, values) in values.iter().enumerate() {
                let answer = match &together {
                    None => self.answer_of(values).await,
                    Some(rows) => match rows.of(set)? {
                        Found::Rows(rows) => self.answer(&rows, values),
                        Found::Nothing => self.answer_of_none(&nothing, values).await,
                    },
                };
                answers.push(self.outcome(answer)?);
            }
            return Ok(answers);
        };
        for (found, values) in index
            .find(keyed, &arguments[arguments.len() - keyed.outer.len()..])?
            .into_iter()
            .zip(values)
        {
            let answer = match found {
                Found::Rows(rows) => self.answer(&rows, values),
                Found::Nothing => self.answer_of_none(index.nothing(), values).await,
            };
            answers.push(self.outcome(answer)?);
        }
        Ok(answers)
    }

    /// The answer of the subquery for a set of outer values.
    async fn answer_of(&self, values: &[ScalarValue]) -> Result<ScalarValue> {
        self.answer(&self.rows(values).await?, values)
    }

    /// The answer for outer values without rows, of which `nothing` is what the subquery returns for them.
    async fn answer_of_none(
        &self,
        nothing: &OnceCell<RecordBatch>,
        values: &[ScalarValue],
    ) -> Result<ScalarValue> {
        let run = || self.rows(values);
        self.answer(nothing.get_or_try_init(run).await?, values)
    }

    /// An answer, whose error may be raised later.
    fn outcome(&self, answer: Result<ScalarValue>) -> Result<Outcome> {
        let error = match answer {
            Ok(answer) => return Ok(Ok(answer)),
            Err(error) if self.failures.is_none() => return Err(error),
            Err(error) => Error::from(error),
        };
        if comes_late(&error) { Ok(Err(error)) } else { Err(external(error)) }
    }

    fn answer(&self, rows: &RecordBatch, arguments: &[ScalarValue]) -> Result<ScalarValue> {
        match self.answer {
            Answer::Value if rows.num_rows() > 1 => {
                let message = "more than one row returned by a subquery used as an expression";
                Err(external(Error::new(SqlState::CardinalityViolation, message)))
            }
            Answer::Value if rows.num_rows() == 0 => ScalarValue::try_from(&self.returns),
            Answer::Value => ScalarValue::try_from_array(&cast(rows.column(0), &self.returns)?, 0),
            Answer::Exists { negated } => {
                Ok(ScalarValue::Boolean(Some((rows.num_rows() > 0) != negated)))
            }
            Answer::Contains { negated } => {
                let found = contains(rows.column(0), arguments.get(self.columns.len()))?;
                Ok(ScalarValue::Boolean(found.map(|found| found != negated)))
            }
            Answer::Rows if rows.num_rows() == 0 => ScalarValue::try_from(&self.returns),
            Answer::Rows => {
                let fields = row_fields(&self.plan);
                let columns = rows.columns().iter().zip(&fields);
                let columns = columns.map(|(array, field)| Ok(cast(array, field.data_type())?));
                let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
                let rows = StructArray::try_new(fields, columns, None)?;
                Ok(SingleRowListArrayBuilder::new(Arc::new(rows)).build_list_scalar())
            }
        }
    }
}

/// The fields of a subquery's rows, named by position, because column names may repeat. Their metadata says what their types
/// are.
pub(super) fn row_fields(plan: &LogicalPlan) -> Fields {
    let field = |(index, field): (usize, &FieldRef)| {
        field.as_ref().clone().with_name(row_field(index)).with_nullable(true)
    };
    plan.schema().fields().iter().enumerate().map(field).collect()
}

/// The field name of column `index` of a subquery.
pub(super) fn row_field(index: usize) -> String {
    format!("c{index}")
}

/// Whether a value is among others; `None` if it is unknown because of NULLs.
fn contains(values: &ArrayRef, wanted: Option<&ScalarValue>) -> Result<Option<bool>> {
    let wanted = match wanted {
        _ if values.is_empty() => return Ok(Some(false)),
        Some(wanted) if !wanted.is_null() => wanted,
        _ => return Ok(None),
    };
    let values = cast(values, &wanted.data_type())?;
    for row in 0..values.len() {
        if values.is_valid(row) && ScalarValue::try_from_array(&values, row)? == *wanted {
            return Ok(Some(true));
        }
    }
    Ok((values.null_count() == 0).then_some(false))
}

impl std::fmt::Debug for SubqueryFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubqueryFunction").field("answer", &self.answer).finish_non_exhaustive()
    }
}

impl PartialEq for SubqueryFunction {
    fn eq(&self, other: &Self) -> bool {
        self.answer == other.answer && Arc::ptr_eq(&self.plan, &other.plan)
    }
}

impl Eq for SubqueryFunction {}

impl Hash for SubqueryFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.answer.hash(state);
        Arc::as_ptr(&self.plan).hash(state);
    }
}

impl ScalarUDFImpl for SubqueryFunction {
    fn name(&self) -> &str {
        "subquery"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.failures {
            Some(_) => carrying(&self.returns),
            None => self.returns.clone(),
        })
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(match self.failures {
            Some(_) => Arc::new(Field::new(self.name(), carrying(&self.returns), true)),
            None => self.field(),
        })
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(super::unsupported("a correlated subquery in this context"))
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for SubqueryFunction {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays = args.args.iter().map(|arg| arg.to_array(rows));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let mut known: HashMap<(Option<usize>, Vec<ScalarValue>), usize> = HashMap::new();
        let (mut distinct, mut firsts) = (Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(rows);
        for row in 0..rows {
            let values = arrays.iter().map(|array| ScalarValue::try_from_array(array, row));
            let values = values.collect::<Result<Vec<_>>>()?;
            let own = self.is_volatile.then_some(row);
            let place = *known.entry((own, values)).or_insert_with_key(|(_, values)| {
                distinct.push(values.clone());
                firsts.push(row as u64);
                distinct.len() - 1
            });
            places.push(place);
        }
        let firsts = UInt64Array::from(firsts);
        let arrays = arrays.iter().map(|array| Ok(take(array, &firsts, None)?));
        let answers = self.answers(&arrays.collect::<Result<Vec<_>>>()?, &distinct).await;
        let answers = match answers {
            Ok(answers) => answers,
            // No set of values has an answer.
            Err(error) => vec![self.outcome(Err(error))?; distinct.len()],
        };
        let answers = places.into_iter().map(|place| answers[place].clone());
        if let Some(failures) = &self.failures {
            let answers: Vec<Outcome> = answers.collect();
            return Ok(ColumnarValue::Array(failures.carried(&answers, &self.returns)?));
        }
        let answers: Vec<ScalarValue> =
            answers.collect::<std::result::Result<_, Error>>().map_err(external)?;
        if answers.is_empty() {
            let none = datafusion::arrow::array::new_empty_array(&self.returns);
            return Ok(ColumnarValue::Array(none));
        }
        Ok(ColumnarValue::Array(ScalarValue::iter_to_array(answers)?))
    }
}
