//! The client's interface.

use crate::connector::connector;
use crate::error::Error;
use crate::knowledge::{Knowledge, Place};
use crate::servers::{Servers, Session};
use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Column, Config, Row, Socket};

/// Maximum number of concurrent statements of one call.
const UNDER_WAY: usize = 1024;

/// The values of a statement's parameters.
pub type Parameters<'a> = Vec<&'a (dyn ToSql + Sync)>;

/// A client of a cluster. Clones share connections and learned owners.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    servers: Servers,
    knowledge: Arc<RwLock<Knowledge>>,
    requests: AtomicU64,
    to_owners: AtomicU64,
}

/// A prepared statement.
#[derive(Clone)]
pub struct Statement {
    text: Arc<str>,
    described: tokio_postgres::Statement,
}

/// Counters of statements since the client was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Statements sent.
    pub requests: u64,
    /// Statements sent to the believed owner of the row; all others were sent to the first server.
    pub to_owners: u64,
}

impl Client {
    /// Connects to one server of a cluster; the client learns the others from it. The user,
    /// password, database and options of the configuration are used for all servers.
    ///
    /// # Errors
    /// [`Error::Unreachable`], also if the server refuses the connection.
    pub async fn connect<T>(config: Config, tls: T) -> Result<Self, Error>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let knowledge = Arc::new(RwLock::new(Knowledge::default()));
        let servers = Servers::new(config, connector(tls), Arc::clone(&knowledge));
        servers.session(&Place::First).await?;
        let (requests, to_owners) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self(Arc::new(Inner { servers, knowledge, requests, to_owners })))
    }

    /// Prepares a statement. Statements on one row by its whole primary key are sent to the row's
    /// owner if the parameters' types are supported in keys (all but `numeric`, `uuid` and
    /// `char(n)`); all others are sent to the first server. Each execution is a transaction of its
    /// own: use a plain connection for `BEGIN` and settings.
    ///
    /// # Errors
    /// The server's errors for the text.
    pub async fn prepare(&self, text: &str) -> Result<Statement, Error> {
        let text: Arc<str> = text.trim().trim_end_matches(';').trim_end().into();
        let session = self.0.servers.session(&Place::First).await?;
        let described = session.prepared(&text).await?;
        Ok(Statement { text, described })
    }

    /// Executes a statement and returns its rows.
    ///
    /// # Errors
    /// The server's errors, and broken connections; a SELECT that was sent to a row's owner is
    /// retried instead. An unreachable server is replaced by another one that is reachable.
    pub async fn query(
        &self,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let owner = self.locate(statement, parameters);
        let place = owner.as_ref().unwrap_or(&Place::First);
        match self.query_at(place, statement, parameters).await {
            // The server has failed. A SELECT can be repeated safely.
            Err(Error::Postgres(error))
                if error.is_closed() && owner.is_some() && statement.is_select() =>
            {
                self.query_at(&Place::First, statement, parameters).await
            }
            answer => answer,
        }
    }

    async fn query_at(
        &self,
        place: &Place,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let (session, prepared) = self.ready(place, statement).await?;
        Ok(session.client.query(&prepared, parameters).await?)
    }

    /// Executes a statement and returns the number of rows changed or returned.
    ///
    /// # Errors
    /// As [`Self::query`]. After a broken connection it is unknown whether the change was made.
    pub async fn execute(
        &self,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Error> {
        let owner = self.locate(statement, parameters);
        let place = owner.as_ref().unwrap_or(&Place::First);
        let (session, prepared) = self.ready(place, statement).await?;
        Ok(session.client.execute(&prepared, parameters).await?)
    }

    /// Executes a statement with each of several parameter lists, pipelined to each server. Returns
    /// the rows of each execution, in order. Each is a transaction of its own.
    ///
    /// # Errors
    /// The first failure, in order; other executions may have succeeded.
    pub async fn query_all<'a>(
        &self,
        statement: &Statement,
        given: impl IntoIterator<Item = Parameters<'a>>,
    ) -> Result<Vec<Vec<Row>>, Error> {
        let run =
            |parameters: Parameters<'a>| async move { self.query(statement, &parameters).await };
        stream::iter(given).map(run).buffered(UNDER_WAY).try_collect().await
    }

    /// The same for a statement that changes rows; returns the number of changed rows of each
    /// execution.
    ///
    /// # Errors
    /// As [`Self::query_all`].
    pub async fn execute_all<'a>(
        &self,
        statement: &Statement,
        given: impl IntoIterator<Item = Parameters<'a>>,
    ) -> Result<Vec<u64>, Error> {
        let run =
            |parameters: Parameters<'a>| async move { self.execute(statement, &parameters).await };
        stream::iter(given).map(run).buffered(UNDER_WAY).try_collect().await
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        Counters {
            requests: self.0.requests.load(Ordering::Relaxed),
            to_owners: self.0.to_owners.load(Ordering::Relaxed),
        }
    }

    /// The believed owner of a statement's row; `None` if the statement is not on one row by its
    /// key.
    fn locate(&self, statement: &Statement, parameters: &[&(dyn ToSql + Sync)]) -> Option<Place> {
        let inner = &self.0;
        let knowledge = inner.knowledge.read();
        let owner = knowledge.locate(&statement.text, statement.types(), parameters);
        inner.requests.fetch_add(1, Ordering::Relaxed);
        inner.to_owners.fetch_add(u64::from(owner.is_some()), Ordering::Relaxed);
        owner.cloned()
    }

    /// A connection to a server, or to a reachable one in its place, with the statement prepared on
    /// it.
    async fn ready(
        &self,
        place: &Place,
        statement: &Statement,
    ) -> Result<(Arc<Session>, tokio_postgres::Statement), Error> {
        let session = self.0.servers.session(place).await?;
        let prepared = session.prepared(&statement.text).await?;
        Ok((session, prepared))
    }
}

impl Statement {
    /// Whether it is a SELECT. A SELECT of one row by its key calls no functions.
    fn is_select(&self) -> bool {
        self.text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"))
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parameter types.
    pub fn types(&self) -> &[Type] {
        self.described.params()
    }

    /// The columns of the result.
    pub fn columns(&self) -> &[Column] {
        self.described.columns()
    }
}
