//! The types of parameters by their places in a plan, for which the engine infers none:
//! `coalesce($1, n)`, `substr($1, $2)`, `WHERE $1`, `SELECT n UNION SELECT $1`.

use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::types::NativeType;
use datafusion::logical_expr::expr::{ScalarFunction, WindowFunctionDefinition};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, TypeSignature, TypeSignatureClass,
};
use functions::arrays::series::SERIES;
use store::catalog::SqlType;
use values::types;

/// Receives the number of a parameter, from zero, and its type.
type Learn<'a> = dyn FnMut(usize, &SqlType) + 'a;

/// Reports the types of a plan's parameters that follow from their places.
pub(super) fn look_at(plan: &LogicalPlan, learn: &mut Learn<'_>) {
    let _ = plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::Filter(filter) => is_of(&filter.predicate, &SqlType::Boolean, learn),
            LogicalPlan::Union(union) => of_union(&union.inputs, learn),
            _ => {}
        }
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                of_expression(part, &schema, learn);
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
}

/// The number of a parameter, from zero.
fn number(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Placeholder(placeholder) => {
            placeholder.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
        }
        Expr::Alias(alias) => number(&alias.expr),
        _ => None,
    }
}

fn is_of(expr: &Expr, sql_type: &SqlType, learn: &mut Learn<'_>) {
    if let Some(number) = number(expr) {
        learn(number, sql_type);
    }
}

fn of_expression(expr: &Expr, schema: &DFSchema, learn: &mut Learn<'_>) {
    match expr {
        Expr::Not(inner)
        | Expr::IsTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNotFalse(inner) => is_of(inner, &SqlType::Boolean, learn),
        Expr::Between(between) => {
            alike([&*between.expr, &*between.low, &*between.high], schema, learn);
        }
        Expr::InList(list) => {
            alike(std::iter::once(&*list.expr).chain(&list.list), schema, learn);
        }
        Expr::BinaryExpr(binary) if binary.op.supports_propagation() => {
            alike([&*binary.left, &*binary.right], schema, learn);
        }
        Expr::Case(case) => {
            let thens = case.when_then_expr.iter().map(|(_, then)| &**then);
            alike(thens.chain(case.else_expr.as_deref()), schema, learn);
            let whens = case.when_then_expr.iter().map(|(when, _)| &**when);
            match &case.expr {
                Some(of) => alike(whens.chain([&**of]), schema, learn),
                None => whens.for_each(|when| is_of(when, &SqlType::Boolean, learn)),
            }
        }
        Expr::ScalarFunction(call) => of_call(call, schema, learn),
        Expr::WindowFunction(call) => {
            let WindowFunctionDefinition::WindowUDF(function) = &call.fun else { return };
            // ntile's groups, lag's and nth_value's rows.
            let place = usize::from(function.name() != "ntile");
            if let Some(rows) = call.params.args.get(place) {
                is_of(rows, &SqlType::Integer, learn);
            }
        }
        _ => {}
    }
}

/// Values that are compared, or of which one is chosen, have one type.
fn alike<'a>(
    expressions: impl IntoIterator<Item = &'a Expr>,
    schema: &DFSchema,
    learn: &mut Learn<'_>,
) {
    let expressions: Vec<&Expr> = expressions.into_iter().collect();
    let known = expressions.iter().filter(|expr| number(expr).is_none());
    let mut known = known.filter_map(|expr| type_of(expr, schema));
    if let Some(sql_type) = known.next() {
        expressions.into_iter().for_each(|expr| is_of(expr, &sql_type, learn));
    }
}

fn type_of(expr: &Expr, schema: &DFSchema) -> Option<SqlType> {
    let (_, field) = expr.to_field(schema).ok()?;
    match types::of_field(&field) {
        _ if field.data_type().is_null() => None,
        SqlType::Varchar(_) => Some(SqlType::Text),
        SqlType::Numeric { .. } => Some(SqlType::NUMERIC),
        other => Some(other),
    }
}

/// A column of a UNION has one type in all its queries.
fn of_union(inputs: &[std::sync::Arc<LogicalPlan>], learn: &mut Learn<'_>) {
    let projections: Vec<_> = inputs
        .iter()
        .filter_map(|input| match &**input {
            LogicalPlan::Projection(projection) => Some(projection),
            _ => None,
        })
        .collect();
    let columns = inputs.first().map_or(0, |input| input.schema().fields().len());
    for column in 0..columns {
        let field_of = |input: &LogicalPlan| {
            let field = input.schema().fields().get(column)?;
            (!field.data_type().is_null()).then(|| types::of_field(field))
        };
        let Some(known) = inputs.iter().find_map(|input| field_of(input)) else { continue };
        for projection in &projections {
            if let Some(expr) = projection.expr.get(column) {
                is_of(expr, &known, learn);
            }
        }
    }
}

