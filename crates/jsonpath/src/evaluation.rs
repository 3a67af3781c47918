//! The items that a path finds in a document.

use crate::numbers;
use crate::path::{Expr, Head, LEAVES, Method, Path, Step};
use crate::scan::string;
use values::error::{Error, Result, SqlState};
use values::json::access;
use values::json::normal;
use values::json::raw::{Value, elements, members};
use values::json::string::unescape;

/// Why an evaluation ends before its end.
#[derive(Debug)]
pub enum Stop {
    /// The caller has what it needs.
    Enough,
    /// An error of the document, which conditions take for unknown, and functions can be told to ignore.
    Failed(Error),
    /// Any other error.
    Refused(Error),
}

pub(crate) type Found = std::result::Result<(), Stop>;

/// Takes the items as they are found.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(&str) -> Found;

/// An evaluation of a path.
pub struct Evaluation<'a> {
    path: &'a Path,
    document: &'a str,
    variables: &'a str,
}

/// The surroundings of an expression.
#[derive(Clone, Copy)]
pub(crate) struct At<'v> {
    /// `@`
    pub(crate) current: &'v str,
    /// The number of elements of the array that is subscripted.
    size: Option<usize>,
    /// Whether a step that does not fit an item finds nothing.
    is_lenient: bool,
}

impl<'a> Evaluation<'a> {
    /// The evaluation of a path in a document, with an object of variables.
    ///
    /// # Errors
    /// 22023: the variables are no object.
    pub fn new(path: &'a Path, document: &'a str, variables: &'a str) -> Result<Self> {
        if !matches!(Value::of(variables), Value::Object(_)) {
            let message = "\"vars\" argument is not an object";
            return Err(Error::new(SqlState::InvalidParameterValue, message).with_detail(
                "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.",
            ));
        }
        Ok(Self { path, document, variables })
    }

    /// Hands out the items until there are no more, or the sink stops.
    ///
    /// # Errors
    /// Why it stopped.
    pub fn items(&self, take: &mut dyn FnMut(&str) -> Found) -> Found {
        let at = At { current: self.document, size: None, is_lenient: self.is_lax() };
        self.expr(&self.path.expr, at, take)
    }

    /// Whether the path finds an item. A strict path is evaluated to its end, for its errors.
    ///
    /// # Errors
    /// Why it stopped.
    pub fn exists(&self) -> std::result::Result<bool, Stop> {
        let mut is_found = false;
        let found = self.items(&mut |_| {
            is_found = true;
            if self.is_lax() { Err(Stop::Enough) } else { Ok(()) }
        });
        match found {
            Ok(()) | Err(Stop::Enough) => Ok(is_found),
            Err(stop) => Err(stop),
        }
    }

    pub(crate) fn is_lax(&self) -> bool {
        !self.path.is_strict
    }

    pub(crate) fn expr(&self, expr: &Expr, at: At<'_>, sink: Sink<'_>) -> Found {
        let mut next = |item: &str| self.steps(&expr.steps, at, item, self.is_lax(), sink);
        match &expr.head {
            Head::Constant(value) => next(value),
            Head::Root => next(self.document),
            Head::Current => next(at.current),
            Head::Last => next(&(at.size.unwrap_or(0) as i64 - 1).to_string()),
            Head::Variable(name) => next(self.variable(name)?),
            Head::Condition(condition) => next(self.truth(condition, at)?.text()),
            Head::Arithmetic(operator, operands) => {
                let left = self.operand(&operands.0, at, "left", *operator)?;
                let right = self.operand(&operands.1, at, "right", *operator)?;
                next(&numbers::computed(*operator, &left, &right).map_err(of_number)?)
            }
            Head::Positive(operand) => self.signed(operand, at, '+', sink, &expr.steps),
            Head::Negative(operand) => self.signed(operand, at, '-', sink, &expr.steps),
        }
    }

    fn variable(&self, name: &str) -> std::result::Result<&str, Stop> {
        let found = access::field(self.variables, name).map_err(Stop::Refused)?;
        found.ok_or_else(|| {
            let message = format!("could not find jsonpath variable \"{name}\"");
            Stop::Refused(Error::new(SqlState::UndefinedObject, message))
        })
    }

    /// The number that an operand of an operator is.
    fn operand(
        &self,
        operand: &Expr,
        at: At<'_>,
        side: &str,
        operator: char,
    ) -> std::result::Result<String, Stop> {
        let mut items = self.opened(operand, at)?;
        match (items.pop(), items.is_empty()) {
            (Some(number), true) if is_number(&number) => Ok(number),
            _ => Err(failed(
                SqlState::SingletonSqlJsonItemRequired,
                format!(
                    "{side} operand of jsonpath operator {operator} is not a single numeric value"
                ),
            )),
        }
    }

