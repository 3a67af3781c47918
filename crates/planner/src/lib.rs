//! Plans parsed statements with DataFusion at the snapshot of the statement.
//!
//! A [`Planner`] serves one statement. It rewrites PostgreSQL's SQL ([`dialect`]), looks up the
//! relations ([`relations`]), runs DataFusion's SQL planner, and adapts the types of the logical
//! plan.

mod asterisks;
mod astray;
mod by_name;
pub mod casts;
pub mod chains;
mod context;
pub mod correlated;
mod dates;
mod deep;
pub mod dialect;
pub mod error_position;
mod every_expression;
mod floats;
pub mod inputs;
mod logical;
mod numbers;
pub mod operators;
mod ordered;
pub mod origins;
mod outer_names;
mod recursive;
mod refusals;
pub mod relations;
mod repeated_names;
mod reusable;
pub mod scales;
mod scopes;
mod series;
mod shown_types;
pub mod unique_names;
pub mod volatile;
pub mod waiting;
mod whole_rows;

use catalog_views::access::Access;
use catalog_views::functions::Functions;
use catalog_views::search_path::SearchPath;
use context::Context;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{
    DFSchema, DataFusionError, ParamValues, ScalarValue, metadata::ScalarAndMetadata,
};
use datafusion::execution::{SessionState, TaskContext};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, TableSource, Volatility};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::planner::{NullOrdering, ParserOptions, PlannerContext};
use datafusion::sql::sqlparser::ast;
pub use deep::refuse_deep;
use functions::datetime::utc_plans;
use futures::future::BoxFuture;
use inputs::Inputs;
use origins::{Found, Origins};
use scan::tables::Tables;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::{RelationId, SqlType, View};
use values::error::{Error, Result, SqlState};
use values::field::Field;
use values::style::Style;
use values::translate::{external, with_position};
use values::types;

/// Memory that each sort keeps for merging, where joins sort because memory is short.
const MERGE_BYTES: usize = 1 << 20;

fn is_stable(call: &ScalarFunction) -> bool {
    call.func.signature().volatility == Volatility::Stable
}

/// Whether an expression has the same value in every statement: it calls no stable function.
pub fn is_lasting(expr: &Expr) -> bool {
    let of_statement =
        |expr: &Expr| Ok(matches!(expr, Expr::ScalarFunction(call) if is_stable(call)));
    !expr.exists(of_statement).unwrap_or(true)
}

/// Plans the query of a view, for a planner with the privileges and the search path of the view.
pub type PlanView = for<'v> fn(&'v Planner<'v>, &'v View) -> BoxFuture<'v, Result<LogicalPlan>>;

/// Plans one statement.
pub struct Planner<'a> {
    /// DataFusion's session state.
    pub engine: &'a SessionState,
    /// The functions that the statement can call.
    pub functions: &'a Functions<'a>,
    /// The privileges of the user.
    pub access: Access<'a>,
    /// The catalog and the tables at the snapshot of the statement.
    pub tables: &'a dyn Tables,
    /// The schemas in which unqualified names are looked up.
    pub search_path: SearchPath<'a>,
    /// The values of `$1`, `$2`, ...; empty while the statement is only described.
    pub parameters: &'a [ScalarValue],
    plan_view: PlanView,
    text: &'a str,
    /// The views within which the statement is expanded, outermost first.
    expanded: Vec<RelationId>,
    /// Whether the statement is a view whose columns are being looked up.
    describes_views: bool,
    sources: HashMap<String, Arc<dyn TableSource>>,
}

impl<'a> Planner<'a> {
    /// A planner for one statement.
    pub fn new(
        engine: &'a SessionState,
        functions: &'a Functions<'a>,
        access: Access<'a>,
        tables: &'a dyn Tables,
        search_path: SearchPath<'a>,
        parameters: &'a [ScalarValue],
        plan_view: PlanView,
    ) -> Self {
        Self {
            engine,
            functions,
            access,
            tables,
            search_path,
            parameters,
            plan_view,
            text: "",
            expanded: Vec::new(),
            describes_views: false,
            sources: HashMap::new(),
        }
    }

    /// Sets the text of the statement, in which positions of errors are found.
    pub fn with_text(self, text: &'a str) -> Self {
        Self { text, ..self }
    }

