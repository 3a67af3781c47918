//! The surroundings of one running statement: settings, privileges, parameters, the engine's state.

use super::call_site::CallSite;
use super::inner::Inner;
use super::ownership;
use super::session_context::Context;
use super::triggered::{Changed, Transitions};
use catalog_views::Origin;
use catalog_views::access::Access;
use catalog_views::functions::Functions;
use catalog_views::search_path::SearchPath;
use catalog_views::session_context::{DatabaseContext, SessionContext};
use catalog_views::settings::Settings;
use datafusion::common::ScalarValue;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use distributed::bundles::Bundling;
use lowering::UserFunctions;
use parking_lot::Mutex;
use parser::Statement;
use parser::commands::RoleName;
use planner::{NamedParameter, Planner};
use scan::portable::Portable;
use scan::shipping::Shipping;
use scan::tables::Tables;
use std::sync::{Arc, OnceLock};
use store::DistributedTransaction;
use store::catalog::{Catalog, Object, SqlType};
use user_types::Visible;
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// The surroundings of one running statement.
pub(crate) struct Frame<'a> {
    pub(crate) session: &'a Inner,
    engine: OnceLock<SessionState>,
    pub(crate) functions: Functions<'a>,
    pub(crate) settings: Arc<Settings>,
    /// The role whose privileges the statement has; `None` if it may do everything.
    role: Option<Arc<String>>,
    pub(crate) parameters: &'a [ScalarValue],
    /// The names of the first parameters, in a procedural language.
    pub(crate) names: &'a [NamedParameter],
    /// Whether a procedural language executes it.
    pub(crate) is_of_function: bool,
    pub(crate) text: &'a str,
    /// The statement; `None` for what no statement asks for.
    pub(crate) statement: Option<&'a Statement>,
    /// The relations of no catalog that the function of a trigger sees.
    pub(crate) transitions: Transitions,
    /// The functions around it.
    pub(crate) depth: usize,
    /// The changes for which triggers fire at the end of the statement.
    pub(crate) changed: Mutex<Vec<Changed>>,
    /// The place of its calls of users' functions.
    pub(crate) site: CallSite,
}

impl Inner {
    /// The surroundings of a new statement.
    pub(crate) fn frame<'a>(&'a self, parameters: &'a [ScalarValue], text: &'a str) -> Frame<'a> {
        let settings = self.settings.load_full();
        let functions =
            Functions::new(&self.shared.engine.functions, Arc::clone(&self.context) as _);
        let (engine, role) = (OnceLock::new(), self.context.role());
        Frame {
            session: self,
            engine,
            functions,
            settings,
            role,
            parameters,
            names: &[],
            is_of_function: false,
            text,
            statement: None,
            transitions: Arc::from([]),
            depth: 0,
            changed: Mutex::default(),
            site: CallSite::default(),
        }
    }

    /// The surroundings of a parsed statement.
    pub(crate) fn frame_of<'a>(
        &'a self,
        parameters: &'a [ScalarValue],
        statement: &'a Statement,
    ) -> Frame<'a> {
        Frame { statement: Some(statement), ..self.frame(parameters, &statement.text) }
    }
}

impl Context {
    /// Sets the catalog and the search path that functions of the statement see.
    pub(crate) fn see(&self, tables: &dyn Tables, frame: &Frame<'_>) {
        self.catalog.store(Arc::clone(tables.catalog()));
        self.search_path.store(Arc::new(frame.settings.search_path.clone()));
    }
}

impl<'a> Frame<'a> {
    /// Gives names to the first parameters, in a procedural language.
    pub(crate) fn with_names(self, names: &'a [NamedParameter]) -> Self {
        Self { names, is_of_function: true, ..self }
    }

    /// Adds relations of no catalog.
    pub(crate) fn with_transitions(self, transitions: Transitions) -> Self {
        Self { transitions, ..self }
    }

    /// Notes how many functions are around the statement.
    pub(crate) fn with_depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// The statement at a place of calls.
    pub(crate) fn at(self, site: CallSite) -> Self {
        Self { site, ..self }
    }
}

