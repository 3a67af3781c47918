//! The exchanges that this server deals out at present, for itself and for others.

use super::queues::Queues;
use crate::values::error::{Error, SqlState};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryPool;
use futures::Stream;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use store::ExchangeId;

/// Exchanges by name. Each is here for as long as somebody holds it open.
#[derive(Debug, Default)]
pub(crate) struct Exchanges(Mutex<HashMap<ExchangeId, Arc<Queues>>>);

impl Exchanges {
    /// Those of the engine that runs a plan.
    pub(super) fn of(context: &TaskContext) -> Result<Arc<Self>> {
        match context.session_config().get_extension::<Self>() {
            Some(exchanges) => Ok(exchanges),
            None => internal_err!("the engine has no place for exchanges"),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Begins an exchange of so many parts. It ends when what comes back is dropped.
    pub(super) fn open(
        self: Arc<Self>,
        id: ExchangeId,
        parts: usize,
        pool: &Arc<dyn MemoryPool>,
    ) -> Result<Open> {
        let queues = Arc::new(Queues::new(parts, pool));
        let before = self.0.lock().insert(id, Arc::clone(&queues));
        match before {
            None => Ok(Open { exchanges: self, id, queues }),
            Some(_) => internal_err!("an exchange has begun twice"),
        }
    }

    /// The rows of a part.
    ///
    /// # Errors
    /// 08006 where the exchange is over, or the part was taken before.
    pub(crate) fn take(
        &self,
        id: ExchangeId,
        part: u32,
    ) -> Result<impl Stream<Item = Result<RecordBatch>> + Send + use<>, Error> {
        let queues = self.0.lock().get(&id).cloned();
        let taken = queues.and_then(|queues| queues.take(part as usize));
        taken.ok_or_else(over)
    }
}

fn over() -> Error {
    let message = "an exchange is over: its coordinator has ended it, or is lost";
    Error::new(SqlState::ConnectionFailure, message)
}

/// An exchange that this server deals out.
#[derive(Debug)]
pub(super) struct Open {
    exchanges: Arc<Exchanges>,
    id: ExchangeId,
    pub(super) queues: Arc<Queues>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.exchanges.0.lock().remove(&self.id);
        self.queues.fail(DataFusionError::External(Box::new(over())));
        self.queues.clear();
    }
}
