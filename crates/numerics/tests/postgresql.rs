//! Replays what PostgreSQL 15 has answered: `postgresql.tsv`, which `postgresql.py` records.

use std::fmt::Write;

use numerics::{Error, Numeric, Totals};

/// An answer as it is recorded.
type Answer = Result<String, Error>;

#[test]
fn answers_are_those_of_postgresql() {
    let mut different = String::new();
    for line in include_str!("postgresql.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, arguments @ .., expected] = fields.as_slice() else { panic!("{line}") };
        let answer = shortened(match answer(name, arguments) {
            Ok(answer) => answer,
            Err(error) => format!("!{} {error}", error.sqlstate()),
        });
        if !same(name, &answer, expected) {
            writeln!(different, "{name}{arguments:?}\n  {answer}\n  {expected}").expect("a string");
        }
    }
    assert!(different.is_empty(), "{different}");
}

/// Long answers as they are recorded: their length and both ends.
fn shortened(answer: String) -> String {
    match answer.len() {
        ..=400 => answer,
        length => format!("#{length} {} {}", &answer[..40], &answer[length - 40..]),
    }
}

/// Whether answers are the same; floating point is compared by value.
fn same(name: &str, answer: &str, expected: &str) -> bool {
    match (name, answer.parse::<f64>(), expected.parse::<f64>()) {
        ("to_f64", Ok(answer), Ok(expected)) => answer.to_bits() == expected.to_bits(),
        ("to_f32", Ok(answer), Ok(expected)) => answer as f32 == expected as f32 || answer.is_nan(),
        _ => answer == expected,
    }
}

fn answer(name: &str, arguments: &[&str]) -> Answer {
    match (name, arguments) {
        ("parse", [text]) => Ok(Numeric::parse(text)?.to_string()),
        ("width_bucket", [number, first, second, count]) => {
            let (first, second) = (Numeric::parse(first)?, Numeric::parse(second)?);
            let count = count.parse().expect("a count");
            Ok(Numeric::parse(number)?.width_bucket(&first, &second, count)?.to_string())
        }
        ("with_precision", [number, precision, scale]) => {
            let precision = precision.parse().expect("a precision");
            let scale = scale.parse().expect("a scale");
            Ok(Numeric::parse(number)?.with_precision(precision, scale)?.to_string())
        }
        ("factorial", [value]) => {
            Ok(Numeric::factorial(value.parse().expect("an integer"))?.to_string())
        }
        ("from_f64", [value]) => Ok(Numeric::from_f64(value.parse().expect("a float")).to_string()),
        ("from_f32", [value]) => Ok(Numeric::from_f32(value.parse().expect("a float")).to_string()),
        (_, [numbers]) if numbers.starts_with('{') => of_totals(name, numbers),
        (_, [number]) => of_one(name, &Numeric::parse(number)?),
        ("round", [number, places]) => {
            Ok(Numeric::parse(number)?.round(places.parse().expect("places"))?.to_string())
        }
        ("trunc", [number, places]) => {
            Ok(Numeric::parse(number)?.trunc(places.parse().expect("places"))?.to_string())
        }
        (_, [left, right]) => of_two(name, &Numeric::parse(left)?, &Numeric::parse(right)?),
        _ => panic!("{name} of {arguments:?}"),
    }
}

fn of_one(name: &str, number: &Numeric) -> Answer {
    let result = match name {
        "neg" => number.neg(),
        "abs" => number.abs(),
        "signum" => number.signum(),
        "ceil" => number.ceil()?,
        "floor" => number.floor()?,
        "inc" => number.inc()?,
        "trim_scale" => number.trim_scale(),
        "sqrt" => number.sqrt()?,
        "exp" => number.exp()?,
        "ln" => number.ln()?,
        "log10" => number.log10()?,
        "scale" => return Ok(shown(number.scale())),
        "min_scale" => return Ok(shown(number.min_scale())),
        "to_i64" => return Ok(number.to_i64()?.to_string()),
        "to_i32" => return Ok(number.to_i32()?.to_string()),
        "to_i16" => return Ok(number.to_i16()?.to_string()),
        "to_f64" => return Ok(number.to_f64()?.to_string()),
        "to_f32" => return Ok(number.to_f32()?.to_string()),
        "wire" => return Ok(wire(number)),
        _ => panic!("{name} of one number"),
    };
    Ok(result.to_string())
}

fn of_two(name: &str, left: &Numeric, right: &Numeric) -> Answer {
    let result = match name {
        "add" => left.add(right)?,
        "sub" => left.sub(right)?,
        "mul" => left.mul(right)?,
        "div" => left.div(right)?,
        "rem" => left.rem(right)?,
        "div_trunc" => left.div_trunc(right)?,
        "gcd" => left.gcd(right)?,
        "lcm" => left.lcm(right)?,
        "log" => right.log(left)?,
        "power" => left.power(right)?,
        "cmp" => return Ok((left.cmp(right) as i32).to_string()),
        _ => panic!("{name} of two numbers"),
    };
    Ok(result.to_string())
}

fn of_totals(name: &str, numbers: &str) -> Answer {
    let numbers = numbers.trim_matches(['{', '}']).split(',').filter(|text| !text.is_empty());
    let numbers = numbers.map(Numeric::parse).collect::<Result<Vec<_>, _>>()?;
    let mut totals = Totals::new(true);
    let Some(name) = name.strip_suffix("_of_three") else {
        numbers.iter().for_each(|number| totals.add(number));
        return total(name, &totals);
    };
    let mut results = Vec::new();
    for (at, number) in numbers.iter().enumerate() {
        totals.add(number);
        if let Some(gone) = at.checked_sub(3) {
            totals.remove(&numbers[gone]);
        }
        results.push(total(name, &totals)?);
    }
    Ok(if results.is_empty() { "null".to_string() } else { results.join(" ") })
}

fn total(name: &str, totals: &Totals) -> Answer {
    let result = match name {
        "sum" => totals.sum()?,
        "avg" => totals.avg()?,
        "var_samp" => totals.variance(true)?,
        "var_pop" => totals.variance(false)?,
        "stddev_samp" => totals.stddev(true)?,
        "stddev_pop" => totals.stddev(false)?,
        _ => panic!("{name} of many numbers"),
    };
    Ok(shown(result))
}

/// The wire format in hexadecimal digits; that it is read again is checked on the way.
fn wire(number: &Numeric) -> String {
    let mut bytes = Vec::new();
    number.to_wire(&mut bytes);
    let read = Numeric::from_wire(&bytes).expect("the wire format");
    assert_eq!(read.to_string(), number.to_string());
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map_or("null".to_string(), |value| value.to_string())
}