fn of_call(call: &ScalarFunction, schema: &DFSchema, learn: &mut Learn<'_>) {
    let args = &call.args;
    match call.name() {
        "coalesce" | "greatest" | "least" | "nullif" | "make_array" | SERIES => {
            return alike(args, schema, learn);
        }
        "array_has" | "array_append" | "array_position" => {
            if let ([list, element], Some(SqlType::Array(item))) =
                (&args[..], args.first().and_then(|list| type_of(list, schema)))
            {
                let _ = list;
                is_of(element, &item, learn);
            }
            return;
        }
        _ => {}
    }
    for (index, arg) in args.iter().enumerate().filter(|(_, arg)| number(arg).is_some()) {
        let known = by_name(call.name(), index, args.len())
            .or_else(|| by_signature(&call.func.signature().type_signature, index, args.len()));
        if let Some(sql_type) = known {
            is_of(arg, &sql_type, learn);
        }
    }
}

/// The types of arguments for which the engine's signatures differ from PostgreSQL's.
fn by_name(name: &str, index: usize, count: usize) -> Option<SqlType> {
    Some(match (name, index) {
        ("pg_terminate_backend" | "pg_cancel_backend", 0) => SqlType::Integer,
        ("array_element" | "array_length" | "array_upper" | "array_lower", 1) => SqlType::Integer,
        ("setval", 1) => SqlType::BigInt,
        ("pg_sleep", 0) => SqlType::Double,
        ("make_interval", 6) => SqlType::Double,
        ("make_interval" | "make_date", _) => SqlType::Integer,
        ("round" | "trunc", 0) if count == 2 => SqlType::NUMERIC,
        ("round" | "trunc", 1) => SqlType::Integer,
        ("power" | "pow" | "sqrt" | "exp" | "ln" | "log" | "log10" | "sign" | "signum", _)
        | ("sin" | "cos" | "tan" | "cot" | "asin" | "acos" | "acosh" | "atanh", _)
        | ("sind" | "cosd" | "tand" | "cotd" | "asind" | "acosd" | "atand" | "atan2d", _) => {
            SqlType::Double
        }
        ("to_timestamp", 0) if count == 1 => SqlType::Double,
        ("width_bucket", 3)
        | ("make_time", 0 | 1)
        | ("make_timestamp" | "make_timestamptz", 0..=4) => SqlType::Integer,
        ("width_bucket", _) | ("make_time", 2) | ("make_timestamp" | "make_timestamptz", 5) => {
            SqlType::Double
        }
        ("substr" | "substring", 1 | 2) | ("overlay", 2 | 3) | ("chr" | "to_hex", 0) => {
            SqlType::Integer
        }
        ("regexp_count" | "regexp_instr" | "regexp_substr", 2 | 3) => SqlType::Integer,
        ("div", _) => SqlType::NUMERIC,
        ("date_trunc" | "to_char", 1) => return None,
        _ => return None,
    })
}

/// The type of an argument by a function's signature.
fn by_signature(signature: &TypeSignature, index: usize, count: usize) -> Option<SqlType> {
    match signature {
        TypeSignature::Coercible(coercions) if coercions.len() == count => {
            match coercions.get(index)?.desired_type() {
                TypeSignatureClass::Native(native) => of_native(native.native()),
                TypeSignatureClass::Integer => Some(SqlType::Integer),
                TypeSignatureClass::Numeric
                | TypeSignatureClass::Float
                | TypeSignatureClass::Decimal => Some(SqlType::Double),
                TypeSignatureClass::Interval => Some(SqlType::Interval),
                TypeSignatureClass::Binary => Some(SqlType::Bytea),
                _ => None,
            }
        }
        TypeSignature::Exact(types) if types.len() == count => {
            of_native(&NativeType::from(types.get(index)?.clone()))
        }
        TypeSignature::Uniform(arguments, types) if *arguments == count => {
            of_native(&NativeType::from(types.first()?.clone()))
        }
        TypeSignature::Numeric(arguments) if *arguments == count => Some(SqlType::Double),
        TypeSignature::String(arguments) if *arguments == count => Some(SqlType::Text),
        TypeSignature::OneOf(several) => {
            several.iter().find_map(|signature| by_signature(signature, index, count))
        }
        _ => None,
    }
}

/// PostgreSQL's type for a type of the engine's signatures. The engine takes 64-bit integers where PostgreSQL takes `integer`.
fn of_native(native: &NativeType) -> Option<SqlType> {
    Some(match native {
        NativeType::Boolean => SqlType::Boolean,
        NativeType::String => SqlType::Text,
        native if native.is_integer() => SqlType::Integer,
        NativeType::Float16 | NativeType::Float32 | NativeType::Float64 => SqlType::Double,
        NativeType::Decimal(..) => SqlType::NUMERIC,
        NativeType::Date => SqlType::Date,
        NativeType::Binary => SqlType::Bytea,
        NativeType::Interval(_) => SqlType::Interval,
        _ => return None,
    })
}
