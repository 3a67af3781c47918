//! `pg_advisory_lock` and the like: they wait without blocking a thread. Cancelling the statement ends it.

use crate::session_context::SessionContext;
use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use store::locks::{Mode, Space};
use values::Error;
use values::translate::external;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    use Action::{Release, ReleaseAll, Take};
    let take = |for_session, tries| Take { for_session, tries };
    let each = [
        ("pg_advisory_lock", take(true, false), Mode::Exclusive),
        ("pg_advisory_lock_shared", take(true, false), Mode::Share),
        ("pg_try_advisory_lock", take(true, true), Mode::Exclusive),
        ("pg_try_advisory_lock_shared", take(true, true), Mode::Share),
        ("pg_advisory_xact_lock", take(false, false), Mode::Exclusive),
        ("pg_advisory_xact_lock_shared", take(false, false), Mode::Share),
        ("pg_try_advisory_xact_lock", take(false, true), Mode::Exclusive),
        ("pg_try_advisory_xact_lock_shared", take(false, true), Mode::Share),
        ("pg_advisory_unlock", Release, Mode::Exclusive),
        ("pg_advisory_unlock_shared", Release, Mode::Share),
        ("pg_advisory_unlock_all", ReleaseAll, Mode::Exclusive),
    ];
    let function = |(name, action, mode)| {
        let session = Arc::clone(session);
        let signature = Signature::variadic_any(Volatility::Volatile);
        let signature = match action {
            ReleaseAll => Signature::nullary(Volatility::Volatile),
            _ => signature,
        };
        let locks = Locks { name, action, mode, session, signature };
        AsyncScalarUDF::new(Arc::new(locks)).into_scalar_udf()
    };
    each.into_iter().map(function).collect()
}

/// The function with a name, for one call.
pub(super) fn of_call(name: &str, session: &Arc<dyn SessionContext>) -> Option<Arc<ScalarUDF>> {
    all(session).into_iter().find(|function| function.name() == name).map(Arc::new)
}

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Take {
        for_session: bool,
        /// Whether it returns false instead of waiting.
        tries: bool,
    },
    Release,
    ReleaseAll,
}

#[derive(Debug)]
struct Locks {
    name: &'static str,
    action: Action,
    mode: Mode,
    session: Arc<dyn SessionContext>,
    signature: Signature,
}

/// Each call has a function of its own: the engine executes equal asynchronous calls of a plan once.
impl PartialEq for Locks {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Locks {}

impl Hash for Locks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Locks {
    /// Whether it returns `void`, which is empty text for clients.
    fn is_void(&self) -> bool {
        matches!(self.action, Action::Take { tries: false, .. } | Action::ReleaseAll)
    }
}

impl ScalarUDFImpl for Locks {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.is_void() { DataType::Utf8View } else { DataType::Boolean })
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("{} must be called asynchronously", self.name)
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for Locks {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut numbers = Vec::with_capacity(args.args.len());
        for argument in &args.args {
            numbers.push(cast(&argument.to_array(args.number_rows)?, &DataType::Int64)?);
        }
        let mut done = Vec::with_capacity(args.number_rows);
        for row in 0..args.number_rows {
            done.push(self.of_row(&numbers, row).await.map_err(external)?);
        }
        let array: ArrayRef = if self.is_void() {
            let void = |done: Option<bool>| done.map(|_| "");
            Arc::new(done.into_iter().map(void).collect::<StringViewArray>())
        } else {
            Arc::new(done.into_iter().collect::<BooleanArray>())
        };
        Ok(ColumnarValue::Array(array))
    }
}

impl Locks {
    /// The result for one row; NULL if an argument is NULL.
    async fn of_row(&self, numbers: &[ArrayRef], row: usize) -> values::Result<Option<bool>> {
        let locks = self.session.advisory();
        let number = |column: &ArrayRef| {
            (!column.is_null(row)).then(|| column.as_primitive::<Int64Type>().value(row))
        };
        let Some(numbers) = numbers.iter().map(number).collect::<Option<Vec<i64>>>() else {
            return Ok(None);
        };
        let number = match numbers[..] {
            [number] => (Space::One, number),
            [high, low] => (Space::Two, (high << 32) | (low & 0xffff_ffff)),
            _ => {
                locks.release_all().await;
                return Ok(Some(true));
            }
        };
        match self.action {
            Action::Take { for_session, tries } => {
                let patience = (!tries).then(|| self.session.settings().lock_timeout);
                locks.take(number, self.mode, for_session, patience).await.map(Some)
            }
            Action::Release | Action::ReleaseAll => {
                let had = locks.release(number, self.mode).await;
                if !had {
                    let kind = if self.mode == Mode::Share { "ShareLock" } else { "ExclusiveLock" };
                    let message = format!("you don't own a lock of type {kind}");
                    self.session.say("WARNING", Error::new(values::SqlState::Warning, message));
                }
                Ok(Some(had))
            }
        }
    }
}
