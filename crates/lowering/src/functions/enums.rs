//! Functions of enums and domains.

use super::{Make, Table, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::SqlType;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use store::catalog::UserType;
use values::assign::labels::refuse_new;

pub(super) const TABLE: Table = &[
    ("enum_first(anyenum)", Make::Own(|_, arguments, to| end_of(arguments, to, true))),
    ("enum_last(anyenum)", Make::Own(|_, arguments, to| end_of(arguments, to, false))),
    ("enum_range(anyenum)", Make::Own(all)),
    ("enum_range(anyenum,anyenum)", Make::Own(between)),
    ("pando_domain_check(anyelement,bool,text,text)", Make::Hidden("domain_check")),
    ("pando_domain_not_null(anyelement,text)", Make::Hidden("domain_not_null")),
];

/// The enum that an argument is of, whatever its value.
fn enum_of(argument: &Typed) -> Result<Arc<UserType>> {
    let held = types::held(argument.sql_type)?;
    let user = held.user_type().filter(|user| user.labels().is_some()).cloned();
    user.map_or_else(|| missing(format!("an enum function of {}", argument.sql_type)), Ok)
}

/// The first or the last value of an enum.
fn end_of(arguments: Vec<Typed>, sql_type: SqlType, is_first: bool) -> Result<Typed> {
    let [value] = take(arguments)?;
    let user = enum_of(&value)?;
    let labels = user.labels().unwrap_or_default();
    let label = if is_first { labels.first() } else { labels.last() };
    label.map_or(Ok(()), |label| refuse_new(label, &user))?;
    Ok(Typed::constant(ScalarValue::Int64(label.map(|label| label.order)), sql_type))
}

/// All values of an enum.
fn all(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    range(&*enum_of(&value)?, (None, None), sql_type)
}

/// The values of an enum between two others, which are constants; NULL is no bound.
fn between(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [from, to] = take(arguments)?;
    let bound = |value: &Typed| match value.value() {
        Some(ScalarValue::Int64(bound)) => Ok(*bound),
        _ => missing("enum_range of computed bounds"),
    };
    let bounds = (bound(&from)?, bound(&to)?);
    range(&*enum_of(&from)?, bounds, sql_type)
}

fn range(
    user: &UserType,
    (from, to): (Option<i64>, Option<i64>),
    sql_type: SqlType,
) -> Result<Typed> {
    let mut values = Vec::new();
    for label in user.labels().unwrap_or_default() {
        let order = label.order;
        if from.is_none_or(|from| from <= order) && to.is_none_or(|to| order <= to) {
            refuse_new(label, user)?;
            values.push(ScalarValue::Int64(Some(order)));
        }
    }
    let list = ScalarValue::new_list_nullable(&values, &DataType::Int64);
    Ok(Typed::constant(ScalarValue::List(list), sql_type))
}
