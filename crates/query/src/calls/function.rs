//! A function of the engine that executes one of a user.

use super::environment::Environment;
use super::identity::identity;
use super::statements::AtCall;
use crate::context::Inner;
use crate::context::call_site::{CallSite, DEPTH_MAX};
use crate::context::kept_functions::KeptFunction;
use analyzer::tree::Executed;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result as EngineResult, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use lowering::{Shape, UserFunctions};
use parking_lot::Mutex;
use procedural::{CallForm, Callee, Caller, Results, StatementHost, awaited};
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};
use store::Reading;
use store::catalog::{Catalog, RelationId};
use values::error::{Error, Result, SqlState};
use values::translate::external;

/// A host of bodies.
type BodyHost = StatementHost<AtCall>;

/// The functions of users of a session, at a snapshot and a place.
pub(crate) fn user_functions(
    session: &Weak<Inner>,
    catalog: Arc<Catalog>,
    reading: Option<Reading>,
    site: CallSite,
) -> Arc<dyn UserFunctions> {
    functions(session, catalog, reading, site)
}

/// The same functions, which expressions may also call themselves.
pub(crate) fn functions(
    session: &Weak<Inner>,
    catalog: Arc<Catalog>,
    reading: Option<Reading>,
    site: CallSite,
) -> Arc<Functions> {
    let statement = session.upgrade().map_or(0, |session| session.borrowed.statement());
    let session = Weak::clone(session);
    let environment = Arc::new(Environment { session, statement, catalog, reading, site });
    Arc::new(Functions { environment, known: Mutex::default(), called: Mutex::default() })
}

/// Who calls functions at a place within an environment.
fn caller(environment: &Environment, site: &CallSite) -> Arc<dyn Caller> {
    let Environment { session, catalog, reading, .. } = environment;
    functions(session, Arc::clone(catalog), reading.clone(), site.clone())
}

/// The rows after which a statement that was cancelled ends.
const ROWS_CHECKED: usize = 8;

/// Functions of users.
pub(crate) struct Functions {
    environment: Arc<Environment>,
    known: Mutex<HashMap<RelationId, Arc<Ready>>>,
    /// The functions that expressions have called.
    called: Mutex<Vec<Called>>,
}

/// A function that an expression has called.
type Called = (Arc<Callee>, Arc<Ready>, Arc<CallForm>);

impl Functions {
    fn called(&self, callee: &Arc<Callee>) -> Result<(Arc<Ready>, Arc<CallForm>)> {
        let known = |(of, ready, form): &Called| {
            Arc::ptr_eq(of, callee).then(|| (Arc::clone(ready), Arc::clone(form)))
        };
        if let Some(called) = self.called.lock().iter().find_map(known) {
            return Ok(called);
        }
        let ready = self.ready(callee.id)?;
        let form = ready.kept.prepared.form(&callee.shape)?;
        self.called.lock().push((Arc::clone(callee), Arc::clone(&ready), Arc::clone(&form)));
        Ok((ready, form))
    }

    fn ready(&self, id: RelationId) -> Result<Arc<Ready>> {
        if let Some(ready) = self.known.lock().get(&id) {
            return Ok(Arc::clone(ready));
        }
        let Environment { session, catalog, .. } = &*self.environment;
        let kept = match session.upgrade() {
            Some(session) => session.function(catalog, id)?,
            None => KeptFunction::of(catalog, id)?,
        };
        let ready = Arc::new(Ready { kept, hosts: Mutex::default() });
        self.known.lock().insert(id, Arc::clone(&ready));
        Ok(ready)
    }
}

impl UserFunctions for Functions {
    fn function(&self, executed: &Executed, shape: Shape) -> Result<ScalarUDF> {
        let ready = self.ready(RelationId(executed.id))?;
        if ready.kept.prepared.needs_driver {
            self.environment.site.note_driver_needed();
        }
        let (environment, name) = (Arc::clone(&self.environment), executed.signature.clone());
        Ok(ScalarUDF::new_from_impl(UserFunction::new(environment, ready, name, shape)))
    }
}

impl Caller for Functions {
    fn call(&self, callee: &Arc<Callee>, arguments: Vec<ScalarValue>) -> Result<ScalarValue> {
        let (ready, form) = self.called(callee)?;
        awaited(ready.value(&self.environment, &form, arguments))
    }
}

