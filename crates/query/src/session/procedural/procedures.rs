//! CALL of procedures.

use super::call::{Deep, null, type_name};
use super::prepared_call::{PreparedCall, values_of};
use super::statements::InSession;
use crate::analysis;
use crate::calls::identity;
use crate::context::call_site::DEPTH_MAX;
use crate::context::kept_functions::KeptFunction;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::transactions::Conversation;
use crate::context::{Frame, Inner};
use analyzer::resolve::{Arguments, NoFunction, Signature, among};
use analyzer::system::Oid;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field as ArrowField, Schema};
use datafusion::common::ScalarValue;
use datafusion::physical_plan::memory::MemoryStream;
use executor::Control;
use futures::FutureExt;
use futures::future::BoxFuture;
use parser::Statement;
use parser::commands::Call;
use planner::{Conflict, NamedParameter};
use plpgsql::{Called, Given, Host};
use procedural::{Done, StatementHost, Statements, Value, shown};
use std::sync::Arc;
use store::catalog::{Catalog, Function, Object, ParameterMode, Privileges};
use values::error::{Error, Result, SqlState};
use values::field::Field;

/// A value of an output parameter: the place of its argument, its name and the value.
pub(super) type Output = (usize, String, Value);

/// The types of parameters of a client, by their numbers from 0, and the columns of a result.
type Described = (Vec<(usize, store::catalog::SqlType)>, Option<Vec<Field>>);

impl Inner {
    /// Runs a CALL in the open transaction, or in one of its own, which the procedure may end.
    pub(super) async fn run_call(
        &self,
        conversation: &mut Conversation,
        frame: &Frame<'_>,
        (statement, call): (&Statement, &Call),
        control: &Control,
    ) -> Result<Outcome> {
        if conversation.open().is_none()
            && let Some(outputs) = self.forwarded(frame, call, control).await?
        {
            return done(outputs);
        }
        let is_own = self.begin_own(conversation).await?;
        let mut inside = InSession::new(self, conversation, control, (0, is_own));
        let called = inside.procedure(statement, call, (frame.names, frame.parameters)).await;
        self.end_own(conversation, is_own, called.and_then(done), control).await
    }

    /// Ends the transaction of a procedure, and begins another one.
    pub(super) async fn end_and_begin(
        &self,
        conversation: &mut Conversation,
        commits: bool,
        control: &Control,
    ) -> Result<()> {
        match commits {
            true => {
                self.check_deferred(conversation).await?;
                conversation.commit_and_go_on(control).await?;
            }
            false => conversation.rollback(),
        }
        self.begin_for_statement(conversation).await
    }

    /// The types of the client's parameters that are arguments of a CALL, by their numbers from 0, and the columns that it
    /// returns; `None` if it returns none.
    ///
    /// # Errors
    /// There is no such procedure.
    pub(in crate::session) async fn description_of_call(
        &self,
        statement: &Statement,
        call: &Call,
    ) -> Result<Described> {
        let frame = self.frame_of(&[], statement);
        let reading = self.shared.store.reading_here()?;
        self.context.see(&reading, &frame);
        let resolved = resolve(&frame, &reading, call).await?;
        let mut types = Vec::new();
        for (place, of) in resolved.places.iter().zip(resolved.types()) {
            let argument = place.and_then(|place| call.arguments.get(place));
            let number = argument.and_then(|argument| argument.text.strip_prefix('$'));
            let number = number.and_then(|number| number.parse::<usize>().ok()?.checked_sub(1));
            if let Some(number) = number {
                types.push((number, held(of)?));
            }
        }
        let mut fields = Vec::new();
        for (_, parameter) in outputs(&resolved.function) {
            let held = held(parameter.type_id)?;
            fields.push(Field::new(parameter.name.clone(), held));
        }
        Ok((types, (!fields.is_empty()).then_some(fields)))
    }
}

