//! Why a statement is not planned.

use lowering::Refusal;
use parser::errors;
use values::error::Error;

/// Why a statement is not planned.
#[derive(Debug)]
pub enum Refused {
    /// A part of it is not known here.
    Missing(Error),
    /// It is wrong.
    Wrong(Error),
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        let (Refused::Missing(error) | Refused::Wrong(error)) = refused;
        error
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Missing(what) => {
                Self::Missing(Error::unsupported(format!("{what} is not supported")))
            }
            Refusal::Error(error) => Self::Wrong(error),
        }
    }
}

/// The error of the analyzer, for a statement with a text.
pub fn refused(error: analyzer::Error, text: &str) -> Refused {
    let is_missing = error.is_missing;
    let error = errors::of_analyzer(error, text);
    if is_missing { Refused::Missing(error) } else { Refused::Wrong(error) }
}
