//! The open exchanges of which this server is a producer.

use super::queues::Queues;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryPool;
use futures::Stream;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use store::ExchangeId;
use values::{Error, SqlState};

/// The open exchanges by id. Each exists as long as its guard `Open`.
#[derive(Debug, Default)]
pub struct Exchanges(Mutex<HashMap<ExchangeId, Arc<Queues>>>);

impl Exchanges {
    /// The exchanges of the engine that runs a plan.
    pub(crate) fn of(context: &TaskContext) -> Result<Arc<Self>> {
        match context.session_config().get_extension::<Self>() {
            Some(exchanges) => Ok(exchanges),
            None => internal_err!("the engine has no place for exchanges"),
        }
    }

    /// Number of open exchanges.
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Opens an exchange. It ends when the result is dropped.
    pub(crate) fn open(
        self: Arc<Self>,
        id: ExchangeId,
        parts: usize,
        pool: &Arc<dyn MemoryPool>,
    ) -> Result<Open> {
        let queues = Arc::new(Queues::new(parts, pool));
        let before = self.0.lock().insert(id, Arc::clone(&queues));
        match before {
            None => Ok(Open { exchanges: self, id, queues }),
            Some(_) => internal_err!("an exchange was opened twice"),
        }
    }

    /// The rows of a part.
    ///
    /// # Errors
    /// 08006 if the exchange has ended, or the part was taken before.
    pub fn take(
        &self,
        id: ExchangeId,
        part: u32,
    ) -> Result<impl Stream<Item = Result<RecordBatch>> + Send + use<>, Error> {
        let queues = self.0.lock().get(&id).cloned();
        let taken = queues.and_then(|queues| queues.take(part as usize));
        taken.ok_or_else(ended)
    }
}

fn ended() -> Error {
    let message = "an exchange has ended: its coordinator has ended it or is lost";
    Error::new(SqlState::ConnectionFailure, message)
}

/// Keeps an exchange open.
#[derive(Debug)]
pub(crate) struct Open {
    exchanges: Arc<Exchanges>,
    id: ExchangeId,
    pub(crate) queues: Arc<Queues>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.exchanges.0.lock().remove(&self.id);
        self.queues.fail(DataFusionError::External(Box::new(ended())));
        self.queues.clear();
    }
}
