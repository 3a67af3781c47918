//! Who sees and may do what. Everything that there is can be seen; who may do what is told in one place,
//! [`may`].

use super::super::row_function::function;
use super::Sight;
use crate::session::Names;
use crate::system::pg_catalog::roles;
use crate::system::rows::Cell;
use crate::system::shape::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// Whether the current role may do something.
fn may(_: &Names) -> Cell {
    true.into()
}

/// Each with its fewest and most arguments: the role comes first, and may be left out.
const PRIVILEGES: [(&str, usize, usize); 12] = [
    ("has_table_privilege", 2, 3),
    ("has_schema_privilege", 2, 3),
    ("has_database_privilege", 2, 3),
    ("has_sequence_privilege", 2, 3),
    ("has_function_privilege", 2, 3),
    ("has_type_privilege", 2, 3),
    ("has_language_privilege", 2, 3),
    ("has_tablespace_privilege", 2, 3),
    ("has_foreign_data_wrapper_privilege", 2, 3),
    ("has_server_privilege", 2, 3),
    ("has_column_privilege", 3, 4),
    ("has_any_column_privilege", 2, 3),
];

/// Objects that are all in `pg_catalog`, and so always found by their bare name.
const VISIBLE: [&str; 9] = [
    "pg_type_is_visible",
    "pg_function_is_visible",
    "pg_operator_is_visible",
    "pg_opclass_is_visible",
    "pg_opfamily_is_visible",
    "pg_collation_is_visible",
    "pg_conversion_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible",
];

/// The functions.
pub(super) fn all(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    for (name, fewest, most) in PRIVILEGES {
        let names = Arc::clone(names);
        all.push(function(name, fewest..=most, Form::Flag, move |row| {
            Ok(if row.text(row.count() - 2).is_some() { may(&names) } else { Cell::Null })
        }));
    }
    for name in VISIBLE {
        all.push(function(name, 1..=1, Form::Flag, |row| Ok(row.number(0).map(|_| true).into())));
    }
    for name in ["pg_ts_dict_is_visible", "pg_ts_parser_is_visible", "pg_ts_template_is_visible"] {
        all.push(function(name, 1..=1, Form::Flag, |row| Ok(row.number(0).map(|_| true).into())));
    }
    let of = Arc::clone(names);
    all.push(function("pg_table_is_visible", 1..=1, Form::Flag, move |row| {
        let sight = Sight::of(&of);
        let class = sight.class(row, 0);
        Ok(class.map(|class| class.is_visible(&sight.catalog, &sight.search_path)).into())
    }));
    let of = Arc::clone(names);
    all.push(function("pg_has_role", 2..=3, Form::Flag, move |_| Ok(may(&of))));
    all.push(function("pg_get_userbyid", 1..=1, Form::Text, |row| {
        Ok(row.number(0).map(roles::name_of).into())
    }));
    all.push(function("row_security_active", 1..=1, Form::Flag, |_| Ok(false.into())));
    all
}
