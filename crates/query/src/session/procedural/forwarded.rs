//! CALL of a procedure that the owner of its rows executes.

use super::procedures::{Output, Resolved, held, outputs, resolve};
use crate::analysis;
use crate::context::{Frame, Inner};
use crate::forwarding;
use datafusion::arrow::array::RecordBatch;
use executor::Control;
use parser::commands::Call;
use procedural::Value;
use store::Reading;
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
        let resolved = resolve(frame, &reading, call).await?;
        let kept = self.function(reading.catalog(), resolved.function.id)?;
        let Some(home) = kept.home(reading.catalog(), frame.path()) else { return Ok(None) };
        // What is wrong with the arguments is for the usual way to say.
        let Ok(Some(arguments)) = self.constants(frame, &reading, &resolved, call).await else {
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
        resolved: &Resolved,
        call: &Call,
    ) -> Result<Option<RecordBatch>> {
        let Some(query) = resolved.query_of_arguments(call)? else { return Ok(None) };
        let frame = self.frame_of(frame.parameters, &query).with_names(frame.names);
        let planner = frame.planner(reading);
        let (plan, _) = analysis::plan(&frame, &planner, analysis::query_of(&query)?).await?;
        planner.only_row(&plan)
    }
}
