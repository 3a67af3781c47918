//! Which types of columns foreign keys compare.

use crate::operator_classes::require_key_order;
use datafusion::arrow::datatypes::DataType;
use store::catalog::{ColumnId, SqlType, SystemType, Table};
use values::error::{Error, Result, SqlState};
use values::numbers;

/// Refuses columns whose values cannot be compared.
pub(crate) fn refuse_types(
    (table, column): (&Table, ColumnId),
    (referenced, target): (&Table, ColumnId),
    name: &str,
) -> Result<()> {
    let (Some(column), Some(target)) = (table.position(column), referenced.position(target)) else {
        return Ok(());
    };
    let (column, target) = (&table.columns[column], &referenced.columns[target]);
    if is_comparable(&column.sql_type, &target.sql_type) {
        return require_key_order(&target.sql_type, "a foreign key");
    }
    let message = format!("foreign key constraint \"{name}\" cannot be implemented");
    Err(Error::new(SqlState::DatatypeMismatch, message).with_detail(format!(
        "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
        column.name,
        target.name,
        unmodified(&column.sql_type),
        unmodified(&target.sql_type)
    )))
}

/// The type that a domain restricts; another type as it is.
fn unrestricted(of: &SqlType) -> &SqlType {
    match of {
        SqlType::User(user) => user.domain().map_or(of, |domain| unrestricted(&domain.base)),
        of => of,
    }
}

/// The name of a type without its modifier.
fn unmodified(of: &SqlType) -> String {
    match of {
        SqlType::Varchar(_) => "character varying".to_owned(),
        SqlType::Char(_) => "character".to_owned(),
        SqlType::Numeric { .. } => "numeric".to_owned(),
        SqlType::Precise(of, _) => unmodified(of),
        other => other.to_string(),
    }
}

/// Whether PostgreSQL compares values of a referring column with those of a referenced one: there is
/// an operator, or the type of the referring column converts implicitly.
fn is_comparable(from: &SqlType, to: &SqlType) -> bool {
    let (from, to) = (unrestricted(from), unrestricted(to));
    // Types that are held as others are, and have operators of their own only.
    let is_own = |of: &SqlType| matches!(of, SqlType::User(_) | SqlType::Uuid | SqlType::System(_));
    if is_own(from) || is_own(to) {
        return match (from, to) {
            (SqlType::System(from), SqlType::System(to)) => {
                from == to || from.is_id() && to.is_id() && from.is_ordered() && to.is_ordered()
            }
            // Integers become object ids, and names and texts are compared.
            (SqlType::SmallInt | SqlType::Integer | SqlType::BigInt, SqlType::System(to)) => {
                to.is_id() && to.is_ordered()
            }
            (SqlType::Text | SqlType::Varchar(_), SqlType::System(to)) => *to == SystemType::Name,
            (SqlType::System(from), SqlType::Text) => *from == SystemType::Name,
            (SqlType::User(from), SqlType::User(to)) => from.id == to.id,
            (from, to) => from == to,
        };
    }
    let (from, to) = (from.arrow(), to.arrow());
    let is_decimal = |of: &DataType| matches!(of, DataType::Decimal128(..)) || numbers::is_open(of);
    let is_time = |of: &DataType| matches!(of, DataType::Date32 | DataType::Timestamp(..));
    from == to
        || from.is_integer() && (to.is_numeric() || is_decimal(&to))
        || from.is_floating() && to.is_floating()
        || is_decimal(&from) && (is_decimal(&to) || to.is_floating())
        || from.is_string() && to.is_string()
        || is_time(&from) && is_time(&to)
}
