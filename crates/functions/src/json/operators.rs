//! The operators of `json` and `jsonb`, and `value['key']`.
//!
//! As in PostgreSQL, the types of the operands select the function, and a quoted constant or a
//! parameter takes the type that the operator requires. Comparisons are in [`casts`](super::casts),
//! since the engine has several expressions for them.

use super::call;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawBinaryExpr, RawFieldAccessExpr,
};
use datafusion::logical_expr::{Expr, GetFieldAccess};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, SqlState};
use values::translate::{external, undefined_operator};
use values::types;
use values::types::{name_without_length, of_expression};

/// The type of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Json,
    Jsonb,
    Text,
    Index,
    Texts,
}

impl Side {
    /// Whether an operand may have a type; `None` is a constant or parameter without a type.
    fn takes(self, known: Option<&SqlType>) -> bool {
        use SqlType::{Array, BigInt, Char, Integer, Json, Jsonb, SmallInt, Text, Varchar};
        match (self, known) {
            (Self::Index, None) => false,
            (_, None) => true,
            (Self::Json, Some(known)) => *known == Json,
            (Self::Jsonb, Some(known)) => *known == Jsonb,
            (Self::Text, Some(known)) => matches!(known, Text | Varchar(_) | Char(_)),
            (Self::Index, Some(known)) => matches!(known, SmallInt | Integer | BigInt),
            (Self::Texts, Some(known)) => {
                matches!(known, Array(item) if matches!(**item, Text | Varchar(_) | Char(_)))
            }
        }
    }

    fn sql_type(self) -> SqlType {
        match self {
            Self::Json => SqlType::Json,
            Self::Jsonb => SqlType::Jsonb,
            Self::Text => SqlType::Text,
            Self::Index => SqlType::Integer,
            Self::Texts => SqlType::Array(Box::new(SqlType::Text)),
        }
    }
}

/// The operators: left operand, symbol, right operand, function. If an operand has no type, the first match applies.
const OPERATORS: [(Side, &str, Side, &str); 24] = {
    use Side::{Index, Json, Jsonb, Text, Texts};
    [
        (Json, "->", Text, "json_object_field"),
        (Json, "->", Index, "json_array_element"),
        (Jsonb, "->", Text, "jsonb_object_field"),
        (Jsonb, "->", Index, "jsonb_array_element"),
        (Json, "->>", Text, "json_object_field_text"),
        (Json, "->>", Index, "json_array_element_text"),
        (Jsonb, "->>", Text, "jsonb_object_field_text"),
        (Jsonb, "->>", Index, "jsonb_array_element_text"),
        (Json, "#>", Texts, "json_extract_path_op"),
        (Jsonb, "#>", Texts, "jsonb_extract_path_op"),
        (Json, "#>>", Texts, "json_extract_path_text_op"),
        (Jsonb, "#>>", Texts, "jsonb_extract_path_text_op"),
        (Jsonb, "@>", Jsonb, "jsonb_contains"),
        (Jsonb, "<@", Jsonb, "jsonb_contained"),
        (Jsonb, "?", Text, "jsonb_exists"),
        (Jsonb, "?|", Texts, "jsonb_exists_any"),
        (Jsonb, "?&", Texts, "jsonb_exists_all"),
        (Jsonb, "||", Jsonb, "jsonb_concat"),
        (Jsonb, "-", Text, "jsonb_delete"),
        (Jsonb, "-", Index, "jsonb_delete"),
        (Jsonb, "-", Texts, "jsonb_delete"),
        (Jsonb, "#-", Texts, "jsonb_delete_path"),
        // JSON paths are not supported.
        (Jsonb, "@?", Text, PATH),
        (Jsonb, "@@", Text, PATH),
    ]
};

/// Marks operators on JSON paths.
const PATH: &str = "";

/// Operators that only JSON has.
const ONLY_JSON: [&str; 8] = ["->", "->>", "#>", "#>>", "?", "?|", "?&", "#-"];

/// Operators that the engine would apply to the text of JSON.
const ARITHMETIC: [&str; 4] = ["+", "*", "/", "%"];

