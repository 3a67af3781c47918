//! The SQL parser's dialect: PostgreSQL's, without names of arguments that are expressions.
//!
//! For such names the SQL parser reads each argument of a function twice, and `f(f(f(...)))` in a time that doubles with
//! each level. Only `json_object('a' : 1)` has them, which PostgreSQL 15 lacks.

use datafusion::sql::sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;

/// PostgreSQL's dialect.
#[derive(Debug)]
pub(crate) struct Postgres;

const ORIGINAL: PostgreSqlDialect = PostgreSqlDialect {};

macro_rules! as_original {
    ($($method:ident)*) => {
        $(fn $method(&self) -> bool {
            ORIGINAL.$method()
        })*
    };
}

impl Dialect for Postgres {
    fn dialect(&self) -> TypeId {
        ORIGINAL.dialect()
    }

    fn supports_named_fn_args_with_expr_name(&self) -> bool {
        false
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        ORIGINAL.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, first: char) -> bool {
        ORIGINAL.is_delimited_identifier_start(first)
    }

    fn is_identifier_start(&self, first: char) -> bool {
        ORIGINAL.is_identifier_start(first)
    }

    fn is_identifier_part(&self, part: char) -> bool {
        ORIGINAL.is_identifier_part(part)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        ORIGINAL.is_reserved_for_identifier(keyword)
    }

    fn is_custom_operator_part(&self, part: char) -> bool {
        ORIGINAL.is_custom_operator_part(part)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        ORIGINAL.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        ORIGINAL.prec_value(precedence)
    }

    as_original! {
        supports_unicode_string_literal
        supports_filter_during_aggregation
        supports_group_by_expr
        allow_extract_custom
        allow_extract_single_quotes
        supports_create_index_with_clause
        supports_explain_with_utility_options
        supports_listen_notify
        supports_factorial_operator
        supports_bitwise_shift_operators
        supports_comment_on
        supports_load_extension
        supports_named_fn_args_with_colon_operator
        supports_empty_projections
        supports_nested_comments
        supports_string_escape_constant
        supports_numeric_literal_underscores
        supports_array_typedef_with_brackets
        supports_geometric_types
        supports_set_names
        supports_alter_column_type_using
        supports_notnull_operator
        supports_interval_options
        supports_insert_table_alias
        supports_create_table_like_parenthesized
        supports_select_wildcard_with_alias
        supports_comma_separated_trim
        supports_xml_expressions
        supports_comment_optimizer_hint
    }
}
