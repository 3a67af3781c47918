//! PostgreSQL's binary format of values.
//!
//! As with [`text`](crate::text), [`BinaryColumn::new`] resolves the format once per array.
//! [`read`] reads one value.

mod numeric;
mod read;
mod system;

pub use read::read;

use crate::error::Result;
use crate::moments;
use crate::numbers;
use crate::shown;
use crate::types;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, LargeBinaryArray, ListArray,
    PrimitiveArray, StringViewArray, StructArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type,
    Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType, UInt32Type,
};
use bytes::{BufMut, BytesMut};
use datafusion::arrow;
use numerics::Numeric;
use store::catalog::SqlType;

/// Days from 1970-01-01 to PostgreSQL's epoch, 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
/// PostgreSQL's epoch in microseconds since 1970.
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;
/// The first byte of `jsonb`; its text follows.
const JSONB_VERSION: u8 = 1;
/// The length that marks NULL in an array or a row.
const NULL_LENGTH: i32 = -1;

/// An array whose values can be written in binary format.
pub struct BinaryColumn(Form);

enum Form {
    Boolean(BooleanArray),
    SmallInt(PrimitiveArray<Int16Type>),
    Integer(PrimitiveArray<Int32Type>),
    BigInt(PrimitiveArray<Int64Type>),
    Oid(PrimitiveArray<UInt32Type>),
    Real(PrimitiveArray<Float32Type>),
    Double(PrimitiveArray<Float64Type>),
    Numeric(PrimitiveArray<Decimal128Type>, i8),
    /// With a scale each.
    Open(LargeBinaryArray),
    Text(StringViewArray),
    /// One byte, which is 0 for an empty text.
    Single(StringViewArray),
    /// Padded with blanks to a length.
    Padded(StringViewArray, u32),
    Jsonb(StringViewArray),
    Uuid(StringViewArray),
    Bytes(BinaryViewArray),
    Date(PrimitiveArray<Date32Type>),
    Time(PrimitiveArray<Time64MicrosecondType>),
    Timestamp(PrimitiveArray<TimestampMicrosecondType>),
    Interval(PrimitiveArray<IntervalMonthDayNanoType>),
    List {
        lists: ListArray,
        items: Box<BinaryColumn>,
        item_oid: u32,
        /// The number of the first item.
        lower: i32,
    },
    Record {
        rows: StructArray,
        /// The type OIDs of the fields, and their values.
        fields: Vec<(u32, BinaryColumn)>,
    },
    /// A type that is sent as text.
    TextOf(ArrayRef),
}

impl BinaryColumn {
    /// Resolves the format of an array's values as a type. `item_oid` gives the type OIDs of array elements and of the
    /// fields of rows.
    ///
    /// # Errors
    /// An error of the cast: a value does not fit the type.
    pub fn new(
        array: &ArrayRef,
        sql_type: &SqlType,
        item_oid: impl Fn(&SqlType) -> u32,
    ) -> Result<Self> {
        Self::of(array, sql_type, &item_oid)
    }

    fn of(
        array: &ArrayRef,
        sql_type: &SqlType,
        item_oid: &dyn Fn(&SqlType) -> u32,
    ) -> Result<Self> {
        let array = &shown::sent(array);
        if let SqlType::System(of) = sql_type {
            return system::column(array, *of);
        }
        if let Some(rows) = array.as_struct_opt() {
            return Self::of_rows(rows, sql_type, item_oid);
        }
        if let SqlType::Other(_) = sql_type {
            return Ok(Self(Form::TextOf(ArrayRef::clone(array))));
        }
        if let SqlType::User(_) = sql_type {
            return Self::of(array, &sql_type.sent(), item_oid);
        }
        if numbers::is_open(array.data_type()) {
            return Ok(Self(Form::Open(array.as_binary::<i64>().clone())));
        }
        if *sql_type == SqlType::NUMERIC {
            return Ok(Self(match array.data_type() {
                DataType::Decimal128(_, scale) => {
                    Form::Numeric(array.as_primitive().clone(), *scale)
                }
                _ => Form::Open(numbers::opened(array)?.as_binary::<i64>().clone()),
            }));
        }
        let is_list = matches!(array.data_type(), DataType::List(_));
        let to = if is_list { array.data_type().clone() } else { sql_type.arrow() };
        let array =
            if *array.data_type() == to { ArrayRef::clone(array) } else { cast(array, &to)? };
        Ok(Self(match sql_type {
            SqlType::Boolean => Form::Boolean(array.as_boolean().clone()),
            SqlType::SmallInt => Form::SmallInt(array.as_primitive().clone()),
            SqlType::Integer => Form::Integer(array.as_primitive().clone()),
            SqlType::BigInt => Form::BigInt(array.as_primitive().clone()),
            SqlType::Real => Form::Real(array.as_primitive().clone()),
            SqlType::Double => Form::Double(array.as_primitive().clone()),
            SqlType::Numeric { scale, .. } => Form::Numeric(array.as_primitive().clone(), *scale),
            SqlType::Char(length) => Form::Padded(array.as_string_view().clone(), *length),
            SqlType::Text | SqlType::Varchar(_) | SqlType::Json => {
                Form::Text(array.as_string_view().clone())
            }
            SqlType::Jsonb => Form::Jsonb(array.as_string_view().clone()),
            SqlType::Uuid => Form::Uuid(array.as_string_view().clone()),
            SqlType::Bytea => Form::Bytes(array.as_binary_view().clone()),
            SqlType::Date => Form::Date(array.as_primitive().clone()),
            SqlType::Time => Form::Time(array.as_primitive().clone()),
            SqlType::Timestamp | SqlType::TimestampTz => {
                Form::Timestamp(array.as_primitive().clone())
            }
            SqlType::Interval => Form::Interval(array.as_primitive().clone()),
            SqlType::Array(item) => {
                let lists = array.as_list::<i32>().clone();
                let oid = item_oid(item);
                let items = Box::new(Self::of(lists.values(), item, item_oid)?);
                Form::List { lists, items, item_oid: oid, lower: 1 }
            }
            SqlType::Precise(of, _) => return Self::of(&array, of, item_oid),
            SqlType::User(_) | SqlType::Other(_) | SqlType::System(_) => Form::TextOf(array),
        }))
    }

