//! The function that computes a long expression.

use crate::logic::Logic;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array,
};
use datafusion::arrow::compute::{and_kleene, or_kleene};
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A step of the computation.
#[derive(Debug, Eq)]
pub struct Step {
    /// What is computed.
    pub value: Arc<dyn PhysicalExpr>,
    /// The column that holds the value for the next step; `None` for the last.
    pub column: Option<usize>,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        *self.value == *other.value && self.column == other.column
    }
}

impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
        self.column.hash(state);
    }
}

/// A function of columns that computes steps.
#[derive(Debug)]
pub struct Computed {
    /// The arguments, and the values of steps.
    schema: SchemaRef,
    arguments: usize,
    steps: Vec<Step>,
    /// How the values of all steps are joined; `None` if the last is the result.
    logic: Option<Logic>,
    result: FieldRef,
    /// The hash of the steps: plans hash and write expressions often.
    hash: u64,
    signature: Signature,
}

impl Computed {
    /// The function as the engine calls it.
    pub fn function(
        schema: SchemaRef,
        arguments: usize,
        steps: Vec<Step>,
        logic: Option<Logic>,
        result: FieldRef,
        volatility: Volatility,
    ) -> ScalarUDF {
        let mut hasher = DefaultHasher::new();
        (&steps, logic).hash(&mut hasher);
        let hash = hasher.finish();
        let signature = Signature::user_defined(volatility);
        ScalarUDF::new_from_impl(Self { schema, arguments, steps, logic, result, hash, signature })
    }
}

impl PartialEq for Computed {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || self.hash == other.hash
                && (&self.schema, &self.steps, self.logic)
                    == (&other.schema, &other.steps, other.logic)
    }
}

impl Eq for Computed {}

impl Hash for Computed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl ScalarUDFImpl for Computed {
    fn name(&self) -> &'static str {
        "computed"
    }

    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        let arguments: Vec<String> =
            arguments.iter().map(|argument| argument.schema_name().to_string()).collect();
        Ok(format!("computed({}, {:016x})", arguments.join(", "), self.hash))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.data_type().clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::clone(&self.result))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for argument in args.args {
            columns.push(argument.into_array(rows)?);
        }
        for field in &self.schema.fields()[self.arguments..] {
            columns.push(new_null_array(field.data_type(), rows));
        }
        match self.logic {
            None => self.last(columns, rows),
            Some(logic) => self.joined(columns, rows, logic),
        }
    }
}

impl Computed {
    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }

    /// The value of the last step.
    fn last(&self, mut columns: Vec<ArrayRef>, rows: usize) -> Result<ColumnarValue> {
        let mut last = new_null_array(self.result.data_type(), rows);
        for step in &self.steps {
            let batch = self.batch(columns.clone(), rows)?;
            let value = step.value.evaluate(&batch)?.into_array(rows)?;
            match step.column {
                Some(column) => columns[column] = value,
                None => last = value,
            }
        }
        Ok(ColumnarValue::Array(last))
    }

    /// The conditions of all steps, joined. The rest is not computed once all rows are decided.
    fn joined(&self, columns: Vec<ArrayRef>, rows: usize, logic: Logic) -> Result<ColumnarValue> {
        let batch = self.batch(columns, rows)?;
        let mut all = BooleanArray::from(vec![logic == Logic::And; rows]);
        for step in &self.steps {
            let value = step.value.evaluate(&batch)?.into_array(rows)?;
            let is_decided = match logic {
                Logic::And => {
                    all = and_kleene(&all, value.as_boolean())?;
                    all.null_count() == 0 && all.true_count() == 0
                }
                Logic::Or => {
                    all = or_kleene(&all, value.as_boolean())?;
                    all.null_count() == 0 && all.false_count() == 0
                }
            };
            if is_decided {
                break;
            }
        }
        Ok(ColumnarValue::Array(Arc::new(all)))
    }
}
