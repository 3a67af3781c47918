//! Rows of composite types from JSON objects: `json_populate_record`, `json_to_record` and their sets.
//!
//! Each value becomes the text that the input function of its attribute reads. What the object does not have is as in the row
//! that is given, or NULL.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, StringViewArray, StructArray};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::{cast, take};
use datafusion::arrow::datatypes::{DataType, Field, UInt32Type};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use store::catalog::{Attribute, SqlType};
use values::assign::composite;
use values::assign::labels::texts;
use values::error::{Error, Result, SqlState};
use values::json::access;
use values::json::invalid;
use values::json::raw::{Value, elements};
use values::style::Style;
use values::text::TextColumn;
use values::translate::external;

/// How objects become rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Populate {
    /// The composite type.
    pub(crate) of: SqlType,
    /// Whether the documents are arrays of objects, which become lists of rows.
    pub(crate) is_set: bool,
    /// Whether the documents are `jsonb`.
    pub(crate) is_binary: bool,
    /// The function, as messages name it.
    pub(crate) name: String,
    /// How the session reads values.
    pub(crate) style: Style,
}

/// The function that makes rows of documents: of one argument, or of a row and a document.
pub(crate) fn function(populate: Populate) -> ScalarUDF {
    let signature = Signature::variadic_any(Volatility::Stable);
    ScalarUDF::new_from_impl(Function { populate, signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    populate: Populate,
    signature: Signature,
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        &self.populate.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> datafusion::common::Result<DataType> {
        let row = self.populate.of.arrow();
        Ok(match self.populate.is_set {
            true => DataType::List(Arc::new(Field::new_list_field(row, true))),
            false => row,
        })
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let count = if constant { 1 } else { args.number_rows };
        let arrays = args.args.iter().map(|value| value.to_array(count));
        let arrays = arrays.collect::<datafusion::common::Result<Vec<ArrayRef>>>()?;
        let (base, documents) = match arrays.as_slice() {
            [documents] => (None, documents),
            [base, documents] => (Some(base), documents),
            _ => return exec_err!("{} takes one or two arguments", self.populate.name),
        };
        let rows = self.populate.rows(base, documents).map_err(external)?;
        match constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&rows, 0)?)),
            false => Ok(ColumnarValue::Array(rows)),
        }
    }
}

impl Populate {
    fn rows(&self, base: Option<&ArrayRef>, documents: &ArrayRef) -> Result<ArrayRef> {
        let base = base.and_then(|base| base.as_struct_opt());
        let documents = cast(documents, &DataType::Utf8View)?;
        let documents = documents.as_string_view();
        if !self.is_set {
            let present = (0..documents.len())
                .map(|row| documents.is_valid(row) || base.is_some_and(|base| base.is_valid(row)));
            let nulls = NullBuffer::from_iter(present);
            let objects: Vec<Option<&str>> = documents.iter().collect();
            return self.of_objects(base, &objects, Some(nulls));
        }
        let (mut objects, mut places, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for (row, document) in documents.iter().enumerate() {
            let before = objects.len();
            if let Some(document) = document {
                for object in self.objects(document)? {
                    objects.push(Some(object));
                    places.push(row as u32);
                }
            }
            lengths.push(objects.len() - before);
        }
        let base = base.map(|base| self.repeated(base, places)).transpose()?;
        let items = self.of_objects(base.as_ref(), &objects, None)?;
        let field = Arc::new(Field::new_list_field(self.of.arrow(), true));
        let (offsets, nulls) = (OffsetBuffer::from_lengths(lengths), documents.nulls().cloned());
        Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?))
    }

    /// The row that each object begins with.
    fn repeated(&self, base: &StructArray, places: Vec<u32>) -> Result<StructArray> {
        let places = datafusion::arrow::array::PrimitiveArray::<UInt32Type>::from(places);
        Ok(take(base, &places, None)?.as_struct().clone())
    }

    /// The objects of an array.
    fn objects<'a>(&self, document: &'a str) -> Result<Vec<&'a str>> {
        let name = &self.name;
        let Value::Array(array) = Value::of(document) else {
            let what = match Value::of(document) {
                _ if self.is_binary => "non-array",
                Value::Object(_) => "object",
                _ => "scalar",
            };
            let article = if what == "object" { "an" } else { "a" };
            return Err(invalid(format!("cannot call {name} on {article} {what}")));
        };
        let object = |element| match Value::of(element) {
            Value::Object(_) => Ok(element),
            _ => Err(invalid(format!("argument of {name} must be an array of objects"))),
        };
        elements(array).map(object).collect()
    }

    /// The rows of objects; what has none is the row that it begins with.
    fn of_objects(
        &self,
        base: Option<&StructArray>,
        objects: &[Option<&str>],
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let attributes = self.of.attributes().unwrap_or_default();
        for object in objects.iter().flatten() {
            require_object(object)?;
        }
        let mut columns = Vec::with_capacity(attributes.len());
        for (at, attribute) in attributes.iter().enumerate() {
            let given =
                base.map(|base| written(base.column(at), &attribute.sql_type)).transpose()?;
            let given = given.as_ref().map(|given| given.as_string_view());
            let mut column: Vec<Option<String>> = Vec::with_capacity(objects.len());
            for (row, object) in objects.iter().enumerate() {
                let value = object.map(|object| access::field(object, &attribute.name));
                let inner = base.and_then(|base| row_at(base.column(at), row));
                column.push(match value.transpose()?.flatten() {
                    Some(value) => literal(value, &attribute.sql_type, &attribute.name, inner)?,
                    None if object.is_some() && base.is_none_or(|base| base.is_null(row)) => {
                        admit(true, &attribute.sql_type)?;
                        None
                    }
                    None => given
                        .filter(|given| given.is_valid(row))
                        .map(|given| given.value(row).to_owned()),
                });
            }
            columns.push(Arc::new(StringViewArray::from_iter(column)) as ArrayRef);
        }
        composite(&self.of, columns, (nulls, objects.len()), self.style)
    }
}

