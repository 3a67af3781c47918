//! CALL of procedures.

use super::prepared_call::{PreparedCall, values_of};
use super::resolved::{Output, held, outputs, resolve};
use super::statements::InSession;
use crate::calls::identity;
use crate::context::call_site::{CALL_DEPTH, DEPTH_MAX};
use crate::context::kept_functions::KeptFunction;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::transactions::Conversation;
use crate::context::{Frame, Inner};
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
use plpgsql::{Given, Host};
use procedural::{Done, StatementHost, Statements, Value, deep, null, shown, type_name};
use std::sync::Arc;
use store::catalog::Function;
use values::error::{Error, Result, SqlState};
use values::field::Field;

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
        deep(called.boxed())
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
                let done = self.query(reading, query, (names, values), None).await;
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
        let place =
            (self.depth + 1 + CALL_DEPTH, self.ends && !procedural::changes_settings(&function));
        let inside = InSession::new(inner, &mut *self.conversation, control, place);
        let mut parameters: Vec<Given<Value>> = Vec::new();
        let mut host = kept.prepared.resume(inside, kept.memory());
        let mut arguments = arguments.into_iter();
        for parameter in &function.parameters {
            let of = type_name(parameter.type_id);
            let mut value = null(&mut host, parameter.type_id)?;
            if let Some(argument) = arguments.next() {
                value.scalar = argument.scalar;
            }
            parameters.push((parameter.name.as_str().into(), of.into(), value));
        }
        let returned = match function.language.as_str() {
            "sql" => of_sql(&function, parameters, host).await?,
            _ => {
                let Some(tree) = kept.prepared.block() else { return Ok(Vec::new()) };
                let places: Vec<usize> = outputs(&function).map(|(at, _)| at).collect();
                let signature = procedural::signature(&function);
                let of = procedural::called(&function, &signature);
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
                    name: name.to_string(),
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
