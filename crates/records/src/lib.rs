//! Functions of records, which are structs of the engine.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, StructArray, make_array,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use functions::numbers::open::comparable;
use std::sync::Arc;
use store::catalog::SqlType;
use values::assign::composite;
use values::style::Style;
use values::translate::external;
use values::types;

/// A function of records.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Of {
    /// The record of the arguments, with these names. If there is one argument more, the record is NULL where that is.
    Fields(Vec<String>),
    /// The row of a composite type from the values of its attributes. If there is one argument more, the row is NULL where
    /// that is.
    Composite(SqlType),
    /// A field.
    Field(usize),
    /// Whether all fields are NULL, or the record is.
    AllNull,
    /// Whether no field is NULL, nor the record.
    NoneNull,
    /// The key by which records are ordered: by their fields, NULL last.
    Key,
}

impl Of {
    /// The function of the engine.
    pub fn function(self) -> Arc<ScalarUDF> {
        let signature = Signature::variadic_any(Volatility::Immutable);
        let signature = match &self {
            Self::Fields(names) if names.is_empty() => Signature::nullary(Volatility::Immutable),
            _ => signature,
        };
        Arc::new(ScalarUDF::new_from_impl(Function { of: self, signature }))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    of: Of,
    signature: Signature,
}

fn fields_of(data_type: &DataType) -> Result<&Fields> {
    match data_type {
        DataType::Struct(fields) => Ok(fields),
        other => internal_err!("{other} is no record"),
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match self.of {
            Of::Fields(_) | Of::Composite(_) => "record",
            Of::Field(_) => "record_field",
            Of::AllNull => "record_is_null",
            Of::NoneNull => "record_is_not_null",
            Of::Key => "record_order",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of a record depends on its fields")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let record = || match args.arg_fields {
            [record] => fields_of(record.data_type()),
            _ => internal_err!("a function of records has one argument"),
        };
        let field = match &self.of {
            Of::Fields(names) => {
                let fields = args.arg_fields.iter().zip(names);
                let fields = fields
                    .map(|(field, name)| Field::clone(field).with_name(name).with_nullable(true));
                Field::new("record", DataType::Struct(fields.collect()), true)
            }
            Of::Composite(of) => types::plan_field("record", of, true),
            Of::Field(at) => match record()?.get(*at) {
                Some(field) => Field::clone(field).with_nullable(true),
                None => return internal_err!("a record has no field {at}"),
            },
            Of::AllNull | Of::NoneNull => Field::new("test", DataType::Boolean, false),
            Of::Key => Field::new("key", DataType::Binary, true),
        };
        Ok(Arc::new(field))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = args.args.iter().map(|value| value.to_array(args.number_rows));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        let array: ArrayRef = match (&self.of, &arrays[..]) {
            (Of::Fields(names), arrays) => {
                let fields = fields_of(args.return_field.data_type())?.clone();
                let nulls = arrays.get(names.len()).and_then(|presence| presence.nulls().cloned());
                let columns = arrays[..names.len()].to_vec();
                let rows = args.number_rows;
                Arc::new(StructArray::try_new_with_length(fields, columns, nulls, rows)?)
            }
            (Of::Composite(of), arrays) => {
                let count = of.attributes().map_or(0, <[_]>::len);
                let nulls = arrays.get(count).and_then(|presence| presence.nulls().cloned());
                let (columns, rows) = (arrays[..count].to_vec(), args.number_rows);
                composite(of, columns, (nulls, rows), Style::default()).map_err(external)?
            }
            (Of::Field(at), [record]) => {
                let record = record.as_struct();
                let field = record.column(*at);
                let nulls = NullBuffer::union(field.nulls(), record.nulls());
                make_array(field.to_data().into_builder().nulls(nulls).build()?)
            }
            (Of::AllNull, [record]) => tested(record.as_struct(), true),
            (Of::NoneNull, [record]) => tested(record.as_struct(), false),
            (Of::Key, [record]) => keys(&comparable(record).map_err(external)?)?,
            _ => return internal_err!("a function of records has one argument"),
        };
        Ok(ColumnarValue::Array(array))
    }
}

fn tested(record: &StructArray, null: bool) -> ArrayRef {
    let test = |row: usize| match record.is_null(row) {
        true => null,
        false => record.columns().iter().all(|field| field.is_null(row) == null),
    };
    let rows = 0..record.len();
    Arc::new(rows.map(test).map(Some).collect::<BooleanArray>())
}

fn keys(record: &ArrayRef) -> Result<ArrayRef> {
    let options = SortOptions { descending: false, nulls_first: false };
    let fields = record.as_struct().columns().iter();
    let fields =
        fields.map(|column| SortField::new_with_options(column.data_type().clone(), options));
    let converter = RowConverter::new(fields.collect())?;
    let rows = converter.convert_columns(record.as_struct().columns())?;
    let keys = rows.iter().enumerate();
    let keys = keys.map(|(row, key)| record.is_valid(row).then(|| key.as_ref().to_vec()));
    Ok(Arc::new(keys.collect::<BinaryArray>()))
}
