//! Calls of procedures, looked at once: which procedure each means, and programs of its arguments.

use super::resolved::{Resolved, held, resolve};
use crate::analysis;
use crate::context::call_site::CallSite;
use crate::context::{Frame, Inner};
use datafusion::arrow::array::RecordBatch;
use parser::Statement;
use parser::commands::Call;
use plan_cache::Basis;
use planner::{Conflict, NamedParameter};
use procedural::{Compiled, Value, calls_any, is_of_settings, reads_tables};
use std::sync::Arc;
use store::Reading;
use store::catalog::Function;
use values::error::Result;
use values::types::of_arrow;

/// A call of a procedure.
pub(super) struct PreparedCall {
    pub(super) resolved: Resolved,
    /// The query of the arguments; `None` without any.
    pub(super) query: Option<Statement>,
    /// Programs of the arguments, if all have one.
    programs: Option<Vec<Compiled>>,
}

impl PreparedCall {
    /// The arguments as programs compute them. `None` if their query has to be executed.
    ///
    /// # Errors
    /// Those of the arguments.
    pub(super) fn computed(&self, frame: &Frame<'_>) -> Result<Option<Vec<Value>>> {
        let Some(programs) = &self.programs else { return Ok(None) };
        let values = programs.iter().map(|program| program.value(frame.names, frame.parameters));
        values.collect()
    }
}

impl Inner {
    /// A call, as it was prepared before if it has parameters.
    ///
    /// # Errors
    /// It means no procedure that may be called.
    pub(super) async fn prepare_call(
        &self,
        frame: &Frame<'_>,
        reading: &Reading,
        call: &Call,
    ) -> Result<Arc<PreparedCall>> {
        let parameters = parameters_of(frame);
        if parameters.is_empty() || self.borrowed.is_lent() {
            let resolved = resolve(frame, reading, call).await?;
            let query = resolved.query_of_arguments(frame, call)?;
            return Ok(Arc::new(PreparedCall { resolved, query, programs: None }));
        }
        let basis = Basis::new(reading.catalog(), &frame.settings);
        let known = self.calls.find(&basis, frame.text, &parameters).flatten();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let resolved = resolve(frame, reading, call).await?;
        let query = resolved.query_of_arguments(frame, call)?;
        let mut programs = Some(Vec::new());
        for argument in resolved.arguments(frame, call)? {
            let program = self.program(frame, reading, &argument).await;
            programs = programs.zip(program).map(|(mut programs, program)| {
                programs.push(program);
                programs
            });
        }
        let prepared = Arc::new(PreparedCall { resolved, query, programs });
        self.calls.keep(&basis, frame.text, &parameters, Some(Arc::clone(&prepared) as _));
        Ok(prepared)
    }

    /// The program of an expression whose value depends on nothing but parameters.
    async fn program(
        &self,
        frame: &Frame<'_>,
        reading: &Reading,
        expression: &Statement,
    ) -> Option<Compiled> {
        let query = analysis::query_of(expression).ok()?;
        if reads_tables(reading.catalog(), expression) || calls_any(query, is_of_settings) {
            return None;
        }
        let site = CallSite::alone(0);
        let frame = self.frame_of(frame.parameters, expression).with_names(frame.names);
        let frame = frame.at(site.clone());
        let mut planner = frame.planner(reading);
        planner.parameters = &[];
        let planned = analysis::plan_without_values(&frame, &planner, query).await;
        let (plan, fields) = planned.ok().filter(|_| !site.needs_driver())?;
        Compiled::of(&planner, &plan, &fields).filter(Compiled::is_lasting)
    }
}

/// The parameters of a call with their types.
fn parameters_of(frame: &Frame<'_>) -> Vec<NamedParameter> {
    let declared = frame.parameter_types();
    let behind = frame.parameters.iter().enumerate().skip(frame.names.len());
    let numbered = behind.map(|(at, value)| {
        let sql_type = match declared.get(at) {
            Some(Some(declared)) => declared.clone(),
            _ => of_arrow(&value.data_type()),
        };
        let (name, conflict) = (format!("${}", at + 1), Conflict::default());
        NamedParameter { qualifier: None, name, sql_type, conflict }
    });
    frame.names.iter().cloned().chain(numbered).collect()
}

/// The arguments of a procedure in a row.
///
/// # Errors
/// A parameter has a type that variables cannot have.
pub(super) fn values_of(function: &Function, row: Option<&RecordBatch>) -> Result<Vec<Value>> {
    let Some(row) = row else { return Ok(Vec::new()) };
    let columns = function.parameters.iter().zip(row.columns());
    columns.map(|(parameter, column)| Value::at(column, 0, &held(parameter.type_id)?)).collect()
}
