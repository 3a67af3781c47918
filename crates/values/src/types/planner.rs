//! The types of casts, for the engine's SQL planner.

use super::ast::from_ast;
use super::field::{plan_field, with_system_type};
use crate::error::SqlState;
use crate::translate::external;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::DataType as Ast;
use std::sync::Arc;
use store::catalog::SqlType;

/// Gives DataFusion's planner our reading of the types in casts.
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
                // A name says that the field is all that is known of the result, also where it says nothing more:
                // otherwise the engine would take a `json` that is cast to text for `json` still.
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
