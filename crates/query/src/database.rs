//! A database: a store, and everything that its sessions share.

use crate::error::{Error, Result, SqlState};
use crate::functions;
use crate::memory_pool::QueryMemory;
use crate::session::Session;
use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use store::Store;
use store::catalog::{BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, DEFAULT_BUCKET_SIZE};

/// An error about memory names so many of the largest consumers.
const CONSUMERS_NAMED: usize = 5;
/// Rows of a batch between operators.
const BATCH_ROWS: usize = store::CHUNK_ROWS;

/// How a database is opened.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Bytes that tables and queries may hold together; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// Bytes that a bucket may hold before it splits, for tables that do not say; `None` for 64 MiB.
    pub bucket_size: Option<u64>,
    /// Into how many parts a query's work is divided; `None` for one a processor.
    pub threads: Option<usize>,
    /// Where statements run that take longer than a few microseconds; `None` for wherever they are called.
    /// Whoever serves clients gives a runtime of its own here, so that long work does not keep them waiting.
    pub workers: Option<tokio::runtime::Handle>,
}

/// An embedded database. A clone is another handle on the same one.
#[derive(Debug, Clone)]
pub struct Database(Arc<Shared>);

/// What sessions share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) engine: SessionState,
    pub(crate) bucket_size: u64,
    pub(crate) workers: Option<tokio::runtime::Handle>,
    pub(crate) running: Mutex<BTreeMap<u64, Running>>,
    next_number: AtomicU64,
}

/// A statement that is running.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) session: u64,
    pub(crate) text: String,
    pub(crate) started: SystemTime,
}

impl Database {
    /// An empty database in memory.
    ///
    /// # Errors
    /// 22023 for options that cannot be; 58030 where no directory for temporary files can be had.
    pub fn open(options: Options) -> Result<Self> {
        let threads = match options.threads {
            Some(0) => {
                let message = "threads must be at least 1";
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        let sizes = BUCKET_SIZE_MIN..=BUCKET_SIZE_MAX;
        if let Some(size) = options.bucket_size.filter(|size| !sizes.contains(size)) {
            let message = format!("bucket_size {size} must be between 4 KiB and 1 GiB");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        let store_options =
            store::Options { memory_limit: options.memory_limit, ..store::Options::default() };
        let store = Store::open(store_options);
        let engine = engine(&store, threads)?;
        let running = Mutex::new(BTreeMap::new());
        let bucket_size = options.bucket_size.unwrap_or(DEFAULT_BUCKET_SIZE);
        let next_number = AtomicU64::new(1);
        let workers = options.workers;
        Ok(Self(Arc::new(Shared { store, engine, bucket_size, workers, running, next_number })))
    }

    /// A new session: its own settings and transaction.
    pub fn session(&self) -> Session {
        Session::new(Arc::clone(&self.0))
    }

    /// Whether there is anybody who could log in.
    pub fn has_users(&self) -> bool {
        self.0.store.catalog().roles().len() > 0
    }

    /// What a user's password is checked against; `None` where there is no such user, or none who may
    /// log in with a password.
    pub fn verifier(&self, user: &str) -> Option<String> {
        let catalog = self.0.store.catalog();
        let role = catalog.role(user).filter(|role| role.login)?;
        role.verifier.clone()
    }

    /// The store below, for tools that look at buckets.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
    }
}

impl Shared {
    /// A number for a session or a statement.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }
}

fn engine(store: &Arc<Store>, threads: usize) -> Result<SessionState> {
    let consumers = NonZeroUsize::new(CONSUMERS_NAMED).unwrap_or(NonZeroUsize::MIN);
    let pool = TrackConsumersPool::new(QueryMemory(Arc::clone(store.memory())), consumers);
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).build_arc()?;
    let mut config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_batch_size(BATCH_ROWS)
        .with_information_schema(false)
        .with_create_default_catalog_and_schema(false);
    let options = config.options_mut();
    options.sql_parser.parse_float_as_decimal = true;
    options.sql_parser.dialect = datafusion::config::Dialect::PostgreSQL;
    options.execution.time_zone = Some("+00:00".to_owned());
    options.explain.logical_plan_only = false;
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features();
    let mut state = builder.build();
    functions::register_shared(&mut state)?;
    Ok(state)
}