/// The outcome of a CALL with these outputs.
fn done(outputs: Vec<Output>) -> Result<Outcome> {
    let Some((fields, batch)) = row(outputs, |(_, name, _)| name.clone())? else {
        return Ok(Outcome::Done(Tag::plain("CALL")));
    };
    let stream = MemoryStream::try_new(vec![batch.clone()], batch.schema(), None)?;
    Ok(Outcome::Rows(Rows::ready(fields, stream, "CALL")))
}

/// The SQL type of an id.
pub(super) fn held(id: u32) -> Result<store::catalog::SqlType> {
    let sql_type = analyzer::system::SqlType::plain(Oid(id));
    let unknown =
        || Error::unsupported(format!("a parameter of type {} is not supported", Oid(id)));
    parser::types::held(sql_type).ok_or_else(unknown)
}

/// The output parameters, with their places among all.
pub(super) fn outputs(
    function: &Function,
) -> impl Iterator<Item = (usize, &store::catalog::Parameter)> {
    let all = function.parameters.iter().enumerate();
    all.filter(|(_, parameter)| parameter.mode.is_output())
}

/// The one row of outputs; `None` if there are none.
fn row(
    outputs: Vec<Output>,
    name: impl Fn(&Output) -> String,
) -> Result<Option<(Vec<Field>, RecordBatch)>> {
    if outputs.is_empty() {
        return Ok(None);
    }
    let (mut fields, mut columns, mut arrow) = (Vec::new(), Vec::new(), Vec::new());
    for output in &outputs {
        let (name, value) = (name(output), &output.2);
        let array: ArrayRef = shown(value)?.to_array_of_size(1)?;
        arrow.push(ArrowField::new(&name, array.data_type().clone(), true));
        fields.push(Field::new(name, value.of.clone()));
        columns.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let schema = Arc::new(Schema::new(arrow));
    Ok(Some((fields, RecordBatch::try_new_with_options(schema, columns, &options)?)))
}

/// A procedure as a candidate of a CALL, which has an argument for each parameter, also for those of mode OUT.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    function: &'a Arc<Function>,
    types: &'a [Oid],
    /// The type of each of the variadic arguments.
    variadic: Option<Oid>,
}

impl Signature for Candidate<'_> {
    fn arguments(&self) -> &[Oid] {
        self.types
    }

    fn variadic(&self) -> Option<Oid> {
        self.variadic
    }

    fn defaults(&self) -> usize {
        let last = self.function.parameters.iter().rev();
        last.take_while(|parameter| parameter.default.is_some()).count()
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.function.parameters.iter().position(|parameter| parameter.name == name)
    }
}

/// The procedure that a CALL means.
pub(super) struct Resolved {
    pub(super) function: Arc<Function>,
    /// For each parameter the place of its argument; `None` where the default applies.
    places: Vec<Option<usize>>,
    /// The number of arguments that are variadic ones, at the end.
    variadic: usize,
    /// The type of a variadic argument.
    item: Option<Oid>,
}