/// A function with hosts that nobody uses at the moment, which know its expressions.
struct Ready {
    kept: Arc<KeptFunction>,
    hosts: Mutex<Vec<BodyHost>>,
}

impl Ready {
    /// A host for a call in an environment.
    fn host(&self, environment: &Arc<Environment>) -> Result<BodyHost> {
        let site = &environment.site;
        if site.depth >= DEPTH_MAX {
            let message = "stack depth limit exceeded";
            return Err(Error::new(SqlState::StatementTooComplex, message));
        }
        let kept = self.hosts.lock().pop();
        Ok(kept.unwrap_or_else(|| {
            let is_volatile = self.kept.prepared.is_volatile();
            let (site, environment) = (site.inside(is_volatile), Arc::clone(environment));
            let (reading, memory) = (HashMap::new(), self.kept.memory());
            let at_call = AtCall { environment, site, is_volatile, reading, caller };
            self.kept.prepared.host(at_call, memory)
        }))
    }

    /// The value for arguments.
    async fn value(
        &self,
        environment: &Arc<Environment>,
        form: &CallForm,
        arguments: Vec<ScalarValue>,
    ) -> Result<ScalarValue> {
        executor::check()?;
        let mut host = self.host(environment)?;
        let value = self.kept.prepared.value(&mut host, form, arguments).await?;
        self.hosts.lock().push(host);
        Ok(value)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // A host holds those of the functions within.
        grammar::growing(|| {
            for host in self.hosts.get_mut().drain(..) {
                self.kept.keep(host.into_memory().lasting());
            }
        });
    }
}

/// A function of the engine that executes one of a user.
struct UserFunction {
    environment: Arc<Environment>,
    ready: Arc<Ready>,
    /// The name with the types of the arguments: no function of the system has it.
    name: String,
    shape: Shape,
    signature: Signature,
}

impl UserFunction {
    fn new(environment: Arc<Environment>, ready: Arc<Ready>, name: String, shape: Shape) -> Self {
        // What is immutable is not known to other statements, so that plans are not kept.
        let volatility = match ready.kept.prepared.is_volatile() {
            true => Volatility::Volatile,
            false => Volatility::Stable,
        };
        let signature = match shape.arguments.is_empty() {
            true => Signature::nullary(volatility),
            false => Signature::any(shape.arguments.len(), volatility),
        };
        Self { environment, ready, name, shape, signature }
    }

    /// The results for each row of the arguments.
    async fn results(&self, arguments: &[ArrayRef], count: usize) -> Result<Results> {
        let session = self.environment.session()?;
        let catalog = &self.environment.catalog;
        let prepared = &self.ready.kept.prepared;
        let statement = self.environment.statement;
        let _identity = identity(&session, statement, catalog, &prepared.function)?;
        let form = prepared.form(&self.shape)?;
        let mut host = self.ready.host(&self.environment)?;
        let mut results = Results::with_capacity(&form, count);
        for row in 0..count {
            if row % ROWS_CHECKED == 0 {
                executor::check()?;
            }
            let values = arguments.iter().map(|array| ScalarValue::try_from_array(array, row));
            let values = values.collect::<EngineResult<Vec<_>>>()?;
            match &mut results {
                Results::Values(all) => all.push(prepared.value(&mut host, &form, values).await?),
                Results::Rows(all) => all.push(prepared.call(&mut host, &form, values).await?),
            }
        }
        self.ready.hosts.lock().push(host);
        Ok(results)
    }
}

impl fmt::Debug for UserFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserFunction").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for UserFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ready, &other.ready) && self.shape == other.shape
    }
}

impl Eq for UserFunction {}

impl Hash for UserFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for UserFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> EngineResult<DataType> {
        Ok(self.shape.field.data_type().clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> EngineResult<FieldRef> {
        Ok(Arc::clone(&self.shape.field))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> EngineResult<ColumnarValue> {
        let is_constant = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let is_volatile = self.signature.volatility == Volatility::Volatile;
        let is_constant = is_constant && !is_volatile && args.number_rows > 0;
        let count = if is_constant { 1 } else { args.number_rows };
        let arrays = args.args.iter().map(|value| value.to_array(count));
        let arrays = arrays.collect::<EngineResult<Vec<ArrayRef>>>()?;
        let results = awaited(self.results(&arrays, count)).map_err(external)?;
        let array = results.array(&self.shape)?;
        match is_constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)),
            false => Ok(ColumnarValue::Array(array)),
        }
    }
}
