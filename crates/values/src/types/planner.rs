//! The engine's hook for the types of casts.

use super::ast::from_ast;
use super::field::{plan_field, with_system_type};
use crate::error::SqlState;
use crate::translate::external;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::DataType as Ast;
use std::sync::Arc;
use store::catalog::SqlType;

/// Resolves the types of casts for the engine's SQL planner.
#[derive(Debug)]
pub struct Types;

impl TypePlanner for Types {
    fn plan_type_field(&self, ast: &Ast) -> datafusion::common::Result<Option<FieldRef>> {
        if matches!(ast, Ast::Regclass) {
            return Ok(Some(Arc::new(Field::new("", DataType::Utf8View, true))));
        }
        match from_ast(ast) {
            Ok(SqlType::Interval) => Ok(None),
            Ok(sql_type) => {
                // A field with a name replaces the metadata of the argument. Without one, the engine would still take a
                // `json` that is cast to text for `json`.
                let field = plan_field("cast", &sql_type, true);
                Ok(Some(Arc::new(match ast {
                    Ast::Custom(name, _) => with_system_type(field, &name.to_string()),
                    _ => field,
                })))
            }
            Err(error) if error.state() == SqlState::InvalidParameterValue => Err(external(error)),
            Err(_) => Ok(None),
        }
    }
}