/// Finds the procedure that a CALL means.
pub(super) async fn resolve(
    frame: &Frame<'_>,
    tables: &dyn scan::tables::Tables,
    call: &Call,
) -> Result<Resolved> {
    let catalog: &Catalog = tables.catalog();
    let (path, name) = (frame.path(), &call.name);
    let schemas: Vec<&str> = match &name.schema {
        Some(schema) => vec![path.resolve(schema)],
        None => path.schemas().collect(),
    };
    let mut types = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        types.push(match argument.is_unknown {
            true => Oid::UNKNOWN,
            false => type_of(frame, tables, &argument.text).await?,
        });
    }
    let oid = |of: &store::catalog::Parameter| Oid(of.type_id);
    let all = |of: &Arc<Function>| -> Vec<Oid> { of.parameters.iter().map(oid).collect() };
    let named = schemas.iter().flat_map(|schema| catalog.functions_named(schema, &name.name));
    let resolved = |of: &Arc<Function>| routines::resolved(catalog, of).into_owned();
    let named: Vec<_> = named.map(|of| (resolved(of), all(&resolved(of)))).collect();
    let names: Vec<&str> = call.arguments.iter().filter_map(|of| of.name.as_deref()).collect();
    let arguments =
        Arguments { types: &types, names: &names, is_variadic_array: call.is_variadic_array };
    let candidates = named.iter().map(|(function, types)| {
        let last = function.parameters.last().filter(|of| of.mode == ParameterMode::Variadic);
        let item = last.and_then(|of| routines::variadic_item(catalog, of.type_id)).map(Oid);
        Candidate { function, types, variadic: item }
    });
    let chosen = among(candidates, &arguments).map_err(|failure| {
        let shown: Vec<String> = types.iter().map(ToString::to_string).collect();
        let shown = format!("{name}({})", shown.join(", "));
        no_procedure(&shown, failure)
    });
    let at_name = |error: Error| match usize::try_from(call.location) {
        Ok(byte) => {
            let before = frame.text.get(..byte).map_or(0, |text| text.chars().count());
            error.at(before + 1)
        }
        Err(_) => error,
    };
    let chosen = chosen.map_err(at_name)?;
    let function = Arc::clone(chosen.function.function);
    if !function.is_procedure {
        let message = format!("{} is not a procedure", routines::signature(&function));
        let error = Error::new(SqlState::WrongObjectType, message);
        return Err(at_name(error.with_hint("To call a function, use SELECT.")));
    }
    let held = frame.access(catalog).privileges(&Object::Relation(function.id));
    if !held.contains(Privileges::EXECUTE) {
        let message = format!("permission denied for procedure {}", function.name);
        return Err(Error::new(SqlState::InsufficientPrivilege, message));
    }
    if let Some(of) = function.parameters.iter().find(|of| Oid(of.type_id).is_polymorphic()) {
        let message = format!("CALL with a parameter of type {}", type_name(of.type_id));
        return Err(Error::unsupported(format!("{message} is not supported")));
    }
    Ok(Resolved {
        places: chosen.places.clone(),
        variadic: chosen.variadic,
        item: chosen.function.variadic,
        function,
    })
}

/// Why no procedure is meant.
fn no_procedure(shown: &str, failure: NoFunction) -> Error {
    match failure {
        NoFunction::Unknown => {
            let message = format!("procedure {shown} does not exist");
            Error::new(SqlState::UndefinedFunction, message).with_hint(
                "No procedure matches the given name and argument types. You might need to add \
                 explicit type casts.",
            )
        }
        NoFunction::Ambiguous => {
            let message = format!("procedure {shown} is not unique");
            Error::new(SqlState::chosen("42725"), message).with_hint(
                "Could not choose a best candidate procedure. You might need to add explicit type \
                 casts.",
            )
        }
    }
}

impl Resolved {
    /// The types of the arguments, the variadic ones expanded.
    fn types(&self) -> impl Iterator<Item = u32> {
        let fixed = self.places.len().saturating_sub(self.variadic);
        let parameters = self.function.parameters.iter().take(fixed).map(|of| of.type_id);
        parameters.chain(self.item.map(|item| item.0).into_iter().cycle().take(self.variadic))
    }

    /// The output parameters with their values.
    pub(super) fn outputs(&self, values: Vec<Value>) -> Vec<Output> {
        let output = |((at, parameter), value): ((usize, &store::catalog::Parameter), Value)| {
            let place = self.places.get(at).copied().flatten().unwrap_or(usize::MAX);
            (place, parameter.name.clone(), value)
        };
        outputs(&self.function).zip(values).map(output).collect()
    }

    /// The query of the arguments of a CALL, as values of the parameters' types, in their order; `None` without any.
    pub(super) fn query_of_arguments(
        &self,
        frame: &Frame<'_>,
        call: &Call,
    ) -> Result<Option<Statement>> {
        let texts = self.arguments_of(call);
        match texts.is_empty() {
            true => Ok(None),
            false => query_of(frame, &texts.join(", ")).map(Some),
        }
    }

