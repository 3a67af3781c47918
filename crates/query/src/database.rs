//! An embedded database: how it is opened, and what it offers besides sessions.

use crate::analysis;
use crate::context::Sessions;
use crate::context::Shared;
use crate::context::engine::Engine;
use crate::foreign_functions::OfCatalog;
use crate::indexes::Indexes;
use crate::receiver::Receiver;
use crate::roles;
use crate::session::Session;
use catalog_views::session_context::{Backups, SessionContext};
use distributed::{Exchanges, Node};
use executor::Executors;
use foreign::Definitions;
use notifications::Hub;
use parking_lot::Mutex;
use scan::index_lookup::meaning::KnownMeanings;
use sdds::ServerId;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};
use store::catalog::{
    BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, CatalogChange, DEFAULT_BUCKET_SIZE, Relation,
};
use store::journal::Durability;
use store::{CHECKPOINT_BYTES, Data, Finding, Recovery, Store};
use values::error::{Error, Result, SqlState};

/// Options of a database.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Limit of the memory of tables and queries together, in bytes; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// Bytes of a bucket before it splits, for tables without the option `bucket_size`; `None` for 64 MiB.
    pub bucket_size: Option<u64>,
    /// Partitions of a query's work, in a cluster at least 2; `None` for one per processor.
    pub threads: Option<usize>,
    /// This server in a cluster; `None` outside a cluster.
    pub cluster: Option<ServerId>,
    /// Threads for statements that take longer than a few microseconds; `None` for those of the caller. With executors no
    /// statement delays another one, or the messages of a server's clients.
    pub executors: Option<Executors>,
    /// Where the data is kept; `None` for memory only.
    pub data: Option<DataDirectory>,
    /// Is told how far the recovery of `data` is; `None` if nobody wants to know.
    pub recovery_progress: Option<store::Progress>,
    /// Makes the allocator return the memory that it keeps, before a statement is stopped because there is too little.
    pub give_back_memory: Option<fn()>,
}

/// Where a database keeps its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDirectory {
    /// The directory. It is created if it does not exist; its parent must exist.
    pub path: PathBuf,
    /// What a commit waits for. With [`Durability::Memory`] the directory is not used.
    pub durability: Durability,
    /// Growth of the journal after which a checkpoint is made, in bytes; at least 1.
    pub checkpoint_bytes: u64,
}

impl DataDirectory {
    /// A directory with the usual size of checkpoints.
    pub fn new(path: impl Into<PathBuf>, durability: Durability) -> Self {
        Self { path: path.into(), durability, checkpoint_bytes: CHECKPOINT_BYTES }
    }
}

/// The size of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSize {
    /// The table's schema.
    pub schema: String,
    /// The table's name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Bytes of its buckets.
    pub bytes: u64,
    /// Number of buckets.
    pub buckets: u64,
    /// The cost of finding the owners of its rows so far; zero outside a cluster.
    pub finding: Finding,
}

/// An embedded database. A clone is another handle on the same one.
#[derive(Debug, Clone)]
pub struct Database(Arc<Shared>);

impl Database {
    /// Opens an empty database in memory, or the one of a data directory.
    ///
    /// # Errors
    /// 22023 for invalid options; 58030 if the directory for temporary files cannot be created; 55006 for a data directory
    /// that another process has open; 58030, XX001 and 0A000 for one that cannot be read.
    pub fn open(options: Options) -> Result<Self> {
        let threads = match options.threads {
            Some(0) => {
                let message = "threads must be at least 1";
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        };
        // Undivided work is not distributed among servers, either: all rows would come to the coordinator.
        let threads = if options.cluster.is_some() { threads.max(2) } else { threads };
        let sizes = BUCKET_SIZE_MIN..=BUCKET_SIZE_MAX;
        if let Some(size) = options.bucket_size.filter(|size| !sizes.contains(size)) {
            let message = format!("bucket_size {size} must be between 4 KiB and 1 GiB");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        let store_options = store::Options {
            memory_limit: options.memory_limit,
            server: options.cluster.unwrap_or(ServerId(0)),
            in_cluster: options.cluster.is_some(),
            ..store::Options::default()
        };
        let (store, recovery) = match options.data {
            Some(data) if data.durability != Durability::Memory => {
                let usual = Data::at(data.path, data.durability);
                let progress = options.recovery_progress.unwrap_or(usual.progress);
                let checkpoint_bytes = data.checkpoint_bytes;
                let data = Data { checkpoint_bytes, progress, ..usual };
                let (store, recovery) = Store::open_durable(&store_options, data)?;
                if options.cluster.is_none() && !store.facts("cluster/").is_empty() {
                    let message = "the data directory is of a server of a cluster";
                    return Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message)
                        .with_hint("Start it with the --cluster or --join that it had before."));
                }
                (store, Some(recovery))
            }
            _ => (Store::open(store_options), None),
        };
        let exchanges = Arc::new(Exchanges::default());
        let mut engine = Engine::new(&store, threads, &exchanges)?;
        let indexes = Arc::new(Indexes::new(engine.functions.clone()));
        store.compute_indexes_by(Arc::clone(&indexes) as _);
        engine.for_statement.config_mut().set_extension(Arc::new(KnownMeanings(indexes)));
        let mut functions = engine.functions.clone();
        let definitions = Definitions(Arc::new(OfCatalog(Arc::clone(&store))));
        functions.config_mut().set_extension(Arc::new(definitions));
        let node = Node::new(functions, exchanges);
        let running = Mutex::new(BTreeMap::new());
        let bucket_size = options.bucket_size.unwrap_or(DEFAULT_BUCKET_SIZE);
        let next_number = AtomicU64::new(1);
        let executors = options.executors;
        if let (Some(executors), Some(limit)) = (&executors, options.memory_limit) {
            executors.limit_memory(limit, options.give_back_memory.unwrap_or(|| {}));
        }
        let sessions = Sessions::default();
        Ok(Self(Arc::new(Shared {
            store,
            engine,
            bucket_size,
            executors,
            running,
            sessions,
            hub: Hub::default(),
            node,
            next_number,
            recovery,
            backups: Backups::default(),
            plan_view: analysis::plan_view,
        })))
    }

