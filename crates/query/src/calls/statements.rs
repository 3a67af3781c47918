//! The statements of a function, on the thread that calls it.

use super::environment::Environment;
use crate::analysis;
use crate::context::call_site::{Asked, CallSite, Driver, Request};
use crate::context::held::Held;
use crate::repeated::rows_of;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::physical_plan::collect;
use parser::{Body, Statement};
use planner::NamedParameter;
use procedural::{
    Caller, Compiled, Done, Scalar, Statements, calls_any, is_of_settings, may_call, reads_tables,
};
use std::collections::HashMap;
use std::sync::Arc;
use store::DistributedSavepoint;
use values::error::{Error, Result};

/// The statements of a function that a statement calls.
pub(crate) struct AtCall {
    pub(super) environment: Arc<Environment>,
    /// The place of calls within the function.
    pub(super) site: CallSite,
    pub(super) is_volatile: bool,
    /// Whether statements read tables, by their texts.
    pub(super) reading: HashMap<String, bool>,
    /// Who calls functions within the function.
    pub(super) caller: fn(&Environment, &CallSite) -> Arc<dyn Caller>,
}

impl AtCall {
    /// Whether a statement, or a function that it calls, reads tables.
    fn reads_tables(&mut self, statement: &Statement) -> bool {
        if let Some(known) = self.reading.get(&statement.text) {
            return *known;
        }
        let reads = reads_tables(&self.environment.catalog, statement);
        self.reading.insert(statement.text.clone(), reads);
        reads
    }

    /// Who executes statements in the transaction.
    fn driver(&self) -> Option<&Driver> {
        self.site.driver.as_ref().filter(|driver| driver.is_serving())
    }

    /// Runs a query at the snapshot of the statement.
    async fn query(
        &self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        let session = self.environment.session()?;
        let site = self.site.in_statement();
        let frame = session.frame_of(values, statement).with_names(names).at(site);
        let reading = self.environment.reading()?;
        if let Some(done) = rows_of(&session, &frame, statement, reading, limit).await? {
            return Ok(done);
        }
        let planner = frame.planner(reading);
        let query = analysis::query_of(statement)?;
        let (plan, fields) = analysis::plan(&frame, &planner, query).await?;
        if limit != Some(0)
            && let Some(row) = planner.only_row(&plan)?
        {
            let schema = Some(row.schema());
            return Ok(Done { fields: Some(fields), schema, batches: vec![row], count: 0 });
        }
        let plan = match limit {
            Some(limit) => LogicalPlanBuilder::from(plan).limit(0, Some(limit))?.build()?,
            None => plan,
        };
        let physical = planner.physical(&plan).await?;
        let batches = collect(physical, planner.engine.task_ctx()).await?;
        let schema = batches.first().map(|batch| batch.schema());
        Ok(Done { fields: Some(fields), schema, batches, count: 0 })
    }
}

impl Statements for AtCall {
    type Savepoint = Option<DistributedSavepoint>;
    type Held = Held;

    async fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        let is_query = matches!(statement.body(), Body::Query);
        // The statement sees what the function has changed before it, in the functions that it calls, too.
        let is_asked = self.driver().is_some() && (!is_query || self.reads_tables(statement));
        match self.driver() {
            Some(driver) if is_asked => {
                let asked = Asked {
                    depth: self.site.in_statement().depth,
                    statement: statement.clone(),
                    names: names.to_vec(),
                    values: values.to_vec(),
                    limit,
                };
                driver.ask(|reply| Request::Run(Box::new(asked), reply)).await
            }
            _ if is_query => Box::pin(self.query(statement, names, values, limit)).await,
            _ => match statement.body() {
                Body::Refused(error) => Err(error.clone()),
                _ if self.is_volatile => Err(Error::unsupported(
                    "a function that changes anything is not supported in this place",
                )
                .with_hint("It can be called in SELECT, INSERT, UPDATE, DELETE and MERGE.")),
                _ => Err(Error::unsupported(format!(
                    "{} is not allowed in a non-volatile function",
                    command(statement)
                ))),
            },
        }
    }

    async fn scalar(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Scalar> {
        let session = self.environment.session().ok()?;
        let frame = session.frame_of(values, statement).with_names(names);
        let planner = frame.planner(self.environment.reading().ok()?);
        let query = analysis::query_of(statement).ok()?;
        let tree = Box::pin(analysis::tree_without_values(&frame, &planner, query)).await.ok()?;
        Scalar::calling(&tree, names, &|executed| may_call(&self.environment.catalog, executed))
    }

    async fn caller(&mut self) -> Option<Arc<dyn Caller>> {
        Some((self.caller)(&self.environment, &self.site))
    }

    async fn expression(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Compiled> {
        let is_of_settings = |query| calls_any(query, is_of_settings);
        let may_differ =
            self.site.driver.is_some() && statement.query().is_some_and(is_of_settings);
        if may_differ || self.reads_tables(statement) {
            return None;
        }
        let session = self.environment.session().ok()?;
        let frame = session.frame_of(values, statement).with_names(names).at(self.site.clone());
        let mut planner = frame.planner(self.environment.reading().ok()?);
        planner.parameters = &[];
        let query = analysis::query_of(statement).ok()?;
        let planned = Box::pin(analysis::plan_without_values(&frame, &planner, query)).await;
        let (plan, fields) = planned.ok()?;
        Compiled::of(&planner, &plan, &fields)
    }

    fn held(&self) -> Result<Arc<Held>> {
        Ok(Arc::clone(&self.environment.session()?.context.held))
    }

    fn say(&mut self, severity: &'static str, error: Error) {
        use catalog_views::session_context::SessionContext;
        if let Ok(session) = self.environment.session() {
            session.context.say(severity, error);
        }
    }

    async fn savepoint(&mut self) -> Result<Option<DistributedSavepoint>> {
        match self.driver().filter(|_| self.is_volatile) {
            Some(driver) => driver.ask(Request::Mark).await.map(Some),
            None => Ok(None),
        }
    }

    async fn roll_back(&mut self, to: Option<DistributedSavepoint>) -> Result<()> {
        match (self.driver(), to) {
            (Some(driver), Some(to)) => {
                driver.ask(|reply| Request::Return(Box::new(to), reply)).await
            }
            _ => Ok(()),
        }
    }

    fn yields(&self) -> bool {
        false
    }

    fn check(&self) -> Result<()> {
        executor::check()
    }
}

/// The command of a statement that changes something.
fn command(statement: &Statement) -> String {
    let mut words = statement.text.split_whitespace();
    words.next().unwrap_or_default().to_uppercase()
}