    /// The arguments of a CALL as queries of their own.
    pub(super) fn arguments(&self, frame: &Frame<'_>, call: &Call) -> Result<Vec<Statement>> {
        self.arguments_of(call).iter().map(|text| query_of(frame, text)).collect()
    }

    fn arguments_of(&self, call: &Call) -> Vec<String> {
        let argument = |place: &Option<usize>| place.and_then(|place| call.arguments.get(place));
        let cast = |text: &str, of: u32| format!("CAST(({text}) AS {})", type_name(of));
        let items = self.places.iter().skip(self.places.len().saturating_sub(self.variadic));
        let texts = self.function.parameters.iter().enumerate().map(|(at, parameter)| {
            let text = match (self.places.get(at).and_then(argument), &parameter.default) {
                _ if parameter.mode == ParameterMode::Out => "NULL",
                _ if parameter.mode == ParameterMode::Variadic && self.variadic > 0 => {
                    let of = self.item.map_or(parameter.type_id, |item| item.0);
                    let items = items.clone().filter_map(argument);
                    let items: Vec<_> = items.map(|item| cast(&item.text, of)).collect();
                    &format!("ARRAY[{}]", items.join(", "))
                }
                (Some(argument), _) => &argument.text,
                (None, Some(default)) => default,
                (None, None) => "NULL",
            };
            cast(text, parameter.type_id)
        });
        texts.collect()
    }
}

/// The query of some expressions, with the types of the statement's parameters.
fn query_of(frame: &Frame<'_>, expressions: &str) -> Result<Statement> {
    let query = parser::one(&format!("SELECT {expressions}")).map_err(Error::without_position)?;
    Ok(query.with_parameter_types(frame.parameter_types()))
}

/// The type of an argument.
async fn type_of(frame: &Frame<'_>, tables: &dyn scan::tables::Tables, text: &str) -> Result<Oid> {
    let statement = query_of(frame, text)?;
    let inner = frame.session.frame_of(frame.parameters, &statement).with_names(frame.names);
    let planner = inner.planner(tables);
    let query = analysis::query_of(&statement)?;
    let oid = analysis::type_of_query(&planner, query, &statement.text).await;
    oid.map_err(Error::without_position)
}

