//! A database: a store, and everything that its sessions share.

use crate::context::Sessions;
use crate::context::Shared;
use crate::context::engine::Engine;
use crate::receiver::Receiver;
use crate::roles;
use crate::session::Session;
use catalog_views::session_context::{DatabaseContext, SessionContext};
use distributed::{Exchanges, Node};
use parking_lot::Mutex;
use sdds::GroupId;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};
use store::catalog::{
    BUCKET_SIZE_MAX, BUCKET_SIZE_MIN, CatalogChange, DEFAULT_BUCKET_SIZE, Relation,
};
use store::{Finding, Store};
use values::error::{Error, Result, SqlState};

/// How a database is opened.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Bytes that tables and queries may hold together; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// Bytes that a bucket may hold before it splits, for tables that do not say; `None` for 64 MiB.
    pub bucket_size: Option<u64>,
    /// Into how many parts a query's work is divided, in a cluster at least 2; `None` for one a processor.
    pub threads: Option<usize>,
    /// The group that this server leads in a cluster; `None` for a server that is alone.
    pub cluster: Option<GroupId>,
    /// Where statements run that take longer than a few microseconds; `None` for wherever they are called.
    /// Whoever serves clients gives a runtime of its own here, so that long work does not keep them waiting.
    pub workers: Option<tokio::runtime::Handle>,
}

/// How large a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSize {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Bytes that its buckets hold.
    pub bytes: u64,
    /// Its buckets.
    pub buckets: u64,
    /// What finding the owners of its rows has cost; nothing outside of a cluster.
    pub finding: Finding,
}

/// An embedded database. A clone is another handle on the same one.
#[derive(Debug, Clone)]
pub struct Database(Arc<Shared>);

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
        // Work that is not divided is not dealt out among servers, either: everything would come to the coordinator.
        let threads = if options.cluster.is_some() { threads.max(2) } else { threads };
        let sizes = BUCKET_SIZE_MIN..=BUCKET_SIZE_MAX;
        if let Some(size) = options.bucket_size.filter(|size| !sizes.contains(size)) {
            let message = format!("bucket_size {size} must be between 4 KiB and 1 GiB");
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        let store_options = store::Options {
            memory_limit: options.memory_limit,
            group: options.cluster.unwrap_or(GroupId(0)),
            in_cluster: options.cluster.is_some(),
            ..store::Options::default()
        };
        let store = Store::open(store_options);
        let exchanges = Arc::new(Exchanges::default());
        let engine = Engine::new(&store, threads, &exchanges)?;
        let node = Node::new(engine.functions.clone(), exchanges);
        let running = Mutex::new(BTreeMap::new());
        let bucket_size = options.bucket_size.unwrap_or(DEFAULT_BUCKET_SIZE);
        let next_number = AtomicU64::new(1);
        let workers = options.workers;
        let sessions = Sessions::default();
        Ok(Self(Arc::new(Shared {
            store,
            engine,
            bucket_size,
            workers,
            running,
            sessions,
            node,
            next_number,
        })))
    }

    /// A new session: its own settings and transaction.
    pub fn session(&self) -> Session {
        Session::new(Arc::clone(&self.0))
    }

    /// How large each table is.
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

    /// Makes a user who may do everything, or gives one that exists another password.
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

    /// Whether there is anybody who could log in.
    pub fn has_users(&self) -> bool {
        self.0.store.catalog().roles().len() > 0
    }

    /// What a user's password is checked against; `None` where there is no such user, or none who may
    /// log in with a password.
    pub fn verifier(&self, user: &str) -> Option<String> {
        let catalog = self.0.store.catalog();
        let role = catalog.role(user)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let over = role.valid_until.is_some_and(|until| i128::from(until) <= now as i128);
        role.verifier.clone().filter(|_| !over)
    }

    /// Refuses a user who has proven who it is and may have no session, or not so many as are connected now.
    ///
    /// # Errors
    /// 28000 for roles that may not log in, 53300 where there are more sessions than it may have.
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

    /// What runs the fragments that other servers send here.
    pub fn fragments(&self) -> Arc<dyn store::Fragments> {
        Arc::new(Receiver::new(&self.0))
    }

    /// The store below, for tools that look at buckets.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
    }
}
