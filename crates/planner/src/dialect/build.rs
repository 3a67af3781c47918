//! Constructors and accessors for parts of syntax trees.

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Value,
};
use parser::names::fold;

/// A function call.
pub(crate) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let unnamed = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
    let list = FunctionArgumentList {
        duplicate_treatment: None,
        args: arguments.into_iter().map(unnamed).collect(),
        clauses: Vec::new(),
    };
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// A number literal.
pub(super) fn number(value: i64) -> Expr {
    Expr::value(Value::Number(value.to_string(), false))
}

/// A string literal.
pub(crate) fn text(value: impl Into<String>) -> Expr {
    Expr::value(Value::SingleQuotedString(value.into()))
}

/// `expr::type`
pub(super) fn cast(expr: Expr, data_type: DataType) -> Expr {
    let kind = CastKind::DoubleColon;
    Expr::Cast { kind, expr: Box::new(expr), data_type, array: false, format: None }
}

/// The text of a string literal.
pub(crate) fn literal_text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
            _ => None,
        },
        Expr::Nested(inner) => literal_text(inner),
        _ => None,
    }
}

/// The last part of a name, case-folded.
pub(crate) fn last(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(fold).unwrap_or_default()
}

/// The name of the function in a call, without its schema.
pub(crate) fn called(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Function(function) => Some(last(&function.name)),
        _ => None,
    }
}

/// The arguments of a call; empty unless all are plain expressions.
pub(crate) fn arguments(expr: &Expr) -> Vec<&Expr> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = expr else {
        return Vec::new();
    };
    let plain = |arg: &FunctionArg| matches!(arg, FunctionArg::Unnamed(FunctionArgExpr::Expr(_)));
    if !list.args.iter().all(plain) {
        return Vec::new();
    }
    list.args
        .iter()
        .filter_map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

/// The arguments of a call that are plain expressions, mutable.
pub(crate) fn arguments_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = expr else {
        return Vec::new();
    };
    list.args
        .iter_mut()
        .filter_map(|arg| match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

/// The name of the column that an expression refers to, without its relation.
pub(super) fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(fold(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        Expr::Nested(inner) => column(inner),
        _ => None,
    }
}

/// The name of a type without the schema `pg_catalog` and in lower case; `"char"` keeps its quotes.
pub(super) fn type_name(data_type: &DataType) -> String {
    let name = data_type.to_string().to_lowercase();
    name.strip_prefix("pg_catalog.").map(str::to_owned).unwrap_or(name)
}

/// Moves an expression out and leaves NULL, which the caller replaces.
pub(crate) fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::value(Value::Null))
}
