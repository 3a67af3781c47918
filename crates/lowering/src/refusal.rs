//! Why a tree has no plan.

use datafusion::common::DataFusionError;
use values::error::Error;

/// The reason for which a tree has no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no plan for this part of the tree yet.
    #[error("{0} is not supported")]
    Missing(String),
    /// The statement is wrong.
    #[error(transparent)]
    Error(Error),
}

/// The result of lowering.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<DataFusionError> for Refusal {
    fn from(error: DataFusionError) -> Self {
        Self::Error(error.into())
    }
}

/// The refusal of a part of the tree for which there is no plan.
pub(crate) fn missing<T>(what: impl Into<String>) -> Result<T> {
    Err(Refusal::Missing(what.into()))
}

/// The refusal of what the engine's own planner would answer otherwise than PostgreSQL.
pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T> {
    Err(Refusal::Error(Error::unsupported(format!("{} is not supported", what.into()))))
}
