//! Table of engine messages and the PostgreSQL errors that replace them.
//!
//! A pattern is a part of the engine's message with `{}` for variable text. The new message has `{0}`, `{1}` for the
//! texts found there, `{0:type}` for a type's name and `{0:alias}` for an expression's alias. The first rule whose
//! pattern occurs in the message applies.

use super::type_names;
use crate::error::{Error, SqlState};

/// Pattern of the engine's message, SQLSTATE and new message.
struct Rule(&'static str, SqlState, &'static str);

const RULES: [Rule; 57] = {
    use SqlState as S;
    [
        // Types.
        Rule(
            "Failed to coerce then ({}) and else ({}) to common types in CASE WHEN",
            S::DatatypeMismatch,
            "CASE types {1:type} and {0:type} cannot be matched",
        ),
        Rule(
            "Incompatible inputs for Union: Previous inputs were of type {}, but got incompatible type {} on column",
            S::DatatypeMismatch,
            "UNION types {0:type} and {1:type} cannot be matched",
        ),
        Rule(
            "Inconsistent data type across values list at row {} column {}. Was {} but found {}",
            S::DatatypeMismatch,
            "VALUES types {2:type} and {3:type} cannot be matched",
        ),
        Rule(
            "Cannot access field at argument {}: type {} is not",
            S::WrongObjectType,
            "column notation applied to type {1:type}, which is not a composite type",
        ),
        Rule("unnest() can only be applied to", S::UndefinedFunction, "unnest() requires an array"),
        Rule(
            "Unsupported CAST from {} to {}",
            S::CannotCoerce,
            "cannot cast type {0:type} to {1:type}",
        ),
        Rule(
            "Cannot automatically convert {} to {}",
            S::CannotCoerce,
            "cannot cast type {0:type} to {1:type}",
        ),
        Rule(
            "Casting from {} to {} not supported",
            S::CannotCoerce,
            "cannot cast type {0:type} to {1:type}",
        ),
        Rule("value of {} is out of range {}", S::NumericValueOutOfRange, "{1:type} out of range"),
        Rule("{}Array overflow on", S::NumericValueOutOfRange, "{0:type} out of range"),
        Rule(
            "Decimal scale {} exceeds",
            S::NumericValueOutOfRange,
            "value overflows numeric format",
        ),
        Rule(
            "Cannot cast to {}. Overflowing on",
            S::DatetimeFieldOverflow,
            "{0:type} out of range",
        ),
        Rule("Timestamp out of range", S::DatetimeFieldOverflow, "timestamp out of range"),
        Rule(
            "Operator {} is not yet supported",
            S::UndefinedFunction,
            "operator does not exist: {0}",
        ),
        Rule(
            "Unsupported binary operator: Custom(\"{}\")",
            S::UndefinedFunction,
            "operator does not exist: {0}",
        ),
        Rule(
            "Argument #{} must be {}, got {}",
            S::UndefinedFunction,
            "argument {0} of a set-returning function cannot be {2:type}",
        ),
        Rule(
            "invalid Unicode scalar value",
            S::InvalidParameterValue,
            "requested character number is not valid",
        ),
        Rule(
            "using hex: Invalid character '{}'",
            S::InvalidParameterValue,
            "invalid hexadecimal digit: \"{0}\"",
        ),
        Rule(
            "There is no built-in encoding named '{}'",
            S::InvalidParameterValue,
            "unrecognized encoding: \"{0}\"",
        ),
        Rule(
            "[return_type] {} not supported for",
            S::UndefinedFunction,
            "the function does not exist for these argument types",
        ),
        Rule(
            "Decimal value {} overflows timestamp",
            S::DatetimeFieldOverflow,
            "timestamp out of range",
        ),
        // Names and positions in lists.
        Rule(
            "For SELECT DISTINCT, ORDER BY expressions {} must appear",
            S::InvalidColumnReference,
            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        ),
        Rule(
            "Invalid qualifier {}",
            S::UndefinedTable,
            "missing FROM-clause entry for table \"{0}\"",
        ),
        Rule(
            "Projections require unique expression names but the expression \"{}\" at position",
            S::AmbiguousColumn,
            "column reference \"{0:alias}\" is ambiguous",
        ),
        // Numbers of rows and columns.
        Rule(
            "{} queries have different number of columns",
            S::SyntaxError,
            "each {0} query must have the same number of columns",
        ),
        Rule(
            "should only return one column, but found 0",
            S::SyntaxError,
            "subquery has too few columns",
        ),
        Rule(
            "Non-recursive term and recursive term must have the same number of columns",
            S::SyntaxError,
            "each UNION query must have the same number of columns",
        ),
        Rule(
            "Cannot project plan column {} ('{}') to expected output field",
            S::DatatypeMismatch,
            "a column of the recursive query has one type in the non-recursive term but another type overall",
        ),
        Rule(
            "'{}' does not support zero arguments",
            S::UndefinedFunction,
            "function {0}() does not exist",
        ),
        Rule(
            "Function '{}' expects",
            S::UndefinedFunction,
            "function {0} does not exist for these arguments",
        ),
        Rule(
            "Function '{}' failed to match any signature",
            S::UndefinedFunction,
            "function {0} does not exist for these arguments",
        ),
        Rule(
            "Function '{}' user-defined coercion failed",
            S::UndefinedFunction,
            "function {0} does not exist for these arguments",
        ),
        Rule(
            "NTILE requires a positive integer",
            S::InvalidNtileArgument,
            "argument of ntile must be greater than zero",
        ),
        Rule(
            "RANGE requires exactly one ORDER BY column",
            S::WindowingError,
            "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
        ),
        Rule(
            "GROUPS requires an ORDER BY clause",
            S::WindowingError,
            "GROUPS mode requires an ORDER BY clause",
        ),
        Rule(
            "Argument {} to grouping function is not in grouping columns",
            S::GroupingError,
            "arguments to GROUPING must be grouping expressions of the associated query level",
        ),
        Rule(
            "join condition should not be empty",
            S::FeatureNotSupported,
            "EXCEPT and INTERSECT of rows without columns are not supported",
        ),
        Rule(
            "Inconsistent data length across values list",
            S::SyntaxError,
            "VALUES lists must all be the same length",
        ),
        Rule(
            "subquery returned more than one row",
            S::CardinalityViolation,
            "more than one row returned by a subquery used as an expression",
        ),
        Rule("LIMIT must be >=", S::InvalidRowCountInLimit, "LIMIT must not be negative"),
        Rule("OFFSET must be >=", S::InvalidRowCountInOffset, "OFFSET must not be negative"),
        // Functions in clauses that do not allow them.
        Rule(
            "Aggregate function calls cannot be nested",
            S::GroupingError,
            "aggregate function calls cannot be nested",
        ),
        Rule(
            "does not support logical expression AggregateFunction",
            S::GroupingError,
            "aggregate functions are not allowed here",
        ),
        Rule(
            "does not support logical expression WindowFunction",
            S::WindowingError,
            "window functions are not allowed here",
        ),
        // Values.
        Rule("ivide by zero", S::DivisionByZero, "division by zero"),
        Rule("Can't cast value {} to type {}", S::NumericValueOutOfRange, "{1:type} out of range"),
        Rule(
            "cannot take square root of a negative number",
            S::InvalidPowerArgument,
            "cannot take square root of a negative number",
        ),
        Rule(
            "zero raised to a negative power",
            S::InvalidPowerArgument,
            "zero raised to a negative power is undefined",
        ),
        Rule(
            "factorial of a negative number",
            S::NumericValueOutOfRange,
            "factorial of a negative number is undefined",
        ),
        Rule(
            "Unsupported date_trunc granularity: '{}'",
            S::InvalidParameterValue,
            "unit \"{0}\" not recognized",
        ),
        Rule(
            "Date part '{}' not supported",
            S::InvalidParameterValue,
            "unit \"{0}\" not recognized",
        ),
        Rule(
            "Month value '{}' is out of range",
            S::DatetimeFieldOverflow,
            "date field value out of range: month {0}",
        ),
        Rule(
            "Unable to parse date from {}, {}, {}",
            S::DatetimeFieldOverflow,
            "date field value out of range: {0}-{1}-{2}",
        ),
        Rule("Step cannot be zero", S::InvalidParameterValue, "step size cannot equal zero"),
        Rule(
            "field position must not be zero",
            S::InvalidParameterValue,
            "field position must not be zero",
        ),
        Rule(
            "negative count not allowed",
            S::SubstringError,
            "negative substring length not allowed",
        ),
        Rule(
            "regex parse error:{}error: {}",
            S::InvalidRegularExpression,
            "invalid regular expression: {1}",
        ),
    ]
};