    /// Plans the statement as a part of the view with this id, which it must not read.
    pub fn within(self, view: Option<RelationId>) -> Self {
        Self { expanded: view.into_iter().collect(), ..self }
    }

    /// Adds a relation under a name that only this statement sees.
    pub fn add_source(&mut self, name: &str, source: Arc<dyn TableSource>) {
        self.sources.insert(name.to_owned(), source);
    }

    /// The logical plan of a query.
    ///
    /// # Errors
    /// As [`plan_statement`](Self::plan_statement).
    pub async fn plan_query(&mut self, query: ast::Query) -> Result<LogicalPlan> {
        self.plan_statement(ast::Statement::Query(Box::new(query))).await
    }

    /// The logical plan of a statement that DataFusion plans, with parameters bound.
    ///
    /// # Errors
    /// Unknown names, missing privileges, type errors, and 42P02 for a parameter without a value.
    pub async fn plan_statement(&mut self, statement: ast::Statement) -> Result<LogicalPlan> {
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

    /// Rejects a plan with unbound parameters, which DataFusion cannot execute.
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
        Context {
            engine: self.engine,
            functions: self.functions,
            parameters: self.parameters,
            sources: &self.sources,
            catalog: self.tables.catalog(),
            search_path: self.search_path,
            expanded: &self.expanded,
        }
    }

    /// The logical plan of a statement whose parameters have types, if known, but no values.
    ///
    /// # Errors
    /// Unknown names, missing privileges and type errors.
    pub async fn plan_described(
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
        let mut statement = statement;
        chains::flatten(&mut statement);
        let statement = dialect::of_statement(statement);
        let aggregates = self.functions.shared().aggregate_functions();
        let statement =
            recursive::of_statement(statement, self.text, &|name| aggregates.contains_key(name))?;
        self.resolve(&statement).await?;
        let statement = by_name::of_statement(statement, &self.sources)
            .map_err(|error| self.locate(external(error)))?;
        let mut statement = repeated_names::of_statement(statement);
        chains::as_arrays(&mut statement);
        let context = self.context();
        let mut planner_context = PlannerContext::new().with_prepare_param_data_types(types);
        let options = parser_options(self.engine);
        deep::growing(|| {
            crate::logical::plan_of(statement, &context, options, &mut planner_context)
                .and_then(refuse_deep)
                .and_then(refusals::of_plan)
                .and_then(numbers::of_plan)
                .and_then(|plan| utc_plans::refuse_in_plan(plan, self.engine.config_options()))
                .map_err(|error| self.locate(error))
        })
    }

    /// The style in which the session reads and writes values.
    pub fn style(&self) -> Style {
        Style::from_config(self.engine.config_options())
    }

