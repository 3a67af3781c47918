//! Casts to and from `json` and `jsonb`.
//!
//! Both types are text for the engine. Casts to them parse text, casts from `jsonb` convert numbers and Booleans.

use super::arguments::{document, strict};
use super::{Kind, call, styled};
use crate::casts::constants::fold;
use crate::row_function::{Row, typed_function};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ScalarUDF, cast, lit};
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::{Error, SqlState};
use values::json::invalid;
use values::json::raw::Value;
use values::style::Style;
use values::translate::external;
use values::types;
use values::types::{name_without_length, of_expression};

/// The functions that implement casts.
pub(super) fn all() -> Vec<ScalarUDF> {
    let read = |kind: Kind| {
        let name = kind.name("json_in", "jsonb_in");
        typed_function(
            name,
            1..=1,
            kind.sql_type(),
            strict(move |row| Ok(document(row, 0, kind)?.into_owned().into())),
        )
    };
    vec![
        read(Kind::Json),
        read(Kind::Jsonb),
        typed_function("jsonb_number", 2..=2, SqlType::Text, strict(|row| scalar(row, "number"))),
        typed_function("jsonb_bool", 2..=2, SqlType::Boolean, strict(|row| scalar(row, "boolean"))),
    ]
}

/// A scalar of the kind `wanted`. The second argument names the SQL type, for the error.
fn scalar(row: &Row<'_>, wanted: &str) -> values::error::Result<Cell> {
    let document = document(row, 0, Kind::Jsonb)?;
    match Value::of(&document) {
        Value::Number(digits) if wanted == "number" => Ok(digits.into()),
        Value::Boolean(value) if wanted == "boolean" => Ok(value.into()),
        other => {
            let kind = match other {
                Value::Number(_) => "numeric",
                other => other.kind(),
            };
            let sql_type = row.text(1).unwrap_or_default();
            Err(invalid(format!("cannot cast jsonb {kind} to type {sql_type}")))
        }
    }
}

/// Replaces the engine's casts.
#[derive(Debug)]
pub(crate) struct JsonTypes;

impl FunctionRewrite for JsonTypes {
    fn name(&self) -> &str {
        "json_types"
    }

    fn rewrite(
        &self,
        expr: Expr,
        schema: &DFSchema,
        options: &ConfigOptions,
    ) -> Result<Transformed<Expr>> {
        match expr {
            Expr::ScalarFunction(call) if styled::writes(&call) => {
                styled::of_call(call, schema, Style::from_config(options))
            }
            Expr::Cast(cast) => of_cast(cast, schema, Style::from_config(options)),
            other => of_choice(other, schema),
        }
    }
}

/// CASE and `coalesce`: parses constant branches, and marks the result as JSON.
fn of_choice(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_choice = match &expr {
        Expr::Case(_) => true,
        Expr::ScalarFunction(call) => types::CHOICE_FUNCTIONS.contains(&call.name()),
        _ => false,
    };
    let known = if is_choice { of_expression(&expr, schema) } else { None };
    let (read, marker) = match known {
        Some(SqlType::Json) => ("json_in", "text_is_json"),
        Some(SqlType::Jsonb) => ("jsonb_in", "text_is_jsonb"),
        _ => return Ok(Transformed::no(expr)),
    };
    let chosen = |choice: Expr| match &choice {
        Expr::Literal(value, None) if !value.is_null() => {
            call(read, vec![choice.clone()]).unwrap_or(choice)
        }
        _ => choice,
    };
    let expr = match expr {
        Expr::Case(mut case) => {
            for (_, then) in &mut case.when_then_expr {
                **then = chosen(Expr::clone(then));
            }
            case.else_expr = case.else_expr.map(|other| Box::new(chosen(*other)));
            Expr::Case(case)
        }
        Expr::ScalarFunction(mut function) => {
            function.args = function.args.into_iter().map(chosen).collect();
            Expr::ScalarFunction(function)
        }
        other => other,
    };
    Ok(match call(marker, vec![expr.clone()]) {
        Some(marked) => Transformed::yes(marked),
        None => Transformed::no(expr),
    })
}

fn of_cast(cast: Cast, schema: &DFSchema, style: Style) -> Result<Transformed<Expr>> {
    if let Some(constant) = fold(&cast, style)? {
        return Ok(Transformed::yes(constant));
    }
    let to = types::of_field(&cast.field);
    let from = of_expression(&cast.expr, schema);
    let is_json = |known: &SqlType| matches!(known, SqlType::Json | SqlType::Jsonb);
    let from_json = from.as_ref().is_some_and(is_json);
    if !is_json(&to) && !from_json {
        return Ok(Transformed::no(Expr::Cast(cast)));
    }
    if from.as_ref() == Some(&to) {
        return Ok(Transformed::yes(*cast.expr));
    }
    let is_text =
        |known: &SqlType| matches!(known, SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_));
    let readable = from.as_ref().is_none_or(|from| is_text(from) || is_json(from));
    let function = match (&to, &from) {
        (SqlType::Json, _) if readable => call("json_in", vec![*cast.expr]),
        (SqlType::Jsonb, _) if readable => call("jsonb_in", vec![*cast.expr]),
        (to, Some(_)) if is_text(to) => return Ok(Transformed::no(Expr::Cast(cast))),
        (SqlType::Boolean, Some(SqlType::Jsonb)) => {
            call("jsonb_bool", vec![*cast.expr, lit("boolean")])
        }
        (to, Some(SqlType::Jsonb)) if cast.field.data_type().is_numeric() => {
            call("jsonb_number", vec![*cast.expr, lit(name_without_length(to))])
                .map(|digits| number(digits, to))
        }
        (to, from) => {
            let (from, to) = (from.as_ref().map(name_without_length), name_without_length(to));
            let message = format!("cannot cast type {} to {to}", from.unwrap_or_default());
            return Err(external(Error::new(SqlState::CannotCoerce, message)));
        }
    };
    function.map(Transformed::yes).ok_or_else(|| external(invalid("unknown cast function")))
}

/// Converts digits to a number. Integers are converted to `numeric` first, which rounds.
fn number(digits: Expr, to: &SqlType) -> Expr {
    let through = match to {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => {
            let numeric = SqlType::Numeric { precision: 38, scale: 10 };
            cast(digits, numeric.arrow())
        }
        _ => digits,
    };
    cast(through, to.arrow())
}
