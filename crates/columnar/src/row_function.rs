//! Functions that compute one row at a time: shorter to write than functions over columns, and slower.
//! They suit catalog functions and JSON.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;
use store::catalog::SqlType;
use values::cells::Form;
use values::cells::{Cell, array};
use values::error::{Error, Result, SqlState};
use values::translate::external;
use values::types;

type Body = Arc<dyn Fn(&Row<'_>) -> Result<Cell> + Send + Sync>;

/// A function over rows.
struct RowFunction {
    name: &'static str,
    arguments: RangeInclusive<usize>,
    returns: Form,
    sql_type: Option<SqlType>,
    system_type: Option<&'static str>,
    signature: Signature,
    body: Body,
}

/// Defines a stable function of a number of arguments of any types.
pub fn function(
    name: &'static str,
    arguments: RangeInclusive<usize>,
    returns: Form,
    body: impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync + 'static,
) -> ScalarUDF {
    ScalarUDF::new_from_impl(row_function(Volatility::Stable, name, arguments, returns, body))
}

/// Defines an immutable function whose result type may be one that Arrow does not have.
pub fn typed_function(
    name: &'static str,
    arguments: RangeInclusive<usize>,
    sql_type: SqlType,
    body: impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync + 'static,
) -> ScalarUDF {
    let form = match sql_type {
        SqlType::Boolean => Form::Flag,
        SqlType::Integer => Form::Integer,
        SqlType::Array(_) => Form::Texts,
        _ => Form::Text,
    };
    let function = row_function(Volatility::Immutable, name, arguments, form, body);
    ScalarUDF::new_from_impl(RowFunction { sql_type: Some(sql_type), ..function })
}

/// Defines a stable function of one argument that returns object ids of a system type such as `regclass`.
pub fn id_function(
    name: &'static str,
    system_type: &'static str,
    body: impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync + 'static,
) -> ScalarUDF {
    let function = row_function(Volatility::Stable, name, 1..=1, Form::Number, body);
    ScalarUDF::new_from_impl(RowFunction { system_type: Some(system_type), ..function })
}

/// Defines a volatile function, which is called for each row.
pub fn volatile(
    name: &'static str,
    arguments: RangeInclusive<usize>,
    returns: Form,
    body: impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync + 'static,
) -> ScalarUDF {
    ScalarUDF::new_from_impl(row_function(Volatility::Volatile, name, arguments, returns, body))
}

fn row_function(
    volatility: Volatility,
    name: &'static str,
    arguments: RangeInclusive<usize>,
    returns: Form,
    body: impl Fn(&Row<'_>) -> Result<Cell> + Send + Sync + 'static,
) -> RowFunction {
    let mut kinds = Vec::new();
    if *arguments.start() == 0 {
        kinds.push(TypeSignature::Nullary);
    }
    if *arguments.end() > 0 {
        kinds.push(TypeSignature::VariadicAny);
    }
    let signature = Signature::one_of(kinds, volatility);
    let body = Arc::new(body);
    RowFunction { name, arguments, returns, sql_type: None, system_type: None, signature, body }
}

/// The arguments of a function in one row.
pub struct Row<'a> {
    columns: &'a [Column],
    row: usize,
}

/// One argument, with lazy casts to the types that bodies read.
struct Column {
    array: ArrayRef,
    sql_type: SqlType,
    texts: OnceCell<Option<ArrayRef>>,
    numbers: OnceCell<Option<ArrayRef>>,
}

impl Column {
    fn new(array: ArrayRef, sql_type: SqlType) -> Self {
        Self { array, sql_type, texts: OnceCell::new(), numbers: OnceCell::new() }
    }
}

impl Row<'_> {
    /// The number of arguments.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    fn column(&self, index: usize) -> Option<&Column> {
        self.columns.get(index)
    }

    /// An argument as text; `None` for NULL and if there is no such argument.
    pub fn text(&self, index: usize) -> Option<&str> {
        let column = self.column(index)?;
        let texts = column.texts.get_or_init(|| cast(&column.array, &DataType::Utf8View).ok());
        let texts = texts.as_ref()?.as_string_view();
        texts.is_valid(self.row).then(|| texts.value(self.row))
    }

    /// An argument as an integer; `None` for NULL, for text that is no integer, and if there is no such argument.
    pub fn number(&self, index: usize) -> Option<i64> {
        let column = self.column(index)?;
        let numbers = column.numbers.get_or_init(|| cast(&column.array, &DataType::Int64).ok());
        let numbers = numbers.as_ref()?.as_primitive::<Int64Type>();
        numbers.is_valid(self.row).then(|| numbers.value(self.row))
    }

    /// An argument as a Boolean; `None` for NULL and for other types.
    pub fn flag(&self, index: usize) -> Option<bool> {
        let array = &self.column(index)?.array;
        let flags = array.as_boolean_opt()?;
        flags.is_valid(self.row).then(|| flags.value(self.row))
    }

    /// Whether any argument is NULL.
    pub fn has_null(&self) -> bool {
        (0..self.count()).any(|index| self.is_null(index))
    }

    /// Whether an argument is NULL.
    pub fn is_null(&self, index: usize) -> bool {
        self.column(index).is_some_and(|column| {
            column.array.data_type().is_null() || column.array.is_null(self.row)
        })
    }

    /// An argument without a cast: its type, its array, and its row in the array.
    pub fn value(&self, index: usize) -> Option<(&SqlType, &ArrayRef, usize)> {
        let column = self.column(index)?;
        Some((&column.sql_type, &column.array, self.row))
    }

    /// The elements of an array argument; `None` for NULL and for other types.
    pub fn list(&self, index: usize) -> Option<ArrayRef> {
        let array = &self.column(index)?.array;
        let lists = array.as_list_opt::<i32>()?;
        lists.is_valid(self.row).then(|| lists.value(self.row))
    }
}

