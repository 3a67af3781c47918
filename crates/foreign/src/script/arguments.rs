//! Arguments as values of JavaScript.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
};
use rquickjs::{Ctx, IntoJs, Object, TypedArray, Value};
use store::catalog::{SqlType, UserType};
use values::error::Result;
use values::text::TextColumn;

/// A column of arguments.
pub(super) struct Column<'a> {
    array: &'a ArrayRef,
    form: Form<'a>,
}

/// How the values of a column are converted.
enum Form<'a> {
    Boolean,
    Short,
    Integer,
    Long,
    Real,
    Double,
    Bytes,
    /// JSON.
    Parsed,
    /// Dates and times.
    Moment(TextColumn<'a>),
    Text(TextColumn<'a>),
    List(&'a ListArray, Box<Column<'a>>),
    /// Numbers of the labels of an enum.
    Label(&'a UserType),
    /// Rows: the names of the attributes, and their values.
    Row(Vec<(&'a str, Column<'a>)>),
}

impl<'a> Column<'a> {
    /// The values of an array that holds a type.
    pub(super) fn new(array: &'a ArrayRef, sql_type: &'a SqlType) -> Result<Self> {
        if let SqlType::User(user) = sql_type {
            return Self::of_user(array, user);
        }
        let form = match (sql_type.representation(), array.data_type()) {
            (_, DataType::Boolean) => Form::Boolean,
            (_, DataType::Int16) => Form::Short,
            (_, DataType::Int32) => Form::Integer,
            (SqlType::BigInt, DataType::Int64) => Form::Long,
            (_, DataType::Float32) => Form::Real,
            (_, DataType::Float64) => Form::Double,
            (_, DataType::BinaryView) => Form::Bytes,
            (SqlType::Json | SqlType::Jsonb, DataType::Utf8View) => Form::Parsed,
            (_, DataType::Timestamp(..)) => Form::Moment(TextColumn::new(array)?),
            (SqlType::Array(item), DataType::List(_)) => {
                let list = array.as_list::<i32>();
                Form::List(list, Box::new(Column::new(list.values(), item)?))
            }
            _ => Form::Text(TextColumn::new(array)?),
        };
        Ok(Self { array, form })
    }

    /// The values of an array that holds a type of users.
    fn of_user(array: &'a ArrayRef, user: &'a UserType) -> Result<Self> {
        if let Some(domain) = user.domain() {
            return Self::new(array, &domain.base);
        }
        let form = match (user.attributes(), array.as_struct_opt()) {
            (Some(attributes), Some(rows)) => {
                let columns = attributes.iter().zip(rows.columns()).map(|(attribute, column)| {
                    let column = Self::new(column, &attribute.sql_type)?;
                    Ok((attribute.name.as_str(), column))
                });
                Form::Row(columns.collect::<Result<Vec<_>>>()?)
            }
            _ if user.labels().is_some() && *array.data_type() == DataType::Int64 => {
                Form::Label(user)
            }
            _ => Form::Text(TextColumn::new(array)?),
        };
        Ok(Self { array, form })
    }

    /// The value in a row.
    pub(super) fn value<'js>(&self, ctx: &Ctx<'js>, row: usize) -> rquickjs::Result<Value<'js>> {
        if self.array.is_null(row) {
            return Ok(Value::new_null(ctx.clone()));
        }
        match &self.form {
            Form::Boolean => self.array.as_boolean().value(row).into_js(ctx),
            Form::Short => self.array.as_primitive::<Int16Type>().value(row).into_js(ctx),
            Form::Integer => self.array.as_primitive::<Int32Type>().value(row).into_js(ctx),
            Form::Long => {
                Value::new_big_int(ctx.clone(), self.array.as_primitive::<Int64Type>().value(row))
            }
            Form::Real => {
                f64::from(self.array.as_primitive::<Float32Type>().value(row)).into_js(ctx)
            }
            Form::Double => self.array.as_primitive::<Float64Type>().value(row).into_js(ctx),
            Form::Bytes => {
                let bytes = self.array.as_binary_view().value(row);
                TypedArray::<u8>::new_copy(ctx.clone(), bytes).map(TypedArray::into_value)
            }
            Form::Parsed => ctx.json_parse(self.array.as_string_view().value(row)),
            Form::Moment(texts) => {
                let text = written(texts, row).replacen(' ', "T", 1);
                let text = text.strip_suffix("+00").map_or(text.clone(), |text| format!("{text}Z"));
                text.into_js(ctx)
            }
            Form::Text(texts) => written(texts, row).into_js(ctx),
            Form::List(list, items) => {
                let offsets = list.value_offsets();
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                let values = rquickjs::Array::new(ctx.clone())?;
                for (place, item) in range.enumerate() {
                    values.set(place, items.value(ctx, item)?)?;
                }
                Ok(values.into_value())
            }
            Form::Label(user) => {
                let number = self.array.as_primitive::<Int64Type>().value(row);
                user.label_of(number).into_js(ctx)
            }
            Form::Row(columns) => {
                let object = Object::new(ctx.clone())?;
                for (name, column) in columns {
                    object.set(*name, column.value(ctx, row)?)?;
                }
                Ok(object.into_value())
            }
        }
    }
}

fn written(texts: &TextColumn<'_>, row: usize) -> String {
    let mut text = String::new();
    texts.write(row, &mut text);
    text
}