    /// What was found in the data directory; `None` if the data is in memory only.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.0.recovery.as_ref()
    }

    /// Ends with an error when the disk of the data directory has failed. Memory and disk may differ then: the process
    /// must end.
    pub fn until_failed(&self) -> impl Future<Output = Error> + Send + 'static {
        let stopped = self.0.store.journal().map(|journal| journal.until_stopped());
        async move {
            match stopped {
                Some(stopped) => match stopped.await {
                    Err(error) => Error::from(store::Error::from(error)),
                    Ok(()) => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        }
    }

    /// Prepares for the end of the process: everything is on the disk, and sequences go on without a gap. Sessions must
    /// have ended.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn close(&self) -> Result<()> {
        Ok(self.0.store.settle_sequences()?)
    }

    /// A new session, with its own settings and transaction.
    pub fn session(&self) -> Session {
        Session::new(Arc::clone(&self.0))
    }

    /// The sizes of all tables on this server.
    pub fn table_sizes(&self) -> Vec<TableSize> {
        let store = &self.0.store;
        let catalog = store.catalog();
        let tables = catalog.relations().filter_map(|relation| match relation {
            Relation::Table(table) => Some(table),
            _ => None,
        });
        tables
            .map(|table| {
                let buckets = store.bucket_infos(table.id);
                TableSize {
                    schema: table.schema.clone(),
                    name: table.name.clone(),
                    rows: buckets.iter().map(|bucket| bucket.rows).sum(),
                    bytes: buckets.iter().map(|bucket| bucket.bytes).sum(),
                    buckets: buckets.len() as u64,
                    finding: store.peers().map(|p| p.finding(table.id)).unwrap_or_default(),
                }
            })
            .collect()
    }

    /// Creates a superuser, or changes the password of an existing one.
    ///
    /// # Errors
    /// As CREATE ROLE.
    pub async fn put_superuser(&self, name: &str, password: &str) -> Result<()> {
        let role = roles::superuser(name, password)?;
        let mut transaction = self.0.store.begin_distributed().await?;
        transaction.change_catalog(CatalogChange::PutRole(role))?;
        transaction.commit().await?;
        Ok(())
    }

    /// Whether clients are authenticated: there is a superuser with a password.
    pub fn authenticates(&self) -> bool {
        self.0.store.catalog().roles().any(|role| role.administers())
    }

    /// The SCRAM verifier of a user; `None` if the user does not exist, has no password, or the password has expired.
    pub fn verifier(&self, user: &str) -> Option<String> {
        let catalog = self.0.store.catalog();
        let role = catalog.role(user)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let over = role.valid_until.is_some_and(|until| i128::from(until) <= now as i128);
        role.verifier.clone().filter(|_| !over)
    }

    /// Refuses a session to an authenticated user who may not log in, or who has too many sessions.
    ///
    /// # Errors
    /// 28000 for roles without LOGIN, 53300 above the connection limit.
    pub fn admit(&self, user: &str) -> Result<()> {
        let catalog = self.0.store.catalog();
        let Some(role) = catalog.role(user) else { return Ok(()) };
        if !role.login {
            let message = format!("role \"{user}\" is not permitted to log in");
            return Err(Error::new(SqlState::InvalidAuthorization, message));
        }
        let of_user = |session: &Arc<dyn SessionContext>| *session.login_user() == user;
        let count = || self.0.sessions.connected().into_iter().filter(of_user).count();
        match role.connection_limit.filter(|_| !role.superuser) {
            Some(limit) if count() > limit as usize => {
                let message = format!("too many connections for role \"{user}\"");
                Err(Error::new(SqlState::TooManyConnections, message))
            }
            _ => Ok(()),
        }
    }

    /// Executes what other servers ask of this one: plan fragments, DML pushdowns, operations on single rows.
    pub fn fragments(&self) -> Arc<dyn store::Fragments> {
        Arc::new(Receiver::new(&self.0))
    }

    /// The store, for tools that inspect buckets.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
    }
}
