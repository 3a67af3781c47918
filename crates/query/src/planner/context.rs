//! What the engine's SQL planner asks about names: tables are the statement's own, functions the engine's.

use super::series;
use crate::catalog_views;
use crate::catalog_views::functions::Functions;
use crate::catalog_views::functions::current_setting;
use crate::values::error::{Error, SqlState};
use crate::values::translate::external;
use crate::values::types::Types;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{TableFunctionArgs, cte_worktable::CteWorkTable};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue, TableReference};
use datafusion::config::ConfigOptions;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, TypePlanner};
use datafusion::logical_expr::{
    AggregateUDF, Expr, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Answers for one statement.
pub(crate) struct Context<'a> {
    pub(crate) engine: &'a SessionState,
    pub(crate) functions: &'a Functions<'a>,
    /// The values of `$1`, `$2`, ...; none while the statement is only described.
    pub(crate) parameters: &'a [ScalarValue],
    /// By the name as the statement gives it, normalised.
    pub(crate) sources: &'a HashMap<String, Arc<dyn TableSource>>,
}

/// The name of a reference, as keys of the statement's relations spell it.
pub(crate) fn spelled(name: &TableReference) -> String {
    match name {
        TableReference::Bare { table } => table.to_string(),
        TableReference::Partial { schema, table } => format!("{schema}.{table}"),
        TableReference::Full { schema, table, .. } => format!("{schema}.{table}"),
    }
}

impl Context<'_> {
    /// The expression with the values of its parameters, as far as they are known.
    pub(super) fn with_parameters(&self, expr: Expr) -> Result<Expr> {
        let replaced = expr.transform(|expr| {
            let Expr::Placeholder(placeholder) = &expr else { return Ok(Transformed::no(expr)) };
            let number = placeholder.id.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
            match number.and_then(|number| self.parameters.get(number.checked_sub(1)?)) {
                Some(value) => Ok(Transformed::yes(Expr::Literal(value.clone(), None))),
                None => Ok(Transformed::no(expr)),
            }
        })?;
        Ok(replaced.data)
    }
}

impl ContextProvider for Context<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let name = spelled(&name);
        self.sources.get(&name).cloned().ok_or_else(|| {
            let message = format!("relation \"{name}\" does not exist");
            external(Error::new(SqlState::UndefinedTable, message))
        })
    }

    fn get_table_function_source(
        &self,
        name: &str,
        args: Vec<Expr>,
    ) -> Result<Arc<dyn TableSource>> {
        if name == series::NAME {
            return Ok(provider_as_source(series::table(self, args)?));
        }
        let function = self.functions.shared().table_functions().get(name).ok_or_else(|| {
            let message = format!("table function {name} does not exist");
            external(Error::new(SqlState::UndefinedFunction, message))
        })?;
        let args = args.into_iter().map(|arg| self.with_parameters(arg));
        let args = args.collect::<Result<Vec<_>>>()?;
        let args = TableFunctionArgs::new(&args, self.engine);
        Ok(provider_as_source(function.create_table_provider_with_args(args)?))
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.engine.expr_planners()
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(Types))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        if name == "current_setting" {
            return Some(Arc::new(current_setting(catalog_views::settings(self.engine))));
        }
        self.functions.scalar(name).or_else(|| self.functions.missing(name))
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.functions.shared().higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.functions.shared().aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.functions.shared().window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.engine.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.functions.scalar_names()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.functions.shared().higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.functions.shared().aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.functions.shared().window_functions().keys().cloned().collect()
    }
}