impl Frame<'_> {
    /// The engine's state for this statement. It is copied on first use, because many statements do not need it.
    pub(crate) fn engine(&self) -> &SessionState {
        self.engine.get_or_init(|| {
            let settings = Arc::clone(&self.settings);
            let engine = &self.session.shared.engine.for_statement;
            let mut engine = match Bundling::of(|name| settings.get(name)) {
                Some(bundling) => bundling.engine(engine),
                None => engine.clone(),
            };
            engine.mark_start_execution();
            if let Some(moment) = self.session.moment() {
                engine.execution_props_mut().query_execution_start_time = Some(moment);
            }
            let shared: Arc<dyn DatabaseContext> = Arc::clone(&self.session.shared) as _;
            let shared = Arc::downgrade(&shared);
            if settings.style() != Style::default() {
                settings.style().store_in(engine.config_mut().options_mut());
            }
            let partitions = engine.config().target_partitions();
            if let Some(portable) = engine.config().get_extension::<Portable>() {
                let shipping = Shipping::new(portable, partitions, |name| settings.get(name));
                engine.config_mut().set_extension(Arc::new(shipping));
            }
            let session: Arc<dyn SessionContext> = Arc::clone(&self.session.context) as _;
            catalog_views::install(engine.config_mut(), Origin { shared, session, settings });
            engine
        })
    }

    /// The search path of the statement.
    pub(crate) fn path(&self) -> SearchPath<'_> {
        SearchPath::new(&self.settings.search_path, &self.session.context.temporary)
    }

    /// The types of users that names in the statement can mean.
    pub(crate) fn types(&self, catalog: &Arc<Catalog>) -> Visible {
        Visible::new(catalog, self.path().schemas())
    }

    /// The privileges of the statement.
    pub(crate) fn access<'b>(&'b self, catalog: &'b Catalog) -> Access<'b> {
        Access::new(catalog, self.role.as_deref().map(String::as_str))
    }

    /// Makes the current user the owner of an object.
    pub(crate) fn own(
        &self,
        transaction: &mut DistributedTransaction,
        object: Object,
    ) -> Result<()> {
        let user = self.session.context.user();
        let known = transaction.catalog().role(&user).is_some();
        ownership::own(transaction, known.then_some(user.as_str()), object)
    }

    /// The name of a role that a statement refers to.
    pub(crate) fn role_named(&self, name: &RoleName) -> Result<String> {
        let context = &self.session.context;
        match name {
            RoleName::Named(name) => Ok(name.clone()),
            RoleName::Current => Ok(context.user().to_string()),
            RoleName::Session => Ok(context.session_user().to_string()),
            RoleName::Public => {
                let message = "role \"public\" does not exist";
                Err(Error::new(SqlState::UndefinedObject, message))
            }
        }
    }

    /// Whether a name is the current user's or the session user's.
    pub(crate) fn is_me(&self, name: &str) -> bool {
        let context = &self.session.context;
        *context.user() == name || *context.session_user() == name
    }

    /// Queues the notice of IF NOT EXISTS for an object that exists.
    pub(crate) fn skip_existing(&self, state: SqlState, kind: &str, name: &str) {
        self.session.notice(state, format!("{kind} \"{name}\" already exists, skipping"));
    }

    /// Queues the notice of IF EXISTS for an object that does not exist.
    pub(crate) fn skip_missing(&self, kind: &str, name: &str) {
        let state = SqlState::SuccessfulCompletion;
        self.session.notice(state, format!("{kind} \"{name}\" does not exist, skipping"));
    }

    /// The types of the parameters, if their values do not say them; empty otherwise.
    pub(crate) fn parameter_types(&self) -> &[Option<SqlType>] {
        self.statement.map_or(&[], Statement::parameter_types)
    }

    /// A planner for this statement that reads `tables`.
    pub(crate) fn planner<'b>(&'b self, tables: &'b dyn Tables) -> Planner<'b> {
        let mut planner = Planner::new(
            self.engine(),
            &self.functions,
            self.access(tables.catalog()),
            tables,
            self.path(),
            self.parameters,
            self.session.shared.plan_view,
        )
        .with_names(self.names)
        .with_transitions(&self.transitions)
        .with_parameter_types(self.parameter_types());
        planner.user_functions = self.user_functions(tables, &self.site);
        planner.row_ids = planner::names_row_ids(self.text);
        planner
    }

    /// The functions of users that are called at a place; `None` if there are none.
    pub(crate) fn user_functions(
        &self,
        tables: &dyn Tables,
        site: &CallSite,
    ) -> Option<Arc<dyn UserFunctions>> {
        tables.catalog().functions().next()?;
        let make = self.session.user_functions;
        let catalog = Arc::clone(tables.catalog());
        Some(make(&self.session.me, catalog, tables.reading(), site.clone()))
    }
}

/// Starts a plan whose rows a statement writes.
pub(crate) fn start(
    frame: &Frame<'_>,
    plan: Arc<dyn ExecutionPlan>,
) -> Result<SendableRecordBatchStream> {
    Ok(execute_stream(plan, frame.engine().task_ctx())?)
}
