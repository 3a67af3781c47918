//! From a parsed statement to a plan: names become tables at the statement's snapshot.
//!
//! [`Planner`] belongs to one statement. It first looks up every relation that the statement names
//! ([`relations`]), then lets the engine's SQL planner do its work.

mod context;
mod correlated;
mod dialect;
pub(crate) mod files;
pub(crate) mod relations;
mod shown_types;
pub(crate) mod unique_names;

use crate::error::{Error, Result, SqlState};
use crate::translate::with_position;
use crate::types;
use context::Context;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::{
    DFSchema, DataFusionError, ParamValues, ScalarValue, metadata::ScalarAndMetadata,
};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, TableSource};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::planner::{NullOrdering, ParserOptions, PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast;
use relations::Tables;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::SqlType;

/// Plans one statement.
pub(crate) struct Planner<'a> {
    pub(crate) engine: &'a SessionState,
    pub(crate) tables: &'a dyn Tables,
    pub(crate) search_path: &'a [String],
    pub(crate) parameters: &'a [ScalarValue],
    text: &'a str,
    /// The statement is a view whose columns are being looked up.
    describes_views: bool,
    sources: HashMap<String, Arc<dyn TableSource>>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        engine: &'a SessionState,
        tables: &'a dyn Tables,
        search_path: &'a [String],
        parameters: &'a [ScalarValue],
    ) -> Self {
        let sources = HashMap::new();
        Self { engine, tables, search_path, parameters, text: "", describes_views: false, sources }
    }

    /// The same planner, with the text that errors point into.
    pub(crate) fn with_text(self, text: &'a str) -> Self {
        Self { text, ..self }
    }

    /// Gives a relation a name for this statement only.
    pub(crate) fn add_source(&mut self, name: &str, source: Arc<dyn TableSource>) {
        self.sources.insert(name.to_owned(), source);
    }

    /// The plan of a query.
    pub(crate) async fn plan_query(&mut self, query: ast::Query) -> Result<LogicalPlan> {
        self.plan_statement(ast::Statement::Query(Box::new(query))).await
    }

    /// The plan of a statement that the engine plans by itself: queries and EXPLAIN.
    pub(crate) async fn plan_statement(
        &mut self,
        statement: ast::Statement,
    ) -> Result<LogicalPlan> {
        let types = self.parameters.iter().map(|value| {
            let field = datafusion::arrow::datatypes::Field::new("", value.data_type(), true);
            Some(Arc::new(field) as FieldRef)
        });
        let plan = self.plan_typed(statement, types.collect()).await?;
        let plan = if self.parameters.is_empty() {
            plan
        } else {
            let values = self.parameters.iter().cloned().map(ScalarAndMetadata::from).collect();
            plan.with_param_values(ParamValues::List(values))?
        };
        self.refuse_unbound(&plan)?;
        Ok(plan)
    }

    /// The engine takes for granted that every parameter has a value by now.
    fn refuse_unbound(&self, plan: &LogicalPlan) -> Result<()> {
        if !self.text.contains('$') {
            return Ok(());
        }
        match plan.get_parameter_names()?.into_iter().min() {
            None => Ok(()),
            Some(name) => {
                let message = format!("there is no parameter {name}");
                Err(Error::new(SqlState::UndefinedParameter, message))
            }
        }
    }

    fn context(&self) -> Context<'_> {
        Context { engine: self.engine, parameters: self.parameters, sources: &self.sources }
    }

    /// The plan of a statement whose parameters have types and no values yet.
    pub(crate) async fn plan_described(
        &mut self,
        statement: ast::Statement,
        types: &[Option<SqlType>],
    ) -> Result<LogicalPlan> {
        let field = |known: &Option<SqlType>| {
            known.as_ref().map(|known| Arc::new(types::plan_field("", known, true)) as FieldRef)
        };
        self.plan_typed(statement, types.iter().map(field).collect()).await
    }

    async fn plan_typed(
        &mut self,
        statement: ast::Statement,
        types: Vec<Option<FieldRef>>,
    ) -> Result<LogicalPlan> {
        let statement = dialect::of_statement(statement);
        self.resolve(&statement).await?;
        let statement = unique_names::of_statement(statement);
        let context = self.context();
        let sql = SqlToRel::new_with_options(&context, parser_options(self.engine));
        let mut planner_context = PlannerContext::new().with_prepare_param_data_types(types);
        sql.sql_statement_to_plan_with_context(statement, &mut planner_context)
            .map_err(|error| self.locate(error))
    }

    /// A query's plan with its columns as clients know their types.
    pub(crate) fn shown(&self, plan: LogicalPlan) -> Result<LogicalPlan> {
        Ok(shown_types::of_plan(plan, self.engine)?)
    }

    /// An expression over some columns, as the engine evaluates it.
    pub(crate) fn plan_expression(
        &self,
        expression: ast::Expr,
        schema: &DFSchema,
    ) -> Result<(Expr, Arc<dyn PhysicalExpr>)> {
        let context = self.context();
        let sql = SqlToRel::new_with_options(&context, parser_options(self.engine));
        let logical = sql
            .sql_to_expr(expression, schema, &mut PlannerContext::new())
            .map_err(|error| self.locate(error))?;
        let logical = self.with_parameters(logical)?;
        let physical = self.engine.create_physical_expr(logical.clone(), schema)?;
        Ok((logical, physical))
    }

    fn with_parameters(&self, expr: Expr) -> Result<Expr> {
        use datafusion::common::tree_node::{Transformed, TreeNode};
        let replaced = expr.transform(|expr| match &expr {
            Expr::Placeholder(placeholder) => {
                let number: Option<usize> =
                    placeholder.id.strip_prefix('$').and_then(|n| n.parse().ok());
                let value = number.and_then(|n| self.parameters.get(n.checked_sub(1)?));
                match value {
                    Some(value) => Ok(Transformed::yes(Expr::Literal(value.clone(), None))),
                    None => Ok(Transformed::no(expr)),
                }
            }
            _ => Ok(Transformed::no(expr)),
        })?;
        Ok(replaced.data)
    }

    /// The physical plan of a logical one.
    pub(crate) async fn physical(&self, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
        physical_plan(self.engine, plan).await.map_err(|error| self.locate(error))
    }

    /// Points an error of planning at its place in the statement.
    fn locate(&self, error: DataFusionError) -> Error {
        with_position(error, self.text)
    }
}

/// The physical plan of a logical one. Correlated subqueries that the engine refuses run by row.
async fn physical_plan(
    engine: &SessionState,
    plan: &LogicalPlan,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    match engine.create_physical_plan(plan).await {
        Err(_) if correlated::is_in(plan) => {
            engine.create_physical_plan(&correlated::by_row(plan.clone(), engine)?).await
        }
        planned => planned,
    }
}

fn parser_options(engine: &SessionState) -> ParserOptions {
    let options = &engine.config_options().sql_parser;
    ParserOptions::new()
        .with_parse_float_as_decimal(options.parse_float_as_decimal)
        .with_enable_ident_normalization(true)
        .with_support_varchar_with_length(true)
        .with_map_string_types_to_utf8view(true)
        .with_collect_spans(true)
        .with_default_null_ordering(NullOrdering::NullsMax)
}