    /// The numbers that an operand finds, with a sign.
    fn signed(
        &self,
        operand: &Expr,
        at: At<'_>,
        sign: char,
        sink: Sink<'_>,
        steps: &[Step],
    ) -> Found {
        for item in self.opened(operand, at)? {
            if !is_number(&item) {
                return Err(failed(
                    SqlState::SqlJsonNumberNotFound,
                    format!("operand of unary jsonpath operator {sign} is not a numeric value"),
                ));
            }
            let number = if sign == '-' { numbers::negated(&item) } else { item };
            self.steps(steps, at, &number, self.is_lax(), sink)?;
        }
        Ok(())
    }

    /// The items of an expression; instead of arrays their elements, if the path is lax.
    pub(crate) fn opened(&self, expr: &Expr, at: At<'_>) -> std::result::Result<Vec<String>, Stop> {
        let mut items = Vec::new();
        self.expr(expr, at, &mut |item| {
            match Value::of(item) {
                Value::Array(array) if self.is_lax() => {
                    items.extend(elements(array).map(str::to_owned))
                }
                _ => items.push(item.to_owned()),
            }
            Ok(())
        })?;
        Ok(items)
    }

    /// Follows steps from an item. The first is taken from the elements of an array if it does not fit the array and `opens`.
    fn steps(&self, steps: &[Step], at: At<'_>, item: &str, opens: bool, sink: Sink<'_>) -> Found {
        let Some((step, rest)) = steps.split_first() else { return sink(item) };
        let value = Value::of(item);
        let opened = match (value, step) {
            (_, Step::AnyElement | Step::Elements(_) | Step::AnyLevel(..)) => None,
            (_, Step::Method(Method::Type | Method::Size)) => None,
            (Value::Array(array), _) if opens => Some(array),
            _ => None,
        };
        if let Some(array) = opened {
            return elements(array).try_for_each(|item| self.steps(steps, at, item, false, sink));
        }
        let mut next = |item: &str| self.steps(rest, at, item, self.is_lax(), sink);
        match step {
            Step::Key(key) => self.member(key, at, item, &mut next),
            Step::AnyKey => match value {
                Value::Object(object) => members(object).try_for_each(|(_, value)| next(value)),
                _ if at.is_lenient => Ok(()),
                _ => Err(failed(
                    SqlState::SqlJsonObjectNotFound,
                    "jsonpath wildcard member accessor can only be applied to an object",
                )),
            },
            Step::AnyElement => match value {
                Value::Array(array) => elements(array).try_for_each(next),
                _ if self.is_lax() => next(item),
                _ if at.is_lenient => Ok(()),
                _ => Err(failed(
                    SqlState::SqlJsonArrayNotFound,
                    "jsonpath wildcard array accessor can only be applied to an array",
                )),
            },
            Step::Elements(places) => self.elements(places, at, item, &mut next),
            Step::AnyLevel(first, last) => {
                let inside = At { is_lenient: true, ..at };
                let mut next = |item: &str| self.steps(rest, inside, item, self.is_lax(), sink);
                if *first == 0 {
                    next(item)?;
                }
                if *last == 0 { Ok(()) } else { below(item, 1, *first, *last, &mut next) }
            }
            Step::Filter(condition) => {
                match self.truth(condition, At { current: item, ..at })?.is_true() {
                    true => next(item),
                    false => Ok(()),
                }
            }
            Step::Method(method) => next(&self.called(*method, at, item)?),
        }
    }

    fn member(&self, key: &str, at: At<'_>, item: &str, next: Sink<'_>) -> Found {
        let missing = match Value::of(item) {
            Value::Object(object) => match access::field(object, key).map_err(Stop::Refused)? {
                Some(value) => return next(value),
                None => format!("JSON object does not contain key \"{key}\""),
            },
            _ => "jsonpath member accessor can only be applied to an object".to_owned(),
        };
        if at.is_lenient { Ok(()) } else { Err(failed(SqlState::SqlJsonMemberNotFound, missing)) }
    }

    fn elements(
        &self,
        places: &[(Expr, Option<Expr>)],
        at: At<'_>,
        item: &str,
        next: Sink<'_>,
    ) -> Found {
        let items: Vec<&str> = match Value::of(item) {
            Value::Array(array) => elements(array).collect(),
            _ if self.is_lax() => vec![item],
            _ if at.is_lenient => return Ok(()),
            _ => {
                return Err(failed(
                    SqlState::SqlJsonArrayNotFound,
                    "jsonpath array accessor can only be applied to an array",
                ));
            }
        };
        let inside = At { size: Some(items.len()), ..at };
        for (from, to) in places {
            let from = self.index(from, inside)?;
            let to = to.as_ref().map_or(Ok(from), |to| self.index(to, inside))?;
            let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
            if !at.is_lenient && (from < 0 || from > to || to >= count) {
                let message = "jsonpath array subscript is out of bounds";
                return Err(failed(SqlState::InvalidSqlJsonSubscript, message));
            }
            for place in from.max(0)..=to.min(count - 1) {
                if let Some(item) = usize::try_from(place).ok().and_then(|place| items.get(place)) {
                    next(item)?;
                }
            }
        }
        Ok(())
    }