/// Whether JSON has an operator of this symbol.
pub fn is_known(symbol: &str) -> bool {
    OPERATORS.iter().any(|(_, known, _, _)| *known == symbol)
}

/// The functions of the operators.
#[cfg(test)]
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|(_, _, _, function)| *function).filter(|function| *function != PATH)
}

/// Plans the operators of JSON, and subscripts of `jsonb`.
#[derive(Debug)]
pub struct JsonOperators;

impl ExprPlanner for JsonOperators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        let symbol = expr.op.to_string();
        if !is_known(&symbol) && !ARITHMETIC.contains(&&*symbol) {
            return Ok(PlannerResult::Original(expr));
        }
        let (left, right) = (of_expression(&expr.left, schema), of_expression(&expr.right, schema));
        let is_json =
            |known: &Option<SqlType>| matches!(known, Some(SqlType::Json | SqlType::Jsonb));
        let only_json = ONLY_JSON.contains(&&*symbol);
        if !is_json(&left) && !is_json(&right) && !only_json {
            return Ok(PlannerResult::Original(expr));
        }
        let found = OPERATORS.iter().find(|(takes_left, known, takes_right, _)| {
            let is_certain = is_json(&left) || is_json(&right) && *takes_right == Side::Jsonb;
            *known == symbol
                && is_certain
                && takes_left.takes(left.as_ref())
                && takes_right.takes(right.as_ref())
        });
        match found {
            Some((_, _, _, function)) if *function == PATH => Err(external(Error::unsupported(
                format!("operator {symbol} is not supported: JSON paths are not implemented"),
            ))),
            Some((takes_left, _, takes_right, function)) => {
                let arguments =
                    vec![with_type(expr.left, *takes_left), with_type(expr.right, *takes_right)];
                match call(function, arguments) {
                    Some(call) => Ok(PlannerResult::Planned(call)),
                    None => Err(external(no_operator(&symbol, &left, &right))),
                }
            }
            // `||` with text is the concatenation of text.
            None if symbol == "||" && !(is_json(&left) && is_json(&right)) => {
                Ok(PlannerResult::Original(expr))
            }
            None => Err(external(no_operator(&symbol, &left, &right))),
        }
    }

    fn plan_field_access(
        &self,
        expr: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        if of_expression(&expr.expr, schema) != Some(SqlType::Jsonb) {
            return Ok(PlannerResult::Original(expr));
        }
        let key = match &expr.field_access {
            GetFieldAccess::NamedStructField { name } => Expr::Literal(name.clone(), None),
            GetFieldAccess::ListIndex { key } => Expr::clone(key),
            GetFieldAccess::ListRange { .. } => {
                let message = "jsonb subscript does not support slices";
                return Err(external(Error::new(SqlState::DatatypeMismatch, message)));
            }
        };
        match call("jsonb_extract_path", vec![expr.expr.clone(), key]) {
            Some(call) => Ok(PlannerResult::Planned(call)),
            None => Ok(PlannerResult::Original(expr)),
        }
    }
}

/// Gives a parameter without a type the type of the operand.
fn with_type(expr: Expr, side: Side) -> Expr {
    match expr {
        Expr::Placeholder(Placeholder { id, field: None }) => {
            let field = Some(Arc::new(types::plan_field("", &side.sql_type(), true)));
            Expr::Placeholder(Placeholder { id, field })
        }
        other => other,
    }
}

/// The error for an operator that does not exist for these types.
pub(super) fn no_operator(symbol: &str, left: &Option<SqlType>, right: &Option<SqlType>) -> Error {
    let name = |known: &Option<SqlType>| {
        known.as_ref().map_or_else(|| "unknown".to_owned(), name_without_length)
    };
    if left.is_none() && right.is_none() {
        let message = format!("operator is not unique: unknown {symbol} unknown");
        return Error::new(SqlState::AmbiguousFunction, message).with_hint(
            "Could not choose a best candidate operator. You might need to add explicit type casts.",
        );
    }
    undefined_operator(&name(left), symbol, &name(right))
}
