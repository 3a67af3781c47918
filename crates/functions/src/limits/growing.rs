//! Functions whose result may be much larger than their arguments.
//!
//! Before such a function is called, the sizes of its results are computed. A value over 1 GB is refused, memory for the
//! column is reserved while it is made, and the column is made in parts, between which the statement can end.
//!
//! The optimizer computes calls of constants, and copies the value wherever it copies an expression. Large values are
//! left to the execution ([`folding`]).

use super::sizes::Argument;
use super::{VALUE_BYTES_MAX, check_length, folding};
use datafusion::arrow::array::{AsArray, new_empty_array};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature,
};
use executor::{Held, check};
use std::sync::Arc;
use values::translate::external;

/// The bytes of a function's result in a row, at most.
pub(crate) type Size = fn(&[Argument], usize) -> u64;

/// Bytes of a character at most.
const CHARACTER_BYTES: u64 = 4;

/// Bytes that PostgreSQL stores before a value.
const HEADER_BYTES: u64 = 4;

/// Bytes of a column that are made between two checks whether the statement has to end.
const PART_BYTES: u64 = 32 << 20;

/// The engine's functions that grow, with the sizes of their results.
pub(super) const SIZES: &[(&str, Size)] = &[
    ("repeat", |args, row| args[0].bytes(row).saturating_mul(args[1].count(row))),
    ("lpad", padded),
    ("rpad", padded),
    ("replace", replaced),
    ("regexp_replace", |args, row| {
        // Every place between two bytes may match.
        let (text, by) = (args[0].bytes(row), args[2].bytes(row));
        text.saturating_add((text + 1).saturating_mul(by))
    }),
    // A field has at most as many characters for each of its own.
    ("to_char", |args, row| args[1].bytes(row).saturating_mul(16)),
    ("concat", |args, row| args.iter().map(|arg| arg.bytes(row)).sum()),
    ("concat_ws", |args, row| {
        let separators = args[0].bytes(row).saturating_mul(args.len() as u64);
        args.iter().map(|arg| arg.bytes(row)).sum::<u64>().saturating_add(separators)
    }),
];

fn padded(args: &[Argument], row: usize) -> u64 {
    let characters = args[1].count(row);
    let most = characters.saturating_mul(CHARACTER_BYTES);
    // The text counts as it is: at most all of its bytes are kept.
    let kept = args[0].bytes(row).min(most);
    let fill = args.get(2).map_or(Some(" "), |fill| fill.text(row));
    match args[0].text(row).and(fill) {
        Some("") | None => kept,
        // PostgreSQL refuses what would be too long if each character had four bytes.
        _ if most > VALUE_BYTES_MAX - HEADER_BYTES => most.saturating_add(HEADER_BYTES),
        Some(fill) if fill.is_ascii() => characters.max(kept),
        _ => most,
    }
}

/// Functions whose second argument is a count, and which fail for a column with a negative one. PostgreSQL takes it for 0.
const COUNTED: &[&str] = &["lpad", "rpad"];

/// The same counts, with 0 in place of negative ones.
fn not_negative(counts: &ColumnarValue) -> ColumnarValue {
    match counts {
        ColumnarValue::Scalar(ScalarValue::Int64(Some(..0))) => {
            ColumnarValue::Scalar(ScalarValue::Int64(Some(0)))
        }
        ColumnarValue::Array(array)
            if let Some(counts) = array.as_primitive_opt::<Int64Type>()
                && counts.values().iter().any(|count| *count < 0) =>
        {
            ColumnarValue::Array(Arc::new(counts.unary::<_, Int64Type>(|count| count.max(0))))
        }
        other => other.clone(),
    }
}

fn replaced(args: &[Argument], row: usize) -> u64 {
    let [text, from, to] = [0, 1, 2].map(|argument| args[argument].bytes(row));
    if to <= from || from == 0 {
        return text;
    }
    let most = text.saturating_add((text / from).saturating_mul(to - from));
    if most <= PART_BYTES {
        return most;
    }
    let found = args[0].text(row).zip(args[1].text(row));
    let count = found.map_or(0, |(text, from)| text.matches(from).count() as u64);
    text + count.saturating_mul(to - from)
}

/// Whether the values of a function may be much larger than its arguments.
pub(super) fn is_growing(function: &ScalarUDF) -> bool {
    function.inner().downcast_ref::<Limited>().is_some()
}

/// The function with limits.
pub(crate) fn limited(function: Arc<ScalarUDF>, size: Size) -> ScalarUDF {
    ScalarUDF::new_from_impl(Limited { function, size })
}

/// A function with limits. In everything but its calls it is the function.
#[derive(Debug)]
struct Limited {
    function: Arc<ScalarUDF>,
    size: Size,
}

impl PartialEq for Limited {
    fn eq(&self, other: &Self) -> bool {
        self.function == other.function
    }
}

impl Eq for Limited {}

