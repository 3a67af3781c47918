//! The arguments of a cursor that is declared with its query.

use crate::tree::{Argument, BoundCursor, Sql};
use values::error::{Error, Result, SqlState};

impl BoundCursor {
    /// The values that arguments give the parameters, in the order of these. `cursor` is the name of the variable.
    ///
    /// # Errors
    /// 42601 where they do not fit.
    pub(crate) fn given<'a>(
        &self,
        cursor: &str,
        arguments: &'a [Argument],
    ) -> Result<Vec<&'a Sql>> {
        let wrong = |message: String| Error::new(SqlState::SyntaxError, message);
        let parameters = &self.parameters;
        if parameters.is_empty() && !arguments.is_empty() {
            return Err(wrong(format!("cursor \"{cursor}\" has no arguments")));
        }
        if arguments.is_empty() && !parameters.is_empty() {
            return Err(wrong(format!("cursor \"{cursor}\" has arguments")));
        }
        let mut places: Vec<Option<&Sql>> = vec![None; parameters.len()];
        for (at, argument) in arguments.iter().enumerate() {
            let at = match &argument.name {
                None => at,
                Some(name) => {
                    let found = parameters.iter().position(|(known, _)| known == name);
                    found.ok_or_else(|| {
                        wrong(format!("cursor \"{cursor}\" has no argument named \"{name}\""))
                    })?
                }
            };
            let too_many = || wrong(format!("too many arguments for cursor \"{cursor}\""));
            let place = places.get_mut(at).ok_or_else(too_many)?;
            if place.is_some() {
                let name = &parameters[at].0;
                let message = "specified more than once";
                return Err(wrong(format!(
                    "value for parameter \"{name}\" of cursor \"{cursor}\" {message}"
                )));
            }
            *place = Some(&argument.value);
        }
        let missing = || wrong(format!("not enough arguments for cursor \"{cursor}\""));
        places.into_iter().map(|place| place.ok_or_else(missing)).collect()
    }
}
