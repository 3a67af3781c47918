//! The operators `~`, `~*`, `!~`, `!~*` and SIMILAR TO, as functions.

use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result as EngineResult};
use datafusion::logical_expr::expr::{Like, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, ScalarUDF, lit};
use regexes::{Flags, Pattern, to_regular};
use std::sync::{Arc, LazyLock};
use values::error::Result;

/// The functions, which are called by their names on other servers.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 3] {
    [&MATCHES, &MATCHES_ANY_CASE, &IS_SIMILAR].map(|function| Arc::clone(function))
}

static MATCHES: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(function("textregexeq", operands(2), |args| matches(args, false))));
static MATCHES_ANY_CASE: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(function("texticregexeq", operands(2), |args| matches(args, true))));
static IS_SIMILAR: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(function("is_similar", operands(3), is_similar)));

fn operands(count: usize) -> Types {
    if count == 2 {
        |_| Ok((vec![DataType::Utf8View; 2], DataType::Boolean))
    } else {
        |types| Ok((vec![DataType::Utf8View; types.len()], DataType::Boolean))
    }
}

fn matches(args: &[ArrayRef], ignores_case: bool) -> Result<ArrayRef> {
    let flags = Flags { ignores_case, ..Flags::default() };
    each(args, |_, pattern| Pattern::of(pattern, flags))
}

/// The third argument, if there is one, is the escape character.
fn is_similar(args: &[ArrayRef]) -> Result<ArrayRef> {
    each(args, |row, pattern| {
        let escape = args.get(2).map(|escapes| escapes.as_string_view().value(row));
        Pattern::of(&to_regular(pattern, escape)?, Flags::default())
    })
}

/// Matches each text; a pattern is made again only when it changes.
fn each(args: &[ArrayRef], make: impl Fn(usize, &str) -> Result<Arc<Pattern>>) -> Result<ArrayRef> {
    let (texts, patterns) = (args[0].as_string_view(), args[1].as_string_view());
    let mut last: Option<(&str, Arc<Pattern>)> = None;
    let found = (0..texts.len()).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let text = patterns.value(row);
        let pattern = match &last {
            Some((before, pattern)) if *before == text && args.len() == 2 => Arc::clone(pattern),
            _ => make(row, text)?,
        };
        let found = pattern.is_match(texts.value(row))?;
        last = Some((text, pattern));
        Ok(Some(found))
    });
    Ok(Arc::new(found.collect::<Result<BooleanArray>>()?))
}

/// Replaces the engine's operators, which know other regular expressions.
#[derive(Debug)]
pub(crate) struct Operators;

impl FunctionRewrite for Operators {
    fn name(&self) -> &str {
        "regular_expressions"
    }

    fn rewrite(
        &self,
        expr: Expr,
        _: &DFSchema,
        _: &ConfigOptions,
    ) -> EngineResult<Transformed<Expr>> {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                let (function, is_negated) = match op {
                    Operator::RegexMatch => (&MATCHES, false),
                    Operator::RegexNotMatch => (&MATCHES, true),
                    Operator::RegexIMatch => (&MATCHES_ANY_CASE, false),
                    Operator::RegexNotIMatch => (&MATCHES_ANY_CASE, true),
                    _ => {
                        return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr {
                            left,
                            op,
                            right,
                        })));
                    }
                };
                Ok(Transformed::yes(call(function, vec![*left, *right], is_negated)))
            }
            Expr::SimilarTo(Like { negated, expr, pattern, escape_char, .. }) => {
                let mut arguments = vec![*expr, *pattern];
                arguments.extend(escape_char.map(|escape| lit(escape.to_string())));
                Ok(Transformed::yes(call(&IS_SIMILAR, arguments, negated)))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}

fn call(function: &Arc<ScalarUDF>, arguments: Vec<Expr>, is_negated: bool) -> Expr {
    let call = Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), arguments));
    if is_negated { Expr::Not(Box::new(call)) } else { call }
}