/// Translates a message by the first rule that matches.
pub(super) fn of_text(text: &str) -> Option<Error> {
    RULES.iter().find_map(|Rule(pattern, state, message)| {
        let found = captures(pattern, text)?;
        Some(Error::new(*state, filled(message, &found)))
    })
}

/// The parts of a text that the `{}` of a pattern match.
fn captures<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let first = parts.next()?;
    let mut found = Vec::new();
    let mut rest = match first {
        "" => text,
        _ => &text[text.find(first)? + first.len()..],
    };
    for part in parts {
        let end = if part.is_empty() { ending(rest) } else { rest.find(part)? };
        found.push(rest[..end].trim());
        rest = &rest[end + part.len()..];
    }
    Some(found)
}

/// The end of a `{}` at the end of a pattern: the end of its line or sentence.
fn ending(text: &str) -> usize {
    let line = text.find('\n').unwrap_or(text.len());
    text[..line].find(". ").unwrap_or(line)
}

fn filled(message: &str, found: &[&str]) -> String {
    let mut filled = message.to_owned();
    for (index, value) in found.iter().enumerate() {
        filled = filled.replace(&format!("{{{index}}}"), value);
        let alias = value.rsplit(" AS ").next().unwrap_or(value);
        filled = filled.replace(&format!("{{{index}:alias}}"), alias);
        let key = format!("{{{index}:type}}");
        if filled.contains(&key) {
            filled = filled.replace(&key, &type_names::of(type_names::split(value).0));
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_fill_in_the_variable_parts() {
        for (text, code, message) in [
            (
                "Projections require unique expression names but the expression \"CAST(Int64(1) AS Int32) AS a\" at position 0",
                "42702",
                "column reference \"a\" is ambiguous",
            ),
            (
                "UNION queries have different number of columns",
                "42601",
                "each UNION query must have the same number of columns",
            ),
            (
                "regex parse error:\n    (\n    ^\nerror: unclosed group",
                "2201B",
                "invalid regular expression: unclosed group",
            ),
        ] {
            let error = of_text(text);
            let seen = error.as_ref().map(|error| (error.state().code(), error.message()));
            assert_eq!(seen, Some((code, message)));
        }
        assert!(of_text("something else").is_none());
    }
}
