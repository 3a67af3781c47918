//! The values of a statement's parameters in the detail of errors of INTO STRICT: `#print_strict_params`.

use super::Machine;
use super::host::Host;
use crate::tree::Rows;
use values::error::Error;

impl<H: Host> Machine<'_, H> {
    /// An error with the parameters of a statement, if the function wants them. `given` are the values of USING.
    pub(super) async fn with_parameters(
        &mut self,
        error: Error,
        rows: &Rows,
        given: Vec<H::Value>,
    ) -> Error {
        if !self.prints_strict {
            return error;
        }
        let all = match rows {
            Rows::Query(sql) => self.scopes.named_values(sql),
            Rows::Dynamic(..) => {
                let number = |(at, value): (usize, H::Value)| (format!("${}", at + 1), value);
                given.into_iter().enumerate().map(number).collect()
            }
        };
        if all.is_empty() {
            return error;
        }
        let mut shown = Vec::with_capacity(all.len());
        for (name, value) in all {
            let Ok(text) = self.text_of_value(value).await else { return error };
            shown.push(match text {
                Some(text) => format!("{name} = '{}'", text.replace('\'', "''")),
                None => format!("{name} = NULL"),
            });
        }
        error.with_detail(format!("parameters: {}", shown.join(", ")))
    }
}
