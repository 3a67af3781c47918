//! Functions of users that the engine calls.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::sets::SetColumn;
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Call, Column, Executed, SetCall};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::sync::Arc;
use store::catalog::SqlType as Held;
use values::types::plan_field;

/// Makes functions of the engine of those of users.
pub trait UserFunctions: Send + Sync {
    /// The function of the engine that executes one of a user.
    ///
    /// # Errors
    /// The function is gone.
    fn function(&self, executed: &Executed, shape: Shape) -> values::error::Result<ScalarUDF>;
}

/// What the engine's function takes and returns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The types of the arguments.
    pub arguments: Vec<Held>,
    /// The types of the columns of a row; of a plain value, that one.
    pub columns: Vec<Held>,
    /// Whether a row is returned, not a plain value.
    pub is_row: bool,
    /// Whether a list of rows is returned.
    pub is_list: bool,
    /// Whether the function of the user returns a set; if not, a list has one row.
    pub is_set: bool,
    /// The field of what is returned.
    pub field: FieldRef,
}

impl Lowering<'_> {
    /// The value of a function that is executed.
    pub(crate) fn executed(
        &mut self,
        call: &Call,
        executed: &Executed,
        sql_type: SqlType,
    ) -> Result<Typed> {
        if executed.columns.is_empty() {
            let held = types::held(sql_type)?;
            let field = Arc::new(plan_field("value", &held, true));
            let expr = self.call_of_user(call, executed, vec![held], (false, None), &field)?;
            return Typed::of(expr, field.data_type().clone(), sql_type);
        }
        let (columns, fields) = columns_of(&executed.columns)?;
        let field = Arc::new(Field::new("row", DataType::Struct(fields), true));
        let expr = self.call_of_user(call, executed, columns, (true, None), &field)?;
        let data_type = field.data_type().clone();
        Ok(Typed { expr, sql_type: Oid::RECORD.into(), data_type })
    }

    /// The rows of a function that is executed, as an array of records.
    pub(crate) fn executed_set(
        &mut self,
        set: &SetCall,
        executed: &Executed,
    ) -> Result<Vec<SetColumn>> {
        let (columns, fields) = columns_of(&set.columns)?;
        let types: Vec<SqlType> = set.columns.iter().map(|column| column.sql_type).collect();
        let item = Arc::new(Field::new("item", DataType::Struct(fields), true));
        let field = Arc::new(Field::new("rows", DataType::List(item), true));
        let is_row = !executed.columns.is_empty() || set.row.is_some();
        let shape = (is_row, Some(set.returns_set));
        let expr = self.call_of_user(&set.call, executed, columns, shape, &field)?;
        let (item, data_type) = (Oid::RECORD.into(), field.data_type().clone());
        let array = Typed { expr, sql_type: Oid::TEXT_ARRAY.into(), data_type };
        Ok(vec![SetColumn { fields: types, ..SetColumn::plain(array, item) }])
    }

    fn call_of_user(
        &mut self,
        call: &Call,
        executed: &Executed,
        columns: Vec<Held>,
        (is_row, set): (bool, Option<bool>),
        field: &FieldRef,
    ) -> Result<Expr> {
        let Some(functions) = self.around.user_functions else {
            return missing(format!("a call of {} in this place", executed.signature));
        };
        let arguments = self.exprs(&call.arguments)?;
        let mut types = Vec::with_capacity(arguments.len());
        for argument in &call.arguments {
            types.push(types::held(argument.sql_type)?);
        }
        let shape = Shape {
            arguments: types,
            columns,
            is_row,
            is_list: set.is_some(),
            is_set: set == Some(true),
            field: Arc::clone(field),
        };
        let function = functions.function(executed, shape)?;
        Ok(function.call(arguments.into_iter().map(|argument| argument.expr).collect()))
    }
}

/// The types of columns, and their fields.
fn columns_of(columns: &[Column]) -> Result<(Vec<Held>, Fields)> {
    let mut types = Vec::with_capacity(columns.len());
    for column in columns {
        types.push(types::held(column.sql_type)?);
    }
    let named = columns.iter().zip(&types);
    let fields = named.map(|(column, held)| plan_field(&column.name, held, true)).collect();
    Ok((types, fields))
}
