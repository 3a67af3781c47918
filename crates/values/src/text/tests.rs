//! The expected texts are those of PostgreSQL 17.

use super::write_value;
use arrow::array::*;
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::*;
use std::sync::Arc;

/// The text of each value; NULL as `<null>`.
fn texts(array: &dyn Array) -> Vec<String> {
    let text = |row| {
        let mut out = String::new();
        let written = write_value(array, row, &mut out).expect("has a text form");
        if written { out } else { "<null>".to_owned() }
    };
    (0..array.len()).map(text).collect()
}

#[test]
fn booleans_integers_and_null() {
    assert_eq!(
        texts(&BooleanArray::from(vec![Some(true), Some(false), None])),
        ["t", "f", "<null>"]
    );
    assert_eq!(texts(&Int16Array::from(vec![-32768, 0])), ["-32768", "0"]);
    assert_eq!(texts(&Int64Array::from(vec![i64::MIN])), ["-9223372036854775808"]);
    assert_eq!(texts(&UInt64Array::from(vec![u64::MAX])), ["18446744073709551615"]);
    assert_eq!(texts(&NullArray::new(1)), ["<null>"]);
}

#[test]
fn doubles_in_the_fewest_digits() {
    let values = [
        (0.1, "0.1"),
        (-0.0, "-0"),
        (1e14, "100000000000000"),
        (1e15, "1e+15"),
        (1e20, "1e+20"),
        (123456789012345680.0, "1.2345678901234568e+17"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-2.5e-7, "-2.5e-07"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ];
    let (numbers, expected): (Vec<f64>, Vec<&str>) = values.into_iter().unzip();
    assert_eq!(texts(&Float64Array::from(numbers)), expected);
}

#[test]
fn reals_in_the_fewest_digits() {
    let values = Float32Array::from(vec![0.1, 123456.0, 1234567.0, 1e6, 1e-5, 3.4028235e38]);
    let expected = ["0.1", "123456", "1.234567e+06", "1e+06", "1e-05", "3.4028235e+38"];
    assert_eq!(texts(&values), expected);
}

#[test]
fn numerics_show_their_scale() {
    let values = Decimal128Array::from(vec![12345, -5, 0, 100]);
    let scaled = |scale| values.clone().with_precision_and_scale(38, scale).expect("fits");
    assert_eq!(texts(&scaled(2)), ["123.45", "-0.05", "0.00", "1.00"]);
    assert_eq!(texts(&scaled(0)), ["12345", "-5", "0", "100"]);
    assert_eq!(texts(&scaled(5)), ["0.12345", "-0.00005", "0.00000", "0.00100"]);
    assert_eq!(texts(&scaled(-2)), ["1234500", "-500", "0", "10000"]);
}

#[test]
fn numerics_of_all_widths() {
    let small = Decimal32Array::from(vec![-123]).with_precision_and_scale(9, 1).expect("fits");
    assert_eq!(texts(&small), ["-12.3"]);
    let wide = Decimal256Array::from(vec![i256::from_i128(i128::MIN)])
        .with_precision_and_scale(76, 3)
        .expect("fits");
    assert_eq!(texts(&wide), ["-170141183460469231731687303715884105.728"]);
    let least = Decimal128Array::from(vec![i128::MIN]);
    assert_eq!(texts(&least)[0].replace('.', ""), "-170141183460469231731687303715884105728");
}

#[test]
fn dates_before_christ_and_after_year_9999() {
    let days = [
        0,
        -1,
        59,
        11_016,
        19_782,
        -719_162,
        -719_163,
        -735_000,
        2_932_897,
        i32::MAX - 1,
        i32::MAX,
    ];
    let expected = [
        "1970-01-01",
        "1969-12-31",
        "1970-03-01",
        "2000-02-29",
        "2024-02-29",
        "0001-01-01",
        "0001-12-31 BC",
        "0044-08-22 BC",
        "10000-01-01",
        "5881580-07-10",
        "infinity",
    ];
    assert_eq!(texts(&Date32Array::from(days.to_vec())), expected);
}

#[test]
fn times_of_day() {
    let micros = vec![0, 11_045_000_000, 86_399_999_999, 86_400_000_000];
    let expected = ["00:00:00", "03:04:05", "23:59:59.999999", "24:00:00"];
    assert_eq!(texts(&Time64MicrosecondArray::from(micros)), expected);
    assert_eq!(texts(&Time32SecondArray::from(vec![61])), ["00:01:01"]);
    assert_eq!(texts(&Time64NanosecondArray::from(vec![1_500_000_999])), ["00:00:01.5"]);
}

#[test]
fn timestamps_with_and_without_a_zone() {
    let micros = vec![Some(1_577_934_245_600_000), Some(-1), None];
    let plain = TimestampMicrosecondArray::from(micros);
    let expected = ["2020-01-02 03:04:05.6", "1969-12-31 23:59:59.999999", "<null>"];
    assert_eq!(texts(&plain), expected);
    let zoned = plain.with_timezone("+00:00");
    assert_eq!(texts(&zoned)[0], "2020-01-02 03:04:05.6+00");
    assert_eq!(texts(&TimestampSecondArray::from(vec![0])), ["1970-01-01 00:00:00"]);
    let long_ago = TimestampSecondArray::from(vec![-63_000_000_000]).with_timezone("UTC");
    assert_eq!(texts(&long_ago), ["0028-08-11 08:00:00+00 BC"]);
    assert_eq!(texts(&TimestampSecondArray::from(vec![i64::MIN])).len(), 1);
}

#[test]
fn intervals_in_postgres_style() {
    let interval = IntervalMonthDayNano::new;
    let values = vec![
        interval(1, 2, 11_045_000_000_000),
        interval(14, 0, 0),
        interval(0, 0, 0),
        interval(-1, 2, -500_000_000),
        interval(0, -1, 3_600_000_000_000),
        interval(-13, 1, 0),
        interval(0, 0, 360_000_000_000_000),
        interval(0, 0, i64::MIN),
    ];
    let expected = [
        "1 mon 2 days 03:04:05",
        "1 year 2 mons",
        "00:00:00",
        "-1 mons +2 days -00:00:00.5",
        "-1 days +01:00:00",
        "-1 years -1 mons +1 day",
        "100:00:00",
        "-2562047:47:16.854775",
    ];
    assert_eq!(texts(&IntervalMonthDayNanoArray::from(values)), expected);
    assert_eq!(texts(&IntervalYearMonthArray::from(vec![25])), ["2 years 1 mon"]);
}

#[test]
fn durations_as_differences_of_timestamps() {
    let micros = DurationMicrosecondArray::from(vec![93_600_000_000, -1_500_000, -86_400_000_000]);
    assert_eq!(texts(&micros), ["1 day 02:00:00", "-00:00:01.5", "-1 days"]);
}

#[test]
fn texts_and_bytes() {
    assert_eq!(texts(&StringViewArray::from(vec!["a\tb", ""])), ["a\tb", ""]);
    assert_eq!(texts(&LargeStringArray::from(vec!["ä"])), ["ä"]);
    assert_eq!(texts(&BinaryViewArray::from(vec![&[0u8, 255, 16][..], b""])), ["\\x00ff10", "\\x"]);
    let dictionary: DictionaryArray<Int8Type> =
        vec![Some("x"), None, Some("y")].into_iter().collect();
    assert_eq!(texts(&dictionary), ["x", "<null>", "y"]);
}

#[test]
fn arrays_quote_what_must_be_quoted() {
    let values = vec![
        Some("a b"),
        None,
        Some("null"),
        Some(""),
        Some("say \"hi\""),
        Some("back\\slash"),
        Some("{}"),
        Some("plain"),
    ];
    let offsets = OffsetBuffer::from_lengths([7, 1, 0]);
    let field = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let lists = ListArray::new(field, offsets, Arc::new(StringArray::from(values)), None);
    let first = r#"{"a b",NULL,"null","","say \"hi\"","back\\slash","{}"}"#;
    assert_eq!(texts(&lists), [first, "{plain}", "{}"]);
}

#[test]
fn arrays_in_arrays_are_dimensions() {
    let inner = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), Some(2)]),
        Some(vec![Some(3), None]),
    ]);
    let field = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
    let outer = ListArray::new(field, OffsetBuffer::from_lengths([2]), Arc::new(inner), None);
    assert_eq!(texts(&outer), ["{{1,2},{3,NULL}}"]);
}

#[test]
fn composites_double_their_quotes() {
    let number: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a \"b\"", "c"]));
    let fields = vec![
        (Arc::new(Field::new("n", DataType::Int32, true)), number),
        (Arc::new(Field::new("t", DataType::Utf8, true)), text),
    ];
    assert_eq!(texts(&StructArray::from(fields)), [r#"(1,"a ""b""")"#, "(,c)"]);
}
