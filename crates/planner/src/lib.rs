//! Names to relations, and logical plans to physical ones, at the snapshot of a statement.
//!
//! A [`Planner`] serves one statement. It looks up the relations ([`relations`]), and has DataFusion plan what the analyzer
//! and `lowering` have made of the statement, with rules for what DataFusion rejects or does otherwise than PostgreSQL.

mod astray;
pub mod casts;
pub mod correlated;
mod deep;
mod every_expression;
mod in_turn;
pub mod inputs;
pub mod kept;
pub mod large_joins;
mod logical;
mod only_row;
pub mod origins;
pub mod over_rows;
pub mod relations;
pub mod results;
mod reusable;
pub mod scales;
pub mod unique_names;
pub mod volatile;
pub mod waiting;

use catalog_views::access::Access;
use catalog_views::functions::Functions;
use catalog_views::search_path::SearchPath;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::datasource::TableProvider;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
pub use deep::refuse_deep;
use futures::future::BoxFuture;
pub use in_turn::drained;
use inputs::Inputs;
use lowering::UserFunctions;
pub use only_row::values_of;
use scan::extremes;
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::{RelationId, View};
use values::error::Result;
use values::style::Style;

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

/// A parameter that a statement calls by a name: a variable of a procedural language.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedParameter {
    /// The record or label before the name, if it must be written.
    pub qualifier: Option<String>,
    /// The name.
    pub name: String,
    /// The type.
    pub sql_type: store::catalog::SqlType,
    /// What the name means if a column has it, too.
    pub conflict: Conflict,
}

/// What a name means that is both a parameter's and a column's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Conflict {
    /// It is ambiguous: 42702.
    #[default]
    Error,
    /// The column, as in functions in SQL.
    Column,
    /// The parameter.
    Parameter,
}

/// What functions see of the changes of the statement that calls them.
#[derive(Debug, Clone)]
pub enum Shown {
    /// It changes nothing.
    Nothing,
    /// The tables of these names.
    Tables(Arc<[String]>),
    /// All tables.
    Everything,
}

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
    /// The types of the parameters, if their values do not say them; empty otherwise.
    pub parameter_types: &'a [Option<store::catalog::SqlType>],
    /// The names of the first parameters.
    pub names: &'a [NamedParameter],
    /// Relations of no catalog, which the function of a trigger sees, by their names.
    pub transitions: &'a [(String, Arc<dyn TableProvider>)],
    /// The functions of users that are executed; `None` if there are none.
    pub user_functions: Option<Arc<dyn UserFunctions>>,
    /// Whether the row ids of tables without a primary key are columns, the last ones, which `*` does not show.
    pub row_ids: bool,
    /// What volatile functions in SQL see of the statement's changes: they are executed, not expanded.
    pub shown: Shown,
    plan_view: PlanView,
    /// The views within which the statement is expanded, outermost first.
    expanded: Vec<RelationId>,
    /// Whether the statement is a view whose columns are being looked up.
    describes_views: bool,
}

/// Whether a text may name `ctid`, for which row ids are needed.
pub fn names_row_ids(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part =
        |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    bytes.windows(4).enumerate().any(|(at, word)| {
        word.eq_ignore_ascii_case(b"ctid")
            && !is_part(at + 4)
            && at.checked_sub(1).is_none_or(|before| !is_part(before))
    })
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
            parameter_types: &[],
            names: &[],
            transitions: &[],
            user_functions: None,
            row_ids: false,
            shown: Shown::Nothing,
            plan_view,
            expanded: Vec::new(),
            describes_views: false,
        }
    }

    /// Gives types to the parameters, whose values do not say them.
    pub fn with_parameter_types(self, types: &'a [Option<store::catalog::SqlType>]) -> Self {
        Self { parameter_types: types, ..self }
    }

    /// Gives names to the first parameters.
    pub fn with_names(self, names: &'a [NamedParameter]) -> Self {
        Self { names, ..self }
    }

    /// Adds relations of no catalog.
    pub fn with_transitions(self, transitions: &'a [(String, Arc<dyn TableProvider>)]) -> Self {
        Self { transitions, ..self }
    }

    /// The relation of no catalog that a name means. Views do not see them.
    pub fn transition(&self, schema: Option<&str>, name: &str) -> Option<&Arc<dyn TableProvider>> {
        if schema.is_some() || !self.expanded.is_empty() {
            return None;
        }
        self.transitions.iter().find(|(known, _)| known == name).map(|(_, relation)| relation)
    }

    /// Plans the statement as a part of the view with this id, which it must not read.
    pub fn within(self, view: Option<RelationId>) -> Self {
        Self { expanded: view.into_iter().collect(), ..self }
    }

    /// Whether what is planned is the query of a view.
    pub fn is_of_view(&self) -> bool {
        !self.expanded.is_empty()
    }

    /// The style in which the session reads and writes values.
    pub fn style(&self) -> Style {
        Style::from_config(self.engine.config_options())
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

    /// As [`physical_expression`](Self::physical_expression), for parameters without values. The parameters that the
    /// expression uses are added to `inputs`, whose columns follow those of `schema`. `None` if the expression must be
    /// planned with the values.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn physical_with_inputs(
        &self,
        logical: Expr,
        schema: &DFSchema,
        inputs: &mut Inputs,
    ) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let Some(logical) = inputs.replace(logical)? else { return Ok(None) };
        Ok(Some(self.physical_expression(logical, &inputs.behind(schema)?)?.1))
    }

    /// The physical plan of a logical one.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn physical(&self, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
        if deep::growing(|| in_turn::mixes_sequences(plan))? {
            return Ok(self.physical_in_turn(plan).await?.0);
        }
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

    /// A physical plan of a logical one that computes rows one after the other, and what it runs in.
    ///
    /// # Errors
    /// Errors of the engine.
    pub async fn physical_in_turn(
        &self,
        plan: &LogicalPlan,
    ) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>)> {
        let mut engine = self.engine.clone();
        let options = engine.config_mut().options_mut();
        // The sides of a union are partitions nevertheless, which would be sorted at the same time.
        options.optimizer.repartition_sorts = false;
        let execution = &mut options.execution;
        execution.target_partitions = 1;
        if in_turn::has_volatile_filter(plan)? {
            execution.batch_size = ConfigNonZeroUsize::try_new(1)?;
        }
        let plan = in_turn::without_values(plan.clone())?;
        let physical = self.physical_in(&engine, &plan).await?;
        let is_spread = self.tables.reading().is_some_and(|reading| reading.peers().is_some());
        Ok((in_turn::in_turn(physical, is_spread)?, engine.task_ctx()))
    }

    async fn physical_in(
        &self,
        engine: &SessionState,
        plan: &LogicalPlan,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(deep::Growing(Box::pin(physical_plan(engine, plan))).await?)
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
    let plan = functions::limited_copies(functions::folding(|| logical::optimized(engine, plan))?)?;
    let plan = extremes::chosen(plan, engine.config()).await?;
    engine.query_planner().create_physical_plan(&plan, engine).await
}