    /// An array of one dimension whose first item has the number 0.
    fn vector(lists: ListArray, items: Self, item_oid: u32) -> Self {
        Self(Form::List { lists, items: Box::new(items), item_oid, lower: 0 })
    }

    /// Rows; the attributes of a composite type say more about the fields than these do.
    fn of_rows(
        rows: &StructArray,
        sql_type: &SqlType,
        item_oid: &dyn Fn(&SqlType) -> u32,
    ) -> Result<Self> {
        let attributes = sql_type.attributes().unwrap_or_default();
        let columns = rows.fields().iter().zip(rows.columns()).enumerate();
        let fields = columns.map(|(at, (field, values))| {
            let sql_type = match attributes.get(at) {
                Some(attribute) => attribute.sql_type.clone(),
                None => types::of_field(field),
            };
            Ok((item_oid(&sql_type), Self::of(values, &sql_type, item_oid)?))
        });
        let fields = fields.collect::<Result<_>>()?;
        Ok(Self(Form::Record { rows: rows.clone(), fields }))
    }

    /// Appends the value at a row. Returns false, and appends nothing, if it is NULL.
    pub fn write(&self, row: usize, out: &mut BytesMut) -> bool {
        match &self.0 {
            Form::Boolean(array) => present(array, row, || out.put_u8(u8::from(array.value(row)))),
            Form::SmallInt(array) => value(array, row, |v| out.put_i16(v)),
            Form::Integer(array) => value(array, row, |v| out.put_i32(v)),
            Form::BigInt(array) => value(array, row, |v| out.put_i64(v)),
            Form::Oid(array) => value(array, row, |v| out.put_u32(v)),
            Form::Real(array) => value(array, row, |v| out.put_f32(v)),
            Form::Double(array) => value(array, row, |v| out.put_f64(v)),
            Form::Open(array) => present(array, row, || write_number(array.value(row), out)),
            Form::Numeric(array, scale) => value(array, row, |v| numeric::write(v, *scale, out)),
            Form::Text(array) => present(array, row, || out.put_slice(array.value(row).as_bytes())),
            Form::Single(array) => present(array, row, || {
                out.put_u8(array.value(row).bytes().next().unwrap_or(0));
            }),
            Form::Padded(array, length) => present(array, row, || {
                let text = array.value(row);
                let blanks = (*length as usize).saturating_sub(text.chars().count());
                out.put_slice(text.as_bytes());
                out.put_bytes(b' ', blanks);
            }),
            Form::Jsonb(array) => present(array, row, || {
                out.put_u8(JSONB_VERSION);
                out.put_slice(array.value(row).as_bytes());
            }),
            Form::Uuid(array) => present(array, row, || write_uuid(array.value(row), out)),
            Form::Bytes(array) => present(array, row, || out.put_slice(array.value(row))),
            Form::Date(array) => value(array, row, |v| out.put_i32(sent_date(v))),
            Form::Time(array) => value(array, row, |v| out.put_i64(v)),
            Form::Timestamp(array) => value(array, row, |v| out.put_i64(sent_timestamp(v))),
            Form::Interval(array) => value(array, row, |v| {
                out.put_i64(v.nanoseconds / 1000);
                out.put_i32(v.days);
                out.put_i32(v.months);
            }),
            Form::List { lists, items, item_oid, lower } => {
                present(lists, row, || write_list(lists, items, (*item_oid, *lower), row, out))
            }
            Form::Record { rows, fields } => present(rows, row, || write_record(fields, row, out)),
            Form::TextOf(array) => {
                let mut text = String::new();
                let written = crate::text::write_value(array.as_ref(), row, &mut text);
                out.put_slice(text.as_bytes());
                written.unwrap_or(false)
            }
        }
    }
}

