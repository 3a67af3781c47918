//! Expressions of plain values, built as the analyzer builds them. The wanted values are PostgreSQL's.

use super::{Callee, Caller, Scalar};
use crate::value::Value;
use datafusion::arrow::array::{Array, ArrayRef, Int32Array, ListArray};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use planner::{Conflict, NamedParameter};
use plpgsql::Register;
use std::sync::Arc;
use store::catalog::SqlType;
use system_catalog::{Oid, functions};
use typed_tree::{Call, Cast, Conversion, Executed, Expr, Kind, Literal};
use values::error::{Result, SqlState};

#[derive(Clone, Copy)]
enum Argument {
    T(&'static str),
    I(i64),
    /// A date.
    D(&'static str),
    /// A timestamp.
    M(&'static str),
    /// An interval.
    S(&'static str),
    /// NULL of a type.
    N(Oid),
}

use Argument::{D, I, M, N, S, T};

fn literal(argument: Argument) -> Expr {
    let written =
        |text: &str, of: Oid| Expr::new(Kind::Literal(Literal::Text(text.to_owned())), of, -1);
    match argument {
        T(text) => written(text, Oid::TEXT),
        I(number) => Expr::new(Kind::Literal(Literal::Integer(number)), Oid::INT4, -1),
        D(text) => written(text, Oid::DATE),
        M(text) => written(text, Oid::TIMESTAMP),
        S(text) => written(text, Oid::INTERVAL),
        N(of) => Expr::null(of),
    }
}

/// A call of the function of the system for the types of the arguments, or of the only one of the name.
fn call(name: &str, arguments: Vec<Expr>, of: Option<Oid>) -> Expr {
    let given: Vec<Oid> = arguments.iter().map(|argument| argument.sql_type.oid).collect();
    let exact = functions::named(name).find(|function| function.arguments == given);
    let function = exact.or_else(|| functions::named(name).next()).expect("a function");
    let call = Call::of_system(function.oid, arguments);
    Expr::new(Kind::Call(call), of.unwrap_or(function.result), -1)
}

fn of_literals(name: &str, arguments: &[Argument]) -> Expr {
    call(name, arguments.iter().copied().map(literal).collect(), None)
}

/// The expression over variables with these values.
fn compiled(expr: &Expr, variables: &[Value]) -> Option<Scalar> {
    calling(expr, variables, false)
}

/// As [`compiled`], which may call functions of users or not.
fn calling(expr: &Expr, variables: &[Value], may_call: bool) -> Option<Scalar> {
    let name = |(at, value): (usize, &Value)| NamedParameter {
        qualifier: None,
        name: format!("v{at}"),
        sql_type: value.of.clone(),
        conflict: Conflict::Error,
    };
    let names: Vec<NamedParameter> = variables.iter().enumerate().map(name).collect();
    Scalar::of_expression(expr, &names, &|_| may_call)
}

/// The text of a value; `left` if the engine has to compute it, and the SQLSTATE of an error.
fn shown(expr: &Expr, variables: &[Value]) -> String {
    let scalar = compiled(expr, variables).expect("an expression of plain values");
    let value = scalar.value(&|place| variables.get(place));
    if let Some(new) = scalar.register(&|place| variables.get(place)) {
        let usual = value.as_ref().and_then(|value| value.as_ref().ok()).expect("a value");
        let mut same = Value::null(&usual.of);
        assert!(scalar.put(new, &mut same) || new == Register::NULL, "{new:?}");
        assert_eq!(same.scalar, usual.scalar, "in a register");
    }
    match value {
        None => "left".to_owned(),
        Some(Ok(value)) if value.scalar.is_null() => "NULL".to_owned(),
        Some(Ok(value)) => value.scalar.to_string(),
        Some(Err(error)) => error.state().code().to_owned(),
    }
}

fn variable(number: u32, of: Oid) -> Expr {
    Expr::new(Kind::Parameter(number), of, -1)
}

fn integers(items: Vec<Option<i32>>) -> Value {
    let items: ArrayRef = Arc::new(Int32Array::from(items));
    let field = Arc::new(Field::new_list_field(DataType::Int32, true));
    let list = ListArray::new(field, OffsetBuffer::from_lengths([items.len()]), items, None);
    let of = SqlType::Array(Box::new(SqlType::Integer));
    Value { scalar: ScalarValue::List(Arc::new(list)), of }
}

fn text(of: &str) -> Value {
    Value { scalar: ScalarValue::Utf8View(Some(of.to_owned())), of: SqlType::Text }
}

#[test]
fn functions_of_texts_are_those_of_postgresql() {
    let table: &[(&str, &[Argument], &str)] = &[
        ("substr", &[T("héllo"), I(2), I(3)], "éll"),
        ("substr", &[T("abc"), I(-1), I(3)], "a"),
        ("substr", &[T("abc"), I(0)], "abc"),
        ("substring", &[T("abc"), I(5)], ""),
        ("left", &[T("héllo"), I(-2)], "hél"),
        ("left", &[T("abc"), I(5)], "abc"),
        ("left", &[T("abc"), I(-5)], ""),
        ("right", &[T("abc"), I(0)], ""),
        ("right", &[T("héllo"), I(2)], "lo"),
        ("right", &[T("héllo"), I(-2)], "llo"),
        ("right", &[T("abc"), I(9)], "abc"),
        ("lpad", &[T("hi"), I(5), T("xy")], "xyxhi"),
        ("lpad", &[T("hello"), I(2)], "he"),
        ("rpad", &[T("hi"), I(4)], "hi  "),
        ("rpad", &[T("hi"), I(-1)], ""),
        ("lpad", &[T("a"), I(3), T("")], "a"),
        ("replace", &[T("abcabc"), T("b"), T("xx")], "axxcaxxc"),
        ("replace", &[T("abc"), T(""), T("x")], "abc"),
        ("strpos", &[T("héllo"), T("l")], "3"),
        ("position", &[T("abc"), T("")], "1"),
        ("strpos", &[T("abc"), T("z")], "0"),
        ("btrim", &[T("xxhix"), T("x")], "hi"),
        ("btrim", &[T("  a ")], "a"),
        ("ltrim", &[T("  a ")], "a "),
        ("rtrim", &[T("aé!?"), T("?!")], "aé"),
        ("ascii", &[T("é")], "233"),
        ("ascii", &[T("")], "0"),
        ("chr", &[I(233)], "é"),
        ("upper", &[T("straße é")], "STRAßE É"),
        ("lower", &[T("ÀB")], "àb"),
        ("repeat", &[T("ab"), I(3)], "ababab"),
        ("repeat", &[T("ab"), I(-1)], ""),
        ("reverse", &[T("aé")], "éa"),
        ("textlike", &[T("abc"), T("a%")], "true"),
        ("textlike", &[T("abc"), T("a_")], "false"),
        ("textnlike", &[T("a%"), T("a\\%")], "false"),
        ("starts_with", &[T("abc"), T("ab")], "true"),
    ];
    for (name, arguments, wanted) in table {
        assert_eq!(shown(&of_literals(name, arguments), &[]), *wanted, "{name}");
    }
}

#[test]
fn an_argument_that_is_null_makes_null() {
    for expr in [
        of_literals("substr", &[T("abc"), N(Oid::INT4)]),
        of_literals("replace", &[T("abc"), N(Oid::TEXT), T("x")]),
        of_literals("textcat", &[T("abc"), N(Oid::TEXT)]),
        of_literals("date_pli", &[N(Oid::DATE), I(1)]),
        of_literals("date_lt", &[D("2024-01-01"), N(Oid::DATE)]),
    ] {
        assert_eq!(shown(&expr, &[]), "NULL");
    }
}

#[test]
fn errors_have_their_codes_or_are_left_to_the_engine() {
    assert_eq!(shown(&of_literals("chr", &[I(0)]), &[]), SqlState::ProgramLimitExceeded.code());
    assert_eq!(shown(&of_literals("chr", &[I(-1)]), &[]), SqlState::InvalidParameterValue.code());
    let unfinished = of_literals("textlike", &[T("a"), T("\\")]);
    assert_eq!(shown(&unfinished, &[]), SqlState::InvalidEscapeSequence.code());
    let sum = of_literals("int4pl", &[I(2_147_483_647), I(1)]);
    assert_eq!(shown(&sum, &[]), SqlState::NumericValueOutOfRange.code());
    let rest = of_literals("mod", &[I(1), I(0)]);
    assert_eq!(shown(&rest, &[]), SqlState::DivisionByZero.code());
    assert_eq!(shown(&of_literals("substr", &[T("abc"), I(2), I(-1)]), &[]), "left");
    assert_eq!(shown(&of_literals("lpad", &[T("abc"), I(2_000_000_000)]), &[]), "left");
    let last = Value { scalar: ScalarValue::Date32(Some(2_145_042_905)), of: SqlType::Date };
    let after = call("date_pli", vec![variable(1, Oid::DATE), literal(I(1))], None);
    assert_eq!(shown(&after, &[last]), "left");
}

#[test]
fn dates_are_computed_by_the_calendar() {
    let day = |name, arguments: &[Argument]| shown(&of_literals(name, arguments), &[]);
    assert_eq!(day("date_pli", &[D("2024-02-28"), I(2)]), "2024-03-01");
    assert_eq!(day("date_mii", &[D("2024-03-01"), I(1)]), "2024-02-29");
    assert_eq!(day("date_mi", &[D("2024-03-01"), D("2023-03-01")]), "366");
    assert_eq!(day("date_le", &[D("2024-03-01"), D("2024-03-01")]), "true");
    assert_eq!(day("timestamp_gt", &[M("2024-03-01"), M("2024-03-01 00:00:01")]), "false");
    let sum = of_literals("timestamp_pl_interval", &[M("2024-01-31 10:00:00"), S("1 mon 1 day")]);
    let equal = call("timestamp_eq", vec![sum, literal(M("2024-03-01 10:00:00"))], None);
    assert_eq!(shown(&equal, &[]), "true");
    for (field, wanted) in [("year", "2024"), ("dow", "4"), ("doy", "60"), ("week", "9")] {
        let part = call("extract", vec![literal(T(field)), literal(D("2024-02-29"))], None);
        let whole = Cast {
            value: Box::new(part),
            conversion: Conversion::Function(Oid::INT4),
            is_explicit: true,
        };
        assert_eq!(shown(&Expr::new(Kind::Cast(whole), Oid::INT4, -1), &[]), wanted, "{field}");
    }
}

#[test]
fn tests_know_null() {
    let null = || Expr::null(Oid::INT4);
    let one = || literal(I(1));
    let equal = |left, right| {
        let Kind::Call(call) = call("int4eq", vec![left, right], None).kind else {
            panic!("a call")
        };
        call
    };
    let of = |kind: Kind, oid: Oid| shown(&Expr::new(kind, oid, -1), &[]);
    assert_eq!(of(Kind::IsDistinct(equal(null(), null())), Oid::BOOL), "false");
    assert_eq!(of(Kind::IsDistinct(equal(one(), null())), Oid::BOOL), "true");
    assert_eq!(of(Kind::NullIf(equal(one(), one())), Oid::INT4), "NULL");
    assert_eq!(of(Kind::NullIf(equal(one(), null())), Oid::INT4), "1");
    assert_eq!(of(Kind::Greatest(vec![one(), null(), literal(I(3))]), Oid::INT4), "3");
    assert_eq!(of(Kind::Least(vec![null(), null()]), Oid::INT4), "NULL");
}

#[test]
fn items_and_lengths_of_arrays_are_read() {
    let array = || variable(1, Oid::INT4_ARRAY);
    let of_array = |name, arguments| call(name, arguments, Some(Oid::INT4));
    let item = |at| {
        let subscripts = vec![(None, Some(literal(I(at))))];
        let array = Box::new(array());
        Expr::new(Kind::Subscript { array, subscripts, is_slice: false }, Oid::INT4, -1)
    };
    let some = [integers(vec![Some(7), None])];
    let none = [integers(vec![])];
    for (at, wanted) in [(1, "7"), (2, "NULL"), (3, "NULL"), (0, "NULL")] {
        assert_eq!(shown(&item(at), &some), wanted);
    }
    let length = of_array("array_length", vec![array(), literal(I(1))]);
    let cardinality = of_array("cardinality", vec![array()]);
    assert_eq!((shown(&length, &some), shown(&cardinality, &some)), ("2".into(), "2".into()));
    assert_eq!((shown(&length, &none), shown(&cardinality, &none)), ("NULL".into(), "0".into()));
}

#[test]
fn a_variable_becomes_longer_in_place() {
    let append = vec![variable(1, Oid::INT4_ARRAY), literal(I(9))];
    let append = call("array_append", append, Some(Oid::INT4_ARRAY));
    let join = call("textcat", vec![variable(1, Oid::TEXT), literal(T("c"))], None);
    let longer = integers(vec![Some(7), Some(9)]);
    for (expr, old, new) in
        [(append, integers(vec![Some(7)]), longer), (join, text("ab"), text("abc"))]
    {
        let mut variables = [old];
        let scalar = compiled(&expr, &variables).expect("an expression of plain values");
        assert_eq!(scalar.extends(), Some(0));
        let whole = scalar.value(&|place| variables.get(place)).expect("a value");
        assert_eq!(whole.expect("no error").scalar, new.scalar);
        let more = scalar.extension(&|place| variables.get(place)).expect("a value");
        assert!(Scalar::extend(&mut variables[0], more.expect("no error")).expect("no error"));
        assert_eq!(variables[0].scalar, new.scalar);
    }
}

/// A function of a user whose value is its argument.
struct Same;

impl Caller for Same {
    fn call(&self, _: &Arc<Callee>, arguments: Vec<ScalarValue>) -> Result<ScalarValue> {
        Ok(arguments.into_iter().next().expect("an argument"))
    }
}

fn same(argument: Expr) -> Expr {
    let (signature, of) = ("same(text)".to_owned(), argument.sql_type.oid);
    let (is_volatile, is_foreign, columns) = (true, false, Vec::new());
    let executed = Executed { id: 1, signature, is_volatile, is_foreign, columns };
    let call = Call::of_system(Oid(0), vec![argument]);
    let call = Call { executed: Some(Arc::new(executed)), ..call };
    Expr::new(Kind::Call(call), of, -1)
}

#[test]
fn an_expression_with_calls_never_stops_within() {
    let variables = [Value { scalar: ScalarValue::Int32(Some(2)), of: SqlType::Integer }];
    let (two, number) = (|| literal(I(2)), || variable(1, Oid::INT4));
    let text = || same(literal(T("hello")));
    let known = [
        (call("left", vec![text(), number()], None), "he"),
        (call("substr", vec![text(), number()], None), "ello"),
        (call("substr", vec![text(), number(), two()], None), "el"),
    ];
    for (expr, wanted) in &known {
        let scalar = calling(expr, &variables, true).expect("an expression of plain values");
        let value = scalar.value_calling(&|place| variables.get(place), &Same);
        let value = value.expect("a value").expect("no error");
        assert_eq!(value.scalar.to_string(), *wanted);
    }
    let uncertain = [
        call("substr", vec![text(), two(), number()], None),
        call("repeat", vec![text(), number()], None),
        call("replace", vec![text(), text(), text()], None),
    ];
    for expr in &uncertain {
        assert!(calling(expr, &variables, true).is_none());
    }
}
