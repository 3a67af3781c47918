//! Casts that only say what a value is already: `relname::name`, `'r'::"char"`, `x::information_schema.sql_identifier`.
//!
//! psql, pgjdbc and information_schema's own views cast between the types of names all the time.

use super::build::type_name;
use datafusion::sql::sqlparser::ast::{DataType, Expr};

pub(super) fn rewrite(expr: &mut Expr) {
    let Expr::Cast { data_type, .. } = expr else { return };
    let name = type_name(data_type);
    let domain = name.strip_prefix("information_schema.");
    *data_type = match domain.unwrap_or(&name) {
        "sql_identifier" | "character_data" | "yes_or_no" => DataType::Text,
        "cardinal_number" => DataType::Integer(None),
        _ => return,
    };
}