/// A date counted from PostgreSQL's epoch. Infinite ones are the same numbers.
fn sent_date(days: i32) -> i32 {
    if moments::is_infinite_date(days) { days } else { days.saturating_sub(EPOCH_DAYS) }
}

/// A timestamp counted from PostgreSQL's epoch. Infinite ones are the same numbers.
fn sent_timestamp(micros: i64) -> i64 {
    if moments::is_infinite(micros) { micros } else { micros.saturating_sub(EPOCH_MICROS) }
}

fn present(array: &dyn Array, row: usize, write: impl FnOnce()) -> bool {
    let present = array.is_valid(row);
    if present {
        write();
    }
    present
}

fn value<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    row: usize,
    write: impl FnOnce(T::Native),
) -> bool {
    present(array, row, || write(array.value(row)))
}

/// Nothing but a number makes such bytes.
fn write_number(bytes: &[u8], out: &mut BytesMut) {
    let number = numbers::read(bytes).unwrap_or(Numeric::NAN);
    let mut wire = Vec::with_capacity(24);
    number.to_wire(&mut wire);
    out.put_slice(&wire);
}

fn write_uuid(text: &str, out: &mut BytesMut) {
    match uuid::Uuid::parse_str(text) {
        Ok(uuid) => out.put_slice(uuid.as_bytes()),
        Err(_) => out.put_bytes(0, 16),
    }
}

/// Number of dimensions, whether there are NULLs, element type, length and lower bound, elements.
fn write_list(
    lists: &ListArray,
    items: &BinaryColumn,
    (oid, lower): (u32, i32),
    row: usize,
    out: &mut BytesMut,
) {
    let offsets = lists.value_offsets();
    let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
    // Vectors have a dimension even without items.
    let has_dimension = end > start || lower == 0;
    out.put_i32(i32::from(has_dimension));
    out.put_i32(i32::from((start..end).any(|item| lists.values().is_null(item))));
    out.put_u32(oid);
    if has_dimension {
        out.put_i32((end - start) as i32);
        out.put_i32(lower);
    }
    for item in start..end {
        write_part(items, item, out);
    }
}

/// The number of fields, then type and value of each.
fn write_record(fields: &[(u32, BinaryColumn)], row: usize, out: &mut BytesMut) {
    out.put_i32(fields.len() as i32);
    for (oid, values) in fields {
        out.put_u32(*oid);
        write_part(values, row, out);
    }
}

