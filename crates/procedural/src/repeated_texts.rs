//! Texts of EXECUTE that are executed as others of their shape ([`crate::shapes`]).

use crate::host::{StatementHost, inside};
use crate::shapes::{Known, scanned};
use crate::statements::Statements;
use crate::value::Value;
use plpgsql::Answer;
use values::error::Result;

impl<S: Statements> StatementHost<S> {
    /// The answer of a text that is executed as others of its shape. `None` of other texts.
    pub(crate) async fn answer_of_shape(
        &mut self,
        text: &str,
        limit: Option<usize>,
    ) -> Result<Option<Answer<Value>>> {
        let Some((shape, values)) = scanned(text) else { return Ok(None) };
        let names = shape.names(self.conflict);
        let statement = match self.shapes.get(&shape) {
            Some(Known::Same(statement)) => statement.clone(),
            Some(Known::Other) => return Ok(None),
            None => {
                self.shapes.put(shape, Known::Once);
                return Ok(None);
            }
            Some(Known::Once) => {
                let parsed = parser::one(&shape.text).ok();
                let is_same = match &parsed {
                    Some(parsed) => {
                        shape.is_change_by_numbers(parsed)
                            || Box::pin(self.statements.is_short(parsed, &names, &values)).await
                    }
                    None => false,
                };
                let Some(statement) = parsed.filter(|_| is_same) else {
                    self.shapes.put(shape, Known::Other);
                    return Ok(None);
                };
                self.shapes.put(shape, Known::Same(statement.clone()));
                statement
            }
        };
        let done = self.run(&statement, &names, &values, limit).await;
        done.map(|(_, answer)| Some(answer)).map_err(inside)
    }
}