impl InSession<'_> {
    /// CALL within a function: its outputs are named by the places of their arguments and the parameters.
    pub(super) fn call_procedure<'b>(
        &'b mut self,
        statement: &'b Statement,
        call: &'b Call,
        given: (&'b [NamedParameter], &'b [ScalarValue]),
    ) -> BoxFuture<'b, Result<Done>> {
        let called = async move {
            let called = self.procedure(statement, call, given).await?;
            let named = |(place, name, _): &Output| format!("{place} {name}");
            let Some((fields, batch)) = row(called, named)? else {
                return Ok(Done { fields: None, schema: None, batches: Vec::new(), count: 0 });
            };
            let schema = Some(batch.schema());
            Ok(Done { fields: Some(fields), schema, batches: vec![batch], count: 0 })
        };
        Deep::boxed(called.boxed())
    }

    /// Calls a procedure, and returns the values of its output parameters.
    async fn procedure(
        &mut self,
        statement: &Statement,
        call: &Call,
        (names, values): (&[NamedParameter], &[ScalarValue]),
    ) -> Result<Vec<Output>> {
        if self.depth >= DEPTH_MAX {
            return Err(Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded"));
        }
        let frame = self.inner.frame_of(values, statement).with_names(names);
        let reading = self.inner.reading(self.conversation).await?;
        self.inner.context.see(&reading, &frame);
        let prepared = self.inner.prepare_call(&frame, &reading, call).await?;
        let PreparedCall { resolved, query, .. } = &*prepared;
        let kept = self.inner.function(reading.catalog(), resolved.function.id)?;
        let arguments = match (prepared.computed(&frame)?, query) {
            (Some(computed), _) => computed,
            (None, None) => Vec::new(),
            (None, Some(query)) => {
                let done = self.query(query, names, values, None).await;
                let batches = done.map_err(Error::without_position)?.batches;
                let row = batches.iter().find(|batch| batch.num_rows() == 1);
                values_of(&resolved.function, row)?
            }
        };
        Ok(resolved.outputs(self.execute(&kept, arguments).await?))
    }

    /// Executes a procedure with arguments, and returns the values of its output parameters.
    pub(super) async fn execute(
        &mut self,
        kept: &KeptFunction,
        arguments: Vec<Value>,
    ) -> Result<Vec<Value>> {
        let function = Arc::clone(&kept.prepared.function);
        let (inner, control) = (self.inner, self.control);
        let catalog = self.catalog();
        let _identity = identity(inner, inner.borrowed.statement(), &catalog, &function)?;
        let place = (self.depth + 1, self.ends && !procedural::changes_settings(&function));
        let inside = InSession::new(inner, &mut *self.conversation, control, place);
        let mut parameters: Vec<Given<Value>> = Vec::new();
        let mut host = StatementHost::resume(inside, kept.memory());
        let mut arguments = arguments.into_iter();
        for parameter in &function.parameters {
            let of = type_name(parameter.type_id);
            let mut value = null(&mut host, parameter.type_id)?;
            if let Some(argument) = arguments.next() {
                value.scalar = argument.scalar;
            }
            parameters.push((parameter.name.clone(), of, value));
        }
        let returned = match function.language.as_str() {
            "sql" => of_sql(&function, parameters, host).await?,
            _ => {
                let Some(tree) = kept.prepared.block() else { return Ok(Vec::new()) };
                let places: Vec<usize> = outputs(&function).map(|(at, _)| at).collect();
                let signature = procedural::signature(&function);
                let of = Called { name: &function.name, signature: &signature };
                let ended = plpgsql::run(tree, of, parameters, &places, &mut host).await;
                kept.keep(host.into_memory());
                ended?.parameters
            }
        };
        Ok(outputs(&function).filter_map(|(at, _)| returned.get(at).cloned()).collect())
    }
}

/// Runs a procedure in SQL: its statements, the last of which gives the values of output parameters.
async fn of_sql(
    function: &Function,
    parameters: Vec<Given<Value>>,
    mut host: StatementHost<InSession<'_>>,
) -> Result<Vec<Value>> {
    let mut returned: Vec<Value> = parameters.iter().map(|given| given.2.clone()).collect();
    let inputs = function.parameters.iter().zip(parameters);
    let inputs = inputs.filter(|(parameter, _)| parameter.mode.is_input());
    let (names, values): (Vec<NamedParameter>, Vec<ScalarValue>) = inputs
        .map(|(_, (name, _, value))| {
            (
                NamedParameter {
                    qualifier: None,
                    name,
                    sql_type: value.of,
                    conflict: Conflict::Column,
                },
                value.scalar,
            )
        })
        .unzip();
    let statements = parser::parse(&function.body).map_err(Error::without_position)?;
    let mut last = None;
    for statement in &statements {
        let statements = host.statements_mut();
        let done = statements.run(statement, &names, &values, None).await;
        last = Some(done.map_err(Error::without_position)?);
    }
    let places: Vec<usize> = outputs(function).map(|(at, _)| at).collect();
    if places.is_empty() {
        return Ok(returned);
    }
    let wrong = || {
        let message = "return type mismatch in procedure: its last statement must give the values \
                       of its output parameters";
        Error::new(SqlState::chosen("42P13"), message)
    };
    let Some(Done { fields: Some(fields), batches, .. }) = last else { return Err(wrong()) };
    if fields.len() != places.len() {
        return Err(wrong());
    }
    let row = batches.iter().find(|batch| batch.num_rows() > 0);
    for ((at, field), column) in places.into_iter().zip(&fields).zip(0..) {
        let of = type_name(function.parameters[at].type_id);
        returned[at] = match row {
            Some(row) => {
                let value = Value::at(row.column(column), 0, &field.sql_type)?;
                host.convert(value, &of).await?
            }
            None => null(&mut host, function.parameters[at].type_id)?,
        };
    }
    Ok(returned)
}