/// The length of a value, then the value.
fn write_part(values: &BinaryColumn, row: usize, out: &mut BytesMut) {
    let place = out.len();
    out.put_i32(NULL_LENGTH);
    if values.write(row, out) {
        let length = (out.len() - place - 4) as i32;
        out[place..place + 4].copy_from_slice(&length.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::ScalarValue;

    fn round_trip(value: &ScalarValue, sql_type: &SqlType) {
        let array = value.to_array().expect("an array");
        let column = BinaryColumn::new(&array, sql_type, |_| 23).expect("a column");
        let mut out = BytesMut::new();
        assert!(column.write(0, &mut out), "{value}");
        let back = read(&out, sql_type).expect("readable");
        let same = crate::assign::converted(&back, array.data_type()).expect("castable");
        assert_eq!(&same.to_array().expect("an array"), &array, "{value}");
    }

    #[test]
    fn values_survive_a_round_trip() {
        let numeric = |value, scale| ScalarValue::Decimal128(Some(value), 38, scale);
        for value in
            [0, 1, -1, 9_999, 10_000, 123_456_789, -1_000_000_000_001, i128::from(i64::MAX)]
        {
            for scale in [0, 1, 2, 4, 7, 10] {
                round_trip(&numeric(value, scale), &SqlType::Numeric { precision: 38, scale });
            }
        }
        round_trip(&ScalarValue::Boolean(Some(true)), &SqlType::Boolean);
        round_trip(&ScalarValue::Int16(Some(-3)), &SqlType::SmallInt);
        round_trip(&ScalarValue::Int32(Some(i32::MIN)), &SqlType::Integer);
        round_trip(&ScalarValue::Int64(Some(i64::MAX)), &SqlType::BigInt);
        round_trip(&ScalarValue::Float32(Some(1.5)), &SqlType::Real);
        round_trip(&ScalarValue::Float64(Some(-0.1)), &SqlType::Double);
        round_trip(&ScalarValue::Utf8View(Some("äx".to_owned())), &SqlType::Text);
        let json = "{\"a\": 1}".to_owned();
        round_trip(&ScalarValue::Utf8View(Some(json)), &SqlType::Jsonb);
        let uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11".to_owned();
        round_trip(&ScalarValue::Utf8View(Some(uuid)), &SqlType::Uuid);
        round_trip(&ScalarValue::BinaryView(Some(vec![0, 255])), &SqlType::Bytea);
        round_trip(&ScalarValue::Date32(Some(20_000)), &SqlType::Date);
        round_trip(&ScalarValue::Time64Microsecond(Some(86_399_999_999)), &SqlType::Time);
        round_trip(&ScalarValue::TimestampMicrosecond(Some(-1), None), &SqlType::Timestamp);
        for infinite in [moments::LAST_TIMESTAMP, moments::FIRST_TIMESTAMP] {
            let infinite = ScalarValue::TimestampMicrosecond(Some(infinite), None);
            round_trip(&infinite, &SqlType::Timestamp);
        }
        round_trip(&ScalarValue::Date32(Some(moments::FIRST_DATE)), &SqlType::Date);
        let list = ScalarValue::new_list_nullable(
            &[ScalarValue::Int32(Some(1)), ScalarValue::Int32(None)],
            &arrow::datatypes::DataType::Int32,
        );
        round_trip(&ScalarValue::List(list), &SqlType::Array(Box::new(SqlType::Integer)));
        let number = |text: &str| numbers::constant(&text.parse().expect("a number"));
        round_trip(&number("1.50"), &SqlType::NUMERIC);
        round_trip(&number("-Infinity"), &SqlType::NUMERIC);
        let numbers = [number("1.50"), number("1e40"), number("NaN")];
        let list = ScalarValue::new_list_nullable(&numbers, &SqlType::NUMERIC.arrow());
        round_trip(&ScalarValue::List(list), &SqlType::Array(Box::new(SqlType::NUMERIC)));
    }

    #[test]
    fn numeric_has_postgresqls_digits() {
        let mut out = BytesMut::new();
        numeric::write(1_234_567, 2, &mut out);
        assert_eq!(&out[..], [0, 3, 0, 1, 0, 0, 0, 2, 0, 1, 0x09, 0x29, 0x1a, 0x2c]);
    }

    #[test]
    fn a_single_character_is_one_byte() {
        let texts: ArrayRef = std::sync::Arc::new(StringViewArray::from(vec!["r", "", "ab"]));
        let column = BinaryColumn::new(&texts, &types::CHAR, |_| 18).expect("a column");
        let mut out = BytesMut::new();
        (0..3).for_each(|row| assert!(column.write(row, &mut out)));
        assert_eq!(&out[..], b"r\0a");
        let read = |bytes: &[u8]| read(bytes, &types::CHAR).map(|value| value.to_string());
        assert_eq!(read(b"r"), Ok("r".to_owned()));
        assert_eq!(read(b"\0"), Ok(String::new()));
        assert!(read(b"ab").is_err());
        assert!(read(&[200]).is_err());
    }

    #[test]
    fn names_of_objects_are_their_ids() {
        let ids: ArrayRef = std::sync::Arc::new(PrimitiveArray::<Int64Type>::from(vec![1259]));
        let both = shown::with_texts(&ids, StringViewArray::from(vec!["pg_class"]));
        let both = both.expect("of the same length");
        let regclass = SqlType::System(store::catalog::SystemType::Regclass);
        let column = BinaryColumn::new(&both, &regclass, |_| 0).expect("a column");
        let mut out = BytesMut::new();
        assert!(column.write(0, &mut out));
        assert_eq!(&out[..], 1259_u32.to_be_bytes());
        let read = read(&out, &regclass).expect("an id");
        assert_eq!(read, ScalarValue::Int64(Some(1259)));
    }

    #[test]
    fn damaged_values_are_refused() {
        assert!(read(&[0, 0, 1], &SqlType::Integer).is_err());
        assert!(read(&[0xff], &SqlType::Text).is_err());
        assert!(read(b"{}", &SqlType::Jsonb).is_err());
        assert!(read(&[0, 9, 0, 0], &SqlType::Numeric { precision: 38, scale: 2 }).is_err());
        let list = SqlType::Array(Box::new(SqlType::Integer));
        assert!(
            read(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1], &list)
                .is_err()
        );
    }
}
