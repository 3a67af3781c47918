//! A function of the engine that executes one of a user.

use super::environment::Environment;
use super::identity::identity;
use super::statements::AtCall;
use crate::context::Inner;
use crate::context::call_site::{CallSite, DEPTH_MAX};
use crate::context::kept_functions::KeptFunction;
use analyzer::tree::Executed;
use datafusion::arrow::array::{ArrayRef, ListArray, StructArray, new_empty_array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, FieldRef, Fields};
use datafusion::common::{Result as EngineResult, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use lowering::{Shape, UserFunctions};
use parking_lot::Mutex;
use procedural::{StatementHost, awaited};
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};
use store::Reading;
use store::catalog::{Catalog, RelationId};
use values::assign::converted;
use values::error::{Error, Result, SqlState};
use values::translate::external;

/// The bytes of stack that the statements of one function may need.
const ROOM: usize = 2 << 20;

/// A host of bodies.
type BodyHost = StatementHost<AtCall>;

/// The functions of users of a session, at a snapshot and a place.
pub(crate) fn user_functions(
    session: &Weak<Inner>,
    catalog: Arc<Catalog>,
    reading: Option<Reading>,
    site: CallSite,
) -> Arc<dyn UserFunctions> {
    let statement = session.upgrade().map_or(0, |session| session.borrowed.statement());
    let session = Weak::clone(session);
    let environment = Arc::new(Environment { session, statement, catalog, reading, site });
    Arc::new(Functions { environment, known: Mutex::default() })
}

struct Functions {
    environment: Arc<Environment>,
    known: Mutex<HashMap<RelationId, Arc<Ready>>>,
}

impl Functions {
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
            let reading = HashMap::new();
            let memory = self.kept.memory();
            self.kept.prepared.host(AtCall { environment, site, is_volatile, reading }, memory)
        }))
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        for host in self.hosts.get_mut().drain(..) {
            self.kept.keep(host.into_memory().lasting());
        }
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

    /// The rows of the results for each row of the arguments.
    async fn results(
        &self,
        arguments: &[ArrayRef],
        count: usize,
    ) -> Result<Vec<Vec<Vec<ScalarValue>>>> {
        let session = self.environment.session()?;
        let catalog = &self.environment.catalog;
        let function = &self.ready.kept.prepared.function;
        let _identity = identity(&session, self.environment.statement, catalog, function)?;
        let mut host = self.ready.host(&self.environment)?;
        let mut results = Vec::with_capacity(count);
        for row in 0..count {
            executor::check()?;
            let values = arguments.iter().map(|array| ScalarValue::try_from_array(array, row));
            let values = values.collect::<EngineResult<Vec<_>>>()?;
            results.push(self.ready.kept.prepared.call(&mut host, &self.shape, values).await?);
        }
        self.ready.hosts.lock().push(host);
        Ok(results)
    }

    /// The results as an array.
    fn array(&self, results: Vec<Vec<Vec<ScalarValue>>>) -> EngineResult<ArrayRef> {
        let data_type = self.shape.field.data_type();
        if self.shape.is_list {
            let DataType::List(item) = data_type else {
                return internal_err!("the rows of a function are no list");
            };
            let offsets = OffsetBuffer::from_lengths(results.iter().map(Vec::len));
            let rows: Vec<_> = results.into_iter().flatten().collect();
            let items = records(fields_of(item.data_type())?, rows)?;
            return Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, None)?));
        }
        let first = results.into_iter().map(|rows| rows.into_iter().next().unwrap_or_default());
        if self.shape.is_row {
            return records(fields_of(data_type)?, first.collect());
        }
        let values = first.map(|row| row.into_iter().next().unwrap_or(ScalarValue::Null));
        column(data_type, values.collect())
    }
}

fn fields_of(data_type: &DataType) -> EngineResult<&Fields> {
    match data_type {
        DataType::Struct(fields) => Ok(fields),
        other => internal_err!("{other} is no record"),
    }
}

fn records(fields: &Fields, rows: Vec<Vec<ScalarValue>>) -> EngineResult<ArrayRef> {
    let count = rows.len();
    let mut columns: Vec<Vec<ScalarValue>> =
        fields.iter().map(|_| Vec::with_capacity(count)).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    let arrays = fields.iter().zip(columns);
    let arrays = arrays.map(|(field, values)| column(field.data_type(), values));
    let arrays = arrays.collect::<EngineResult<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), arrays, None, count)?))
}

/// Values as an array of a type.
fn column(data_type: &DataType, values: Vec<ScalarValue>) -> EngineResult<ArrayRef> {
    if values.is_empty() {
        return Ok(new_empty_array(data_type));
    }
    let converted = values.into_iter().map(|value| match value.data_type() == *data_type {
        true => Ok(value),
        false if value.is_null() => ScalarValue::try_from(data_type),
        false => converted(&value, data_type).map_err(external),
    });
    let converted = converted.collect::<EngineResult<Vec<_>>>()?;
    ScalarValue::iter_to_array(converted)
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
        let results = grammar::with_room(ROOM, || awaited(self.results(&arrays, count)));
        let results = results.map_err(external)?;
        let array = self.array(results)?;
        match is_constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)),
            false => Ok(ColumnarValue::Array(array)),
        }
    }
}
