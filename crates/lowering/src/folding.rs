//! Calls with constant arguments, which PostgreSQL computes when it plans a statement: their errors are the statement's, also
//! where no row reaches them.

use crate::refusal::{Refusal, Result};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::Oid;
use analyzer::system::functions::{self, Volatility};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use values::error::SqlState;

impl Lowering<'_> {
    /// Whether a call of a function is computed now.
    pub(crate) fn is_folded(&self, function: Oid, arguments: &[Typed]) -> bool {
        let Some(function) = functions::of(function).filter(|_| self.around.folds) else {
            return false;
        };
        let is_known = |argument: &Typed| {
            argument.value().is_some_and(|value| !(function.strict && value.is_null()))
        };
        function.volatility == Volatility::Immutable && arguments.iter().all(is_known)
    }

    /// Whether a call is NULL whatever its other arguments are, which are then not computed.
    pub(crate) fn is_null_call(&self, function: Oid, arguments: &[Typed]) -> bool {
        let is_strict = functions::of(function).is_some_and(|function| function.strict);
        self.around.folds && is_strict && arguments.iter().any(Typed::is_null)
    }

    /// The value of a call, if it can be computed now. The first error is kept until all is lowered.
    pub(crate) fn folded(&mut self, call: Typed) -> Typed {
        if call.value().is_some() {
            return call;
        }
        match ::functions::folding(|| self.constant(&call)) {
            Ok(Some(value)) if value.data_type() == call.data_type => {
                Typed::constant(value, call.sql_type)
            }
            Err(Refusal::Error(error)) if is_of_values(error.state()) => {
                self.constant_error.get_or_insert(error);
                call
            }
            _ => call,
        }
    }

    /// Lowers what is not computed if `is_skipped`: its constants may have no value.
    pub(crate) fn skipping<T>(
        &mut self,
        is_skipped: bool,
        lower: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = if is_skipped { Some(self.constant_error.clone()) } else { None };
        let lowered = lower(self);
        if let Some(before) = before {
            self.constant_error = before;
        }
        lowered
    }

    /// Refuses a statement with a constant that has no value.
    pub(crate) fn refuse_constants(&mut self) -> Result<()> {
        match self.constant_error.take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

/// Whether an error is one of values, or of values that a function does not take. 22000 is that of the engine's own refusals,
/// 22025 comes when a pattern is matched.
fn is_of_values(state: SqlState) -> bool {
    let is_value = state.code().starts_with("22")
        && ![SqlState::DataException, SqlState::InvalidEscapeSequence].contains(&state);
    is_value || [SqlState::FeatureNotSupported, SqlState::ProgramLimitExceeded].contains(&state)
}

/// The truth value of a constant condition; NULL counts as false.
pub(crate) fn truth(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::Literal(ScalarValue::Boolean(value), _) => Some(value.unwrap_or(false)),
        _ => None,
    }
}