impl std::hash::Hash for Limited {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.function.hash(state);
    }
}

impl Limited {
    /// Bytes of the results in each row.
    fn sizes(&self, args: &ScalarFunctionArgs) -> Result<Vec<u64>> {
        let arguments = args.args.iter().map(Argument::new).collect::<Result<Vec<_>>>()?;
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        (0..rows)
            .map(|row| {
                let bytes = (self.size)(&arguments, row);
                check_length(bytes).map(|()| bytes).map_err(external)
            })
            .collect()
    }
}

/// The last row, exclusively, of each part of a column.
fn parts(sizes: &[u64]) -> Vec<usize> {
    let (mut ends, mut bytes) = (Vec::new(), 0);
    for (row, size) in sizes.iter().enumerate() {
        bytes += size;
        if bytes > PART_BYTES || row + 1 == sizes.len() {
            ends.push(row + 1);
            bytes = 0;
        }
    }
    ends
}

fn rows_of(args: &ScalarFunctionArgs, from: usize, rows: usize) -> ScalarFunctionArgs {
    let part = |value: &ColumnarValue| match value {
        ColumnarValue::Array(array) => ColumnarValue::Array(array.slice(from, rows)),
        constant => constant.clone(),
    };
    let values = args.args.iter().map(part).collect();
    ScalarFunctionArgs { args: values, number_rows: rows, ..args.clone() }
}

impl ScalarUDFImpl for Limited {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn aliases(&self) -> &[String] {
        self.function.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.function.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.function.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.function.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.function.return_field_from_args(args)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let function = self.function.inner().with_updated_config(config)?;
        Some(limited(Arc::new(function), self.size))
    }

    fn is_strict(&self) -> bool {
        self.function.inner().is_strict()
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if COUNTED.contains(&self.name()) {
            args.args[1] = not_negative(&args.args[1]);
        }
        let sizes = self.sizes(&args)?;
        if sizes.is_empty() {
            return Ok(ColumnarValue::Array(new_empty_array(args.return_type())));
        }
        let total: u64 = sizes.iter().sum();
        folding::check(total)?;
        if total <= PART_BYTES {
            return self.function.invoke_with_args(args);
        }
        let mut held = Held::nothing();
        held.grow_to(total).map_err(external)?;
        if sizes.len() == 1 {
            return self.function.invoke_with_args(args);
        }
        let (mut columns, mut begin) = (Vec::new(), 0);
        for end in parts(&sizes) {
            check().map_err(external)?;
            let part = rows_of(&args, begin, end - begin);
            columns.push(self.function.invoke_with_args(part)?.into_array(end - begin)?);
            begin = end;
        }
        let columns: Vec<_> = columns.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(concat(&columns)?))
    }

    fn simplify(&self, args: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.function.simplify(args, context)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.function.inner().output_ordering(inputs)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.function.inner().coerce_types(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.function.documentation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(values: Vec<ScalarValue>) -> Vec<Argument> {
        let arguments = values.into_iter().map(ColumnarValue::Scalar);
        arguments.map(|value| Argument::new(&value).expect("an argument")).collect()
    }

    #[test]
    fn sizes_are_those_of_the_results() {
        let text = |text: &str| ScalarValue::Utf8View(Some(text.to_owned()));
        let number = |number| ScalarValue::Int64(Some(number));
        let size_of = |name: &str, args| {
            let (_, size) = SIZES.iter().find(|(known, _)| *known == name).expect("it grows");
            size(&arguments(args), 0)
        };
        assert_eq!(size_of("repeat", vec![text("abc"), number(5)]), 15);
        assert_eq!(size_of("repeat", vec![text("abc"), number(-5)]), 0);
        assert_eq!(size_of("repeat", vec![text("abc"), number(i64::MAX)]), u64::MAX);
        assert_eq!(size_of("lpad", vec![text("abc"), number(7)]), 7);
        assert_eq!(size_of("rpad", vec![text("abc"), number(7), text("ö")]), 28);
        assert_eq!(size_of("rpad", vec![text("abc"), number(1 << 28), text("")]), 3);
        assert_eq!(size_of("rpad", vec![ScalarValue::Utf8View(None), number(1 << 28)]), 0);
        assert!(size_of("lpad", vec![text("abc"), number(1 << 28)]) > VALUE_BYTES_MAX);
        assert_eq!(size_of("replace", vec![text("abab"), text("a"), text("12345")]), 20);
        assert_eq!(size_of("replace", vec![text("abab"), text("ab"), text("")]), 4);
        assert_eq!(size_of("concat", vec![text("abab"), text("ab"), ScalarValue::Utf8(None)]), 6);
    }

    #[test]
    fn columns_are_made_in_parts() {
        assert_eq!(parts(&[1, 1, PART_BYTES, 1, 1]), [3, 5]);
        assert_eq!(parts(&[PART_BYTES + 1, 1]), [1, 2]);
    }
}
