//! Resolves names for DataFusion's SQL planner: tables of the statement, functions of the engine.

use super::dialect::column_names::CHAIN;
use super::{chains, series};
use catalog_views::functions::Functions;
use catalog_views::functions::current_setting;
use catalog_views::search_path::SearchPath;
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
use store::catalog::{Catalog, RelationId};
use values::error::{Error, SqlState};
use values::translate::external;
use values::types::Types;

/// The context of one statement.
pub(crate) struct Context<'a> {
    pub engine: &'a SessionState,
    pub functions: &'a Functions<'a>,
    /// The values of `$1`, `$2`, ...; empty while the statement is only described.
    pub parameters: &'a [ScalarValue],
    /// The tables of the statement, by their normalized names.
    pub sources: &'a HashMap<String, Arc<dyn TableSource>>,
    /// The definitions in which a relation without a table is looked up.
    pub catalog: &'a Catalog,
    /// The schemas in which unqualified names are looked up.
    pub search_path: SearchPath<'a>,
    /// The views within which the statement is expanded.
    pub expanded: &'a [RelationId],
}

/// The key of a table in [`Context::sources`].
pub(crate) fn spelled(name: &TableReference) -> String {
    match name {
        TableReference::Bare { table } => table.to_string(),
        TableReference::Partial { schema, table } => format!("{schema}.{table}"),
        TableReference::Full { schema, table, .. } => format!("{schema}.{table}"),
    }
}

impl Context<'_> {
    /// Replaces the parameters in an expression whose values are known.
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

    fn bound(&self, args: Vec<Expr>) -> Result<Vec<Expr>> {
        args.into_iter().map(|arg| self.with_parameters(arg)).collect()
    }
}

impl ContextProvider for Context<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let source = self.sources.get(&spelled(&name)).cloned();
        source.ok_or_else(|| external(self.missing(&name)))
    }

    fn get_table_function_source(
        &self,
        name: &str,
        args: Vec<Expr>,
    ) -> Result<Arc<dyn TableSource>> {
        if name == functions::arrays::generated::NAME {
            return Ok(provider_as_source(series::table(self.engine, self.bound(args)?)?));
        }
        let function = self.functions.shared().table_functions().get(name).ok_or_else(|| {
            let message = format!("table function {name} does not exist");
            external(Error::new(SqlState::UndefinedFunction, message))
        })?;
        let args = self.bound(args)?;
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
        if name == CHAIN {
            return Some(Arc::new(chains::marker()));
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
