//! Aggregates that users define: a state, and functions that make the next one.

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::filter;
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use foreign::Definition;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use values::translate::external;

/// An expression over one row of a schema.
#[derive(Debug, Clone, Eq)]
pub struct Step {
    /// The expression.
    pub expr: Arc<dyn PhysicalExpr>,
    /// The columns.
    pub schema: SchemaRef,
    /// Whether it is NULL if a column is.
    pub is_strict: bool,
}

impl Fold {
    /// Its steps.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        [&self.transition].into_iter().chain(&self.combine).chain(&self.finish)
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.expr.eq(&other.expr)
            && self.schema == other.schema
            && self.is_strict == other.is_strict
    }
}

impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.expr.hash(state);
        self.schema.hash(state);
        self.is_strict.hash(state);
    }
}

/// What an aggregate does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fold {
    /// The name.
    pub name: String,
    /// The first state.
    pub initial: ScalarValue,
    /// From a state and the arguments of a row to the next state.
    pub transition: Step,
    /// From two states to one.
    pub combine: Option<Step>,
    /// From the last state to the value.
    pub finish: Option<Step>,
    /// The value.
    pub result: FieldRef,
}

/// The aggregate of the engine. Without a step that combines states it takes all rows in one place.
pub fn folded(fold: Fold) -> AggregateUDF {
    let signature = Signature::variadic_any(Volatility::Immutable);
    AggregateUDF::new_from_impl(Folded { fold, signature })
}

/// What an aggregate does that [`folded`] has made; `None` for others.
pub fn fold_of(function: &AggregateUDF) -> Option<&Fold> {
    function.inner().downcast_ref::<Folded>().map(|folded| &folded.fold)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Folded {
    fold: Fold,
    signature: Signature,
}

impl AggregateUDFImpl for Folded {
    fn name(&self) -> &str {
        &self.fold.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.fold.result.data_type().clone())
    }

    fn return_field(&self, _: &[FieldRef]) -> Result<FieldRef> {
        Ok(Arc::clone(&self.fold.result))
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let state = self.fold.initial.to_array_of_size(1)?;
        let direct = direct(&self.fold.transition);
        Ok(Box::new(Folding { fold: self.fold.clone(), state, has_begun: false, direct }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let state = self.fold.transition.schema.field(0).clone();
        Ok(vec![Arc::new(state.with_name(format!("{}[state]", args.name)).with_nullable(true))])
    }
}

/// A group.
#[derive(Debug)]
struct Folding {
    fold: Fold,
    /// The state, as an array of one value.
    state: ArrayRef,
    /// Whether the state is more than the first one.
    has_begun: bool,
    /// The function in another language that the transition calls, and nothing else.
    direct: Option<Arc<Definition>>,
}

/// The function that a step calls with its columns in their order, if it is in another language.
fn direct(step: &Step) -> Option<Arc<Definition>> {
    let call = step.expr.downcast_ref::<ScalarFunctionExpr>()?;
    let is_column = |(at, argument): (usize, &Arc<dyn PhysicalExpr>)| {
        argument.downcast_ref::<Column>().is_some_and(|column| column.index() == at)
    };
    let is_direct = call.args().len() == step.schema.fields().len()
        && call.args().iter().enumerate().all(is_column);
    foreign::of_function(call.fun()).filter(|_| is_direct).cloned()
}

/// How many rows are taken before the end of the statement is noticed.
const ROWS: usize = 256;

impl Folding {
    /// Takes the arguments of rows by one session of a function.
    fn take_all(&mut self, definition: &Definition, arguments: &[ArrayRef]) -> Result<()> {
        let mut arguments = arguments.to_vec();
        let mut first = 0;
        if self.fold.transition.is_strict {
            let nulls = arguments.iter().fold(None, |nulls: Option<NullBuffer>, argument| {
                NullBuffer::union(nulls.as_ref(), argument.logical_nulls().as_ref())
            });
            if let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) {
                let given = BooleanArray::new(nulls.inner().clone(), None);
                let kept = arguments.iter().map(|argument| filter(argument, &given));
                arguments = kept.collect::<std::result::Result<_, _>>()?;
            }
            let rows = arguments.first().map_or(0, |argument| argument.len());
            if rows == 0 || self.has_begun && self.state.is_null(0) {
                return Ok(());
            }
            if self.state.is_null(0) {
                self.state = arguments[0].slice(0, 1);
                (self.has_begun, first) = (true, 1);
            }
        }
        let rows = arguments.first().map_or(0, |argument| argument.len()) - first;
        if rows > 0 {
            let rest = arguments.iter().map(|argument| argument.slice(first, rows));
            let state = Arc::clone(&self.state);
            let state = definition.fold(state, &rest.collect::<Vec<_>>(), rows);
            self.state = state.map_err(external)?;
            self.has_begun = true;
        }
        Ok(())
    }

    /// Takes the arguments of a row.
    fn take(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        if self.fold.transition.is_strict {
            if arguments.iter().any(|argument| argument.is_null(0)) {
                return Ok(());
            }
            if self.state.is_null(0) {
                if !self.has_begun
                    && let Some(first) = arguments.first()
                {
                    self.state = Arc::clone(first);
                    self.has_begun = true;
                }
                return Ok(());
            }
        }
        let columns = [&self.state].into_iter().chain(arguments).cloned().collect();
        self.state = value(&self.fold.transition, columns)?;
        self.has_begun = true;
        Ok(())
    }

    /// Takes the state of other rows.
    fn take_state(&mut self, other: ArrayRef) -> Result<()> {
        let Some(combine) = &self.fold.combine else {
            return internal_err!("the states of {} cannot be combined", self.fold.name);
        };
        if combine.is_strict && other.is_null(0) {
            return Ok(());
        }
        self.state = match !self.has_begun || combine.is_strict && self.state.is_null(0) {
            true => other,
            false => value(combine, vec![Arc::clone(&self.state), other])?,
        };
        self.has_begun = true;
        Ok(())
    }
}

/// The value of a step for one row.
fn value(step: &Step, columns: Vec<ArrayRef>) -> Result<ArrayRef> {
    let columns = columns.into_iter().zip(step.schema.fields());
    let columns = columns.map(|(column, field)| match column.data_type() == field.data_type() {
        true => Ok(column),
        false => datafusion::arrow::compute::cast(&column, field.data_type()),
    });
    let row = RecordBatch::try_new(Arc::clone(&step.schema), columns.collect::<Result<_, _>>()?)?;
    step.expr.evaluate(&row)?.into_array(1)
}

impl Accumulator for Folding {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let count = self.fold.transition.schema.fields().len() - 1;
        let rows = values.first().map_or(0, |column| column.len());
        if let Some(definition) = self.direct.clone().filter(|_| count > 0 && rows > 0) {
            return self.take_all(&definition, &values[..count]);
        }
        for row in 0..rows {
            if row.is_multiple_of(ROWS) {
                executor::check().map_err(external)?;
            }
            let arguments: Vec<ArrayRef> =
                values[..count].iter().map(|column| column.slice(row, 1)).collect();
            self.take(&arguments)?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = match &self.fold.finish {
            Some(finish) => value(finish, vec![Arc::clone(&self.state)])?,
            None => Arc::clone(&self.state),
        };
        ScalarValue::try_from_array(&value, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.state.get_array_memory_size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::try_from_array(&self.state, 0)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(states) = states.first() else { return Ok(()) };
        (0..states.len()).try_for_each(|row| self.take_state(states.slice(row, 1)))
    }
}