/// The texts of values, of which the input function of the type makes the same ones.
fn written(values: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    let user = sql_type.user_type().filter(|user| user.has_labels());
    let labels = user.map(|user| texts(values, user)).transpose()?;
    let values = labels.as_ref().unwrap_or(values);
    let column = TextColumn::styled(values, Style::default())?;
    let text = |row| {
        let mut text = String::new();
        column.write(row, &mut text).then_some(text)
    };
    Ok(Arc::new((0..values.len()).map(text).collect::<StringViewArray>()))
}

fn require_object(document: &str) -> Result<()> {
    let what = match Value::of(document) {
        Value::Object(_) => return Ok(()),
        Value::Array(_) => "an array",
        _ => "a scalar",
    };
    Err(invalid(format!("cannot call populate_composite on {what}")))
}

/// Words of conditions that may be false for NULL.
const OF_NULL: [&str; 5] = ["null", "coalesce", "case", "distinct", " is "];

/// Refuses values that a domain does not have, and those for which its conditions would have to be computed.
fn admit(is_null: bool, of: &SqlType) -> Result<()> {
    let SqlType::User(user) = of else { return Ok(()) };
    let Some(domain) = user.domain() else { return Ok(()) };
    if is_null && !domain.nullable {
        let message = format!("domain {} does not allow null values", user.name);
        return Err(Error::new(SqlState::NotNullViolation, message));
    }
    let is_computed = domain.checks.iter().any(|check| {
        let condition = check.expression.to_lowercase();
        !is_null || OF_NULL.iter().any(|word| condition.contains(word))
    });
    if is_computed {
        let what = format!("a value of the domain \"{}\", which has conditions", user.name);
        return Err(Error::unsupported(format!("{what}, from JSON is not supported")));
    }
    admit(is_null, &domain.base)
}

/// A row that is given: an array of rows, and a place in it. `None` if it is NULL, or if none is given.
type Given<'a> = Option<(&'a StructArray, usize)>;

/// The row at a place, if the values are rows.
fn row_at(values: &ArrayRef, row: usize) -> Given<'_> {
    values.as_struct_opt().filter(|rows| rows.is_valid(row)).map(|rows| (rows, row))
}

/// The text of a field of a row that is given.
fn given_text(given: Given<'_>, at: usize, sql_type: &SqlType) -> Result<Option<String>> {
    let Some((rows, row)) = given else { return Ok(None) };
    let text = written(&rows.column(at).slice(row, 1), sql_type)?;
    let text = text.as_string_view();
    Ok(text.is_valid(0).then(|| text.value(0).to_owned()))
}

/// The text that the input function of a type reads for a value; `None` for NULL. A row has the fields of `given` which the
/// object lacks.
fn literal(json: &str, sql_type: &SqlType, key: &str, given: Given<'_>) -> Result<Option<String>> {
    let value = Value::of(json);
    if let SqlType::User(user) = sql_type
        && let Some(domain) = user.domain()
    {
        let text = literal(json, &domain.base, key, given)?;
        admit(text.is_none(), sql_type)?;
        return Ok(text);
    }
    let is_text = matches!(value, Value::Text(_));
    if matches!(sql_type, SqlType::Json | SqlType::Jsonb) {
        let is_null = matches!(value, Value::Null);
        return Ok((!is_null).then(|| json.to_owned()));
    }
    match (sql_type, &value) {
        (_, Value::Null) => Ok(None),
        (SqlType::Array(item), Value::Array(array)) => {
            let is_json = matches!(**item, SqlType::Json | SqlType::Jsonb);
            let items = elements(array).map(|element| {
                let is_array = matches!(Value::of(element), Value::Array(_));
                if is_array && !is_json && !is_list(item) {
                    let what = "an array of several dimensions from JSON is not supported";
                    return Err(Error::unsupported(what));
                }
                Ok(match literal(element, item, key, None)? {
                    Some(text) if is_array && is_list(item) => text,
                    Some(text) => quoted(&text),
                    None => "NULL".to_owned(),
                })
            });
            Ok(Some(format!("{{{}}}", items.collect::<Result<Vec<_>>>()?.join(","))))
        }
        (SqlType::Array(_), _) if !is_text => {
            let error = Error::new(SqlState::InvalidTextRepresentation, "expected JSON array");
            Err(error.with_hint(format!("See the value of key \"{key}\".")))
        }
        (of, _) if let (Some(attributes), false) = (of.attributes(), is_text) => {
            require_object(json)?;
            let field = |(at, attribute): (usize, &Attribute)| {
                let text = match access::field(json, &attribute.name)? {
                    Some(value) => {
                        let inner = given.and_then(|(rows, row)| row_at(rows.column(at), row));
                        literal(value, &attribute.sql_type, &attribute.name, inner)?
                    }
                    None if given.is_none() => {
                        admit(true, &attribute.sql_type)?;
                        None
                    }
                    None => given_text(given, at, &attribute.sql_type)?,
                };
                Ok(text.map_or_else(String::new, |text| quoted(&text)))
            };
            let fields = attributes.iter().enumerate().map(field).collect::<Result<Vec<_>>>()?;
            Ok(Some(format!("({})", fields.join(","))))
        }
        _ => Ok(access::text(json)?.map(|text| text.into_owned())),
    }
}

fn is_list(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Array(_))
}

/// An item or a field in quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

/// Whether the documents of a function are `jsonb`.
pub(crate) fn is_binary(name: &str) -> bool {
    name.starts_with("jsonb_")
}