    fn index(&self, expr: &Expr, at: At<'_>) -> std::result::Result<i64, Stop> {
        let mut items = Vec::new();
        self.expr(expr, at, &mut |item| {
            items.push(item.to_owned());
            Ok(())
        })?;
        let number = items.pop().filter(|item| items.is_empty() && is_number(item));
        let wrong = |message| failed(SqlState::InvalidSqlJsonSubscript, message);
        let number = number
            .ok_or_else(|| wrong("jsonpath array subscript is not a single numeric value"))?;
        let index = numbers::index(&number).map(i64::from);
        index.ok_or_else(|| wrong("jsonpath array subscript is out of integer range"))
    }

    fn called(&self, method: Method, at: At<'_>, item: &str) -> std::result::Result<String, Stop> {
        let value = Value::of(item);
        let wrong = |state, to: &str| {
            let message =
                format!("jsonpath item method .{}() can only be applied to {to}", method.name());
            failed(state, message)
        };
        match (method, value) {
            (Method::Type, _) => Ok(string(value.kind())),
            (Method::Size, Value::Array(array)) => Ok(elements(array).count().to_string()),
            (Method::Size, _) if self.is_lax() || at.is_lenient => Ok("1".to_owned()),
            (Method::Size, _) => Err(wrong(SqlState::SqlJsonArrayNotFound, "an array")),
            (Method::Double, Value::Number(number)) => match number.parse::<f64>() {
                Ok(double) if double.is_finite() => Ok(number.to_owned()),
                _ => Err(failed(
                    SqlState::NonNumericSqlJsonItem,
                    "numeric argument of jsonpath item method .double() is out of range for type double precision",
                )),
            },
            (Method::Double, Value::Text(quoted)) => double(quoted),
            (Method::Double, _) => {
                Err(wrong(SqlState::NonNumericSqlJsonItem, "a string or numeric value"))
            }
            (Method::Abs, Value::Number(number)) => Ok(numbers::absolute(number)),
            (Method::Floor, Value::Number(number)) => {
                numbers::whole(number, false).map_err(of_number)
            }
            (Method::Ceiling, Value::Number(number)) => {
                numbers::whole(number, true).map_err(of_number)
            }
            _ => Err(wrong(SqlState::NonNumericSqlJsonItem, "a numeric value")),
        }
    }
}

/// The items at some levels below one. [`LEAVES`] as the first are scalars at any level.
fn below(item: &str, level: u32, first: u32, last: u32, next: Sink<'_>) -> Found {
    let mut each = |child: &str| {
        let is_leaf = Value::of(child).is_scalar();
        if level >= first || (first == LEAVES && last == LEAVES && is_leaf) {
            next(child)?;
        }
        if level < last && !is_leaf { below(child, level + 1, first, last, next) } else { Ok(()) }
    };
    match Value::of(item) {
        Value::Array(array) => elements(array).try_for_each(each),
        Value::Object(object) => members(object).try_for_each(|(_, value)| each(value)),
        _ => Ok(()),
    }
}

/// A string as a floating-point number.
fn double(quoted: &str) -> std::result::Result<String, Stop> {
    let wrong = |message| failed(SqlState::NonNumericSqlJsonItem, message);
    let text = unescape(quoted).map_err(Stop::Refused)?;
    let value: f64 = text.trim().parse().map_err(|_| {
        wrong("string argument of jsonpath item method .double() is not a valid representation of a double precision number")
    })?;
    if !value.is_finite() {
        return Err(wrong("NaN or Infinity is not allowed for jsonpath item method .double()"));
    }
    let number = numbers::of_float(value).map_err(Stop::Refused)?;
    normal::of_json(&number).map_err(Stop::Refused)
}

fn is_number(item: &str) -> bool {
    matches!(Value::of(item), Value::Number(_))
}

pub(crate) fn failed(state: SqlState, message: impl Into<String>) -> Stop {
    Stop::Failed(Error::new(state, message))
}

/// The stop of an error of numbers: what cannot be held is no error of the document.
fn of_number(error: Error) -> Stop {
    if error.state() == SqlState::FeatureNotSupported {
        Stop::Refused(error)
    } else {
        Stop::Failed(error)
    }
}