impl std::fmt::Debug for RowFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for RowFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.body, &other.body)
    }
}

impl Eq for RowFunction {}

impl Hash for RowFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl RowFunction {
    fn refuse_wrong_count(&self, count: usize) -> datafusion::common::Result<()> {
        if self.arguments.contains(&count) {
            return Ok(());
        }
        let message = format!("function {} does not take {count} arguments", self.name);
        Err(external(Error::new(SqlState::UndefinedFunction, message)))
    }
}

impl ScalarUDFImpl for RowFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> datafusion::common::Result<DataType> {
        self.refuse_wrong_count(arguments.len())?;
        Ok(self.returns.arrow())
    }

    fn return_field_from_args(
        &self,
        args: ReturnFieldArgs<'_>,
    ) -> datafusion::common::Result<FieldRef> {
        let types: Vec<DataType> =
            args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let returns = self.return_type(&types)?;
        let field = Field::new(self.name, returns, true);
        Ok(Arc::new(match (&self.sql_type, self.system_type) {
            (Some(sql_type), _) => types::plan_field(self.name, sql_type, true),
            (None, Some(system_type)) => types::with_system_type(field, system_type),
            (None, None) => field,
        }))
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        self.refuse_wrong_count(args.args.len())?;
        let constant = self.signature.volatility != Volatility::Volatile
            && args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let columns = args.args.iter().zip(&args.arg_fields);
        let columns = columns.map(|(arg, field)| {
            Ok(Column::new(arg.to_array(rows)?, types::of_field(field).representation().clone()))
        });
        let columns: Vec<Column> = columns.collect::<datafusion::common::Result<_>>()?;
        let cells = (0..rows).map(|row| (self.body)(&Row { columns: &columns, row }));
        let cells: Vec<Cell> = cells.collect::<Result<_>>().map_err(external)?;
        let values = array(self.returns, cells.iter());
        if constant {
            let value = datafusion::common::ScalarValue::try_from_array(&values, 0)?;
            return Ok(ColumnarValue::Scalar(value));
        }
        Ok(ColumnarValue::Array(values))
    }
}