    /// The plan with the columns converted to client types, and the description of the columns.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn shown(&self, plan: LogicalPlan) -> Result<(LogicalPlan, Vec<Field>)> {
        let origins = Origins { catalog: self.tables.catalog(), search_path: self.search_path };
        let found: Vec<Option<Found>> =
            (0..plan.schema().fields().len()).map(|column| origins.of(&plan, column)).collect();
        let plan = shown_types::of_plan(plan, self.functions)?;
        let fields = plan.schema().fields().iter().zip(found);
        let fields = fields.map(|(field, found)| {
            let origin = found.as_ref().map(|found| found.origin);
            // The declared type has the length of a text.
            let declared = found.and_then(|found| found.sql_type);
            let declared = declared.filter(|declared| declared.arrow() == *field.data_type());
            let name = unique_names::shown(field.name()).to_owned();
            match declared {
                Some(sql_type) => Field { origin, ..Field::new(name, sql_type) },
                None => Field { origin, ..Field::computed(name, field) },
            }
        });
        let fields = fields.collect();
        Ok((plan, fields))
    }

    /// The logical and physical plan of an expression over the columns of `schema`.
    ///
    /// # Errors
    /// Unknown names and type errors.
    pub fn plan_expression(
        &self,
        expression: ast::Expr,
        schema: &DFSchema,
    ) -> Result<(Expr, Arc<dyn PhysicalExpr>)> {
        let logical = self.expression(expression, schema)?;
        self.physical_expression(logical, schema)
    }

    /// Like [`plan_expression`](Self::plan_expression), for parameters without values. The
    /// parameters that the expression uses are added to `inputs`, whose columns follow those of
    /// `schema`. `None` if the expression must be planned with the values.
    ///
    /// # Errors
    /// Unknown names and type errors.
    pub fn plan_with_inputs(
        &self,
        expression: ast::Expr,
        schema: &DFSchema,
        inputs: &mut Inputs,
    ) -> Result<Option<(Expr, Arc<dyn PhysicalExpr>)>> {
        let logical = self.expression(expression, schema)?;
        let Some(logical) = inputs.replace(logical)? else { return Ok(None) };
        self.physical_expression(logical, &inputs.behind(schema)?).map(Some)
    }

    fn expression(&self, expression: ast::Expr, schema: &DFSchema) -> Result<Expr> {
        let context = self.context();
        let options = parser_options(self.engine);
        let mut expression = expression;
        chains::flatten(&mut expression);
        let mut expression = dialect::of_expression(expression);
        chains::as_arrays(&mut expression);
        let logical = deep::growing(|| {
            crate::logical::expression_of(expression, schema, &context, options)
                .and_then(|expr| numbers::over_columns(expr, schema))
                .and_then(|expr| {
                    let options = self.engine.config_options();
                    utc_plans::refuse_in_expression(expr, schema, options)
                })
                .map_err(|error| self.locate(error))
        })?;
        Ok(context.with_parameters(logical)?)
    }

    /// An expression, and its physical form over rows of a schema.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn physical_expression(
        &self,
        logical: Expr,
        schema: &DFSchema,
    ) -> Result<(Expr, Arc<dyn PhysicalExpr>)> {
        let style = Style::from_config(self.engine.config_options());
        let logical = casts::converted(logical, schema, style)?.data;
        let shared = Arc::new(schema.clone());
        let callable = lowering::callable(logical.clone(), &shared, self.engine)?;
        let physical = self.engine.create_physical_expr(callable, schema)?;
        Ok((logical, physical))
    }

    /// The physical plan of a logical one.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn physical(&self, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
        self.physical_in(self.engine, plan).await
    }

    /// A physical plan of a logical one whose joins sort their inputs, and so need little memory; and what it runs in.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn physical_with_sorts(
        &self,
        plan: &LogicalPlan,
    ) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>)> {
        let mut engine = self.engine.clone();
        let options = engine.config_mut().options_mut();
        options.optimizer.prefer_hash_join = false;
        // One partition is always joined by hash.
        let partitions = &mut options.execution.target_partitions;
        *partitions = (*partitions).max(2);
        options.execution.sort_spill_reservation_bytes = MERGE_BYTES;
        let physical = self.physical_in(&engine, plan).await?;
        Ok((physical, engine.task_ctx()))
    }

    async fn physical_in(
        &self,
        engine: &SessionState,
        plan: &LogicalPlan,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planned = deep::Growing(Box::pin(physical_plan(engine, plan)));
        planned.await.map_err(|error| self.locate(error))
    }

    /// Adds the position in the statement to an error of planning.
    fn locate(&self, error: DataFusionError) -> Error {
        let error = with_position(error, self.text);
        error_position::placed(error, self.text, |called, name| {
            self.functions.are_same(called, name)
        })
    }
}

/// The physical plan of a logical one. Dynamic filters are disabled if they may be misplaced
/// ([`astray`]).
async fn physical_plan(
    engine: &SessionState,
    plan: &LogicalPlan,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    let planned = any_physical_plan(engine, plan).await?;
    if astray::is_possible(&planned)? {
        return any_physical_plan(&astray::prevented(engine), plan).await;
    }
    Ok(planned)
}

/// The physical plan of a logical one. Correlated subqueries that DataFusion rejects or
/// misinterprets run by row ([`correlated`]).
async fn any_physical_plan(
    engine: &SessionState,
    plan: &LogicalPlan,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    if !correlated::is_misread(plan) {
        let planned = physical_plan_as_it_is(engine, plan).await;
        if planned.is_ok() || !correlated::is_in(plan) {
            return planned;
        }
    }
    physical_plan_as_it_is(engine, &correlated::by_row(plan.clone(), engine)?).await
}

async fn physical_plan_as_it_is(
    engine: &SessionState,
    plan: &LogicalPlan,
) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
    let plan = functions::limited_copies(functions::folding(|| engine.optimize(plan))?)?;
    engine.query_planner().create_physical_plan(&plan, engine).await
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
