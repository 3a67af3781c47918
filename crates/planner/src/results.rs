//! The columns of results: as clients get their values, and with their types.

use catalog_views::functions::{Functions, OBJECT_NAMES};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::metadata::FieldMetadata;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};
use functions::casts::labels;
use functions::casts::shown::{SHOWN_ID, SHOWN_IDS, SHOWN_INT2VECTOR, SHOWN_OIDVECTOR};
use functions::operators;
use std::sync::Arc;
use store::catalog::{SqlType, SystemType, UserType};
use values::error::{Error, Result};
use values::field::Field;
use values::types::{TYPE_KEY, is_declared, of_field, plan_field};

/// A plan whose columns have the values that clients get: labels of enums, and names of objects. `fields` describe the columns.
///
/// # Errors
/// The engine refuses the plan; 0A000 for arrays of vectors.
pub fn for_clients(
    plan: LogicalPlan,
    fields: &[Field],
    functions: &Functions<'_>,
) -> Result<LogicalPlan> {
    if !fields.iter().any(|field| is_sent_otherwise(&field.sql_type)) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().zip(fields).map(|((relation, field), known)| {
        let column = Expr::Column((relation, field).into());
        match is_sent_otherwise(&known.sql_type) {
            true => {
                let sent = sent(column, &known.sql_type, functions)?;
                Ok(sent.alias_qualified(relation.cloned(), field.name()))
            }
            false => Ok(column),
        }
    });
    let columns = columns.collect::<Result<Vec<Expr>>>()?;
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

/// The type of the column that a relation gets for one of a result: numbers have a precision only where one was declared.
pub fn stored_type(of: &Field) -> SqlType {
    let open = |sql_type: &SqlType| match sql_type {
        SqlType::Numeric { .. } if !of.declared => SqlType::NUMERIC,
        other => other.clone(),
    };
    match &of.sql_type {
        SqlType::Array(item) => SqlType::Array(Box::new(open(item))),
        other => open(other),
    }
}

/// A plan whose columns name their types, where computed values do not say of which type they are. `fields` describe the
/// columns.
///
/// # Errors
/// The engine refuses the plan.
pub fn with_types(plan: LogicalPlan, fields: &[Field]) -> datafusion::common::Result<LogicalPlan> {
    let mut is_changed = false;
    let columns = plan.schema().iter().zip(fields).map(|((relation, field), known)| {
        let column = Expr::Column((relation, field).into());
        let (wanted, has) = (&known.sql_type, of_field(field));
        let is_unknown = has != *wanted && has.user_type().is_none();
        let fits = match (wanted.arrow(), field.data_type()) {
            (DataType::List(wanted), DataType::List(has)) => wanted.data_type() == has.data_type(),
            (wanted, has) => wanted == *has,
        };
        let is_renamed = is_unknown && (is_named(wanted) || is_plainer(wanted, &has));
        let is_declared_here = known.declared && is_numeric(wanted) && !is_declared(field);
        if !fits || !(is_renamed || is_declared_here) {
            return column;
        }
        is_changed = true;
        let column = match wanted.arrow() == *field.data_type() {
            true => column,
            false => cast(column, wanted.arrow()),
        };
        let mut metadata = plan_field("", wanted, true).metadata().clone();
        // An empty name takes the place of another one.
        metadata.entry(TYPE_KEY.to_owned()).or_default();
        let metadata = Some(FieldMetadata::from(metadata));
        column.alias_qualified_with_metadata(relation.cloned(), field.name(), metadata)
    });
    let columns: Vec<Expr> = columns.collect();
    match is_changed {
        true => LogicalPlanBuilder::from(plan).project(columns)?.build(),
        false => Ok(plan),
    }
}

/// Whether a type, or that of the items of arrays, has a name or a modifier that its values do not show.
fn is_named(sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::Array(item) => is_named(item),
        SqlType::Uuid | SqlType::Json | SqlType::Jsonb => true,
        SqlType::Varchar(_) | SqlType::Char(_) => true,
        SqlType::Precise(of, _) => **of != SqlType::NUMERIC,
        other => other.user_type().is_some(),
    }
}

/// Whether a type, or that of the items of arrays, is a numeric.
fn is_numeric(sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::Array(item) => is_numeric(item),
        other => matches!(other, SqlType::Numeric { .. }),
    }
}

/// Whether a type is another one without its length or precision.
fn is_plainer(sql_type: &SqlType, other: &SqlType) -> bool {
    match other {
        SqlType::Varchar(_) | SqlType::Char(_) => *sql_type == SqlType::Text,
        SqlType::Precise(of, _) => **of != SqlType::NUMERIC && **of == *sql_type,
        _ => false,
    }
}

/// A column over rows at hand with the values that clients get.
///
/// # Errors
/// As of [`for_clients`].
pub fn for_client(column: Expr, field: &Field, functions: &Functions<'_>) -> Result<Expr> {
    match is_sent_otherwise(&field.sql_type) {
        true => Ok(sent(column.unalias(), &field.sql_type, functions)?.alias(&field.name)),
        false => Ok(column),
    }
}

/// Whether clients get the values of a type otherwise than plans hold them.
fn is_sent_otherwise(sql_type: &SqlType) -> bool {
    labels_of(sql_type).is_some() || sql_type.has_shown_form()
}

/// The values of such a type as clients get them: labels, or values with their texts.
fn sent(value: Expr, sql_type: &SqlType, functions: &Functions<'_>) -> Result<Expr> {
    if let Some(user) = labels_of(sql_type) {
        return Ok(labels::of(user).call(vec![value]));
    }
    let called = |name: &str, arguments: Vec<Expr>| match functions.scalar(name) {
        Some(function) => Ok(function.call(arguments)),
        None => Err(Error::unsupported(format!("function {name} is not supported"))),
    };
    let text = |text: &str| lit(ScalarValue::Utf8View(Some(text.to_owned())));
    let Some(of) = sql_type.system_type() else { return Ok(value) };
    if value.is_volatile() {
        return Err(Error::unsupported(format!("a volatile {sql_type} is not supported here")));
    }
    let (shown, texts) = match (of, sql_type.representation()) {
        (SystemType::Int2Vector | SystemType::OidVector, SqlType::Array(_)) => {
            return Err(Error::unsupported(format!(
                "a result of type {sql_type} is not supported"
            )));
        }
        (SystemType::Int2Vector | SystemType::OidVector, _) => {
            let is_of_numbers = of == SystemType::Int2Vector;
            let shown = if is_of_numbers { SHOWN_INT2VECTOR } else { SHOWN_OIDVECTOR };
            (shown, called("array_to_string", vec![value.clone(), text(" ")])?)
        }
        (_, SqlType::Array(_)) => {
            (SHOWN_IDS, called(OBJECT_NAMES, vec![text(of.name()), value.clone()])?)
        }
        _ => (SHOWN_ID, called(&format!("{}out", of.name()), vec![value.clone()])?),
    };
    match operators::named(shown) {
        Some(function) => Ok(function.call(vec![value, texts])),
        None => Err(Error::unsupported(format!("function {shown} is not supported"))),
    }
}

fn labels_of(sql_type: &SqlType) -> Option<&Arc<UserType>> {
    sql_type.user_type().filter(|user| user.has_labels())
}
