//! CALL of a procedure that the owner of its rows executes.

use super::prepared_call::PreparedCall;
use super::resolved::{Output, held, outputs};
use crate::analysis;
use crate::context::{Frame, Inner};
use crate::forwarding;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Field, Schema};
use executor::Control;
use parser::commands::Call;
use procedural::Value;
use std::sync::Arc;
use store::Reading;
use store::catalog::Parameter;
use values::error::Result;

impl Inner {
    /// Has a procedure executed by the owner of its rows, if all of them have one. No transaction is open. `None` if this
    /// server is to execute it.
    pub(super) async fn forwarded(
        &self,
        frame: &Frame<'_>,
        call: &Call,
        control: &Control,
    ) -> Result<Option<Vec<Output>>> {
        if self.shared.store.peers().is_none() {
            return Ok(None);
        }
        let reading = self.shared.store.reading_here()?;
        self.context.see(&reading, frame);
        let prepared = self.prepare_call(frame, &reading, call).await?;
        let resolved = &prepared.resolved;
        let kept = self.function(reading.catalog(), resolved.function.id)?;
        let Some(home) = kept.home(reading.catalog(), frame.path()) else { return Ok(None) };
        // What is wrong with the arguments is for the usual way to say.
        let Ok(Some(arguments)) = self.constants(frame, &reading, &prepared).await else {
            return Ok(None);
        };
        let place = (&*kept, home);
        let sent = forwarding::call(self, reading.catalog(), place, &arguments, control).await?;
        let Some(ended) = sent else { return Ok(None) };
        let mut values = Vec::new();
        if let Some(row) = ended? {
            for ((_, parameter), column) in outputs(&resolved.function).zip(row.columns()) {
                values.push(Value::at(column, 0, &held(parameter.type_id)?)?);
            }
        }
        Ok(Some(resolved.outputs(values)))
    }

    /// The arguments of a call; `None` if they are no constants.
    async fn constants(
        &self,
        frame: &Frame<'_>,
        reading: &Reading,
        prepared: &PreparedCall,
    ) -> Result<Option<RecordBatch>> {
        if let Some(values) = prepared.computed(frame)? {
            let parameters = prepared.resolved.function.parameters.iter();
            return row_of(parameters.zip(&values));
        }
        let Some(query) = &prepared.query else { return Ok(None) };
        let frame = self.frame_of(frame.parameters, query).with_names(frame.names);
        let planner = frame.planner(reading);
        let (plan, _) = analysis::plan(&frame, &planner, analysis::query_of(query)?).await?;
        planner.only_row(&plan)
    }
}

/// The values of parameters as a row; `None` without any.
pub(super) fn row_of<'a>(
    values: impl Iterator<Item = (&'a Parameter, &'a Value)>,
) -> Result<Option<RecordBatch>> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (parameter, value) in values {
        let column = value.scalar.to_array_of_size(1)?;
        fields.push(Field::new(&parameter.name, column.data_type().clone(), true));
        columns.push(column);
    }
    if columns.is_empty() {
        return Ok(None);
    }
    Ok(Some(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?))
}
