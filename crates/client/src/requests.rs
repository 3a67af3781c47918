//! What a client is asked to do.

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

/// Statements of one call that are under way at a time.
const UNDER_WAY: usize = 1024;

/// The values of a statement's parameters.
pub type Parameters<'a> = Vec<&'a (dyn ToSql + Sync)>;

/// A client of a cluster. A clone is the same one: it shares connections and what has been learned.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    servers: Servers,
    knowledge: Arc<RwLock<Knowledge>>,
    requests: AtomicU64,
    to_owners: AtomicU64,
}

/// A statement that servers keep ready.
#[derive(Clone)]
pub struct Statement {
    text: Arc<str>,
    described: tokio_postgres::Statement,
}

/// Where statements went, since the client began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Statements that were sent.
    pub requests: u64,
    /// Those that went to the server that was believed to own the row; the others went to the first server.
    pub to_owners: u64,
}

impl Client {
    /// Connects to one server of a cluster; the others it learns of. On another server than the first the user, the password,
    /// the database and the options of the configuration are used, too.
    ///
    /// # Errors
    /// [`Error::Unreachable`], also where the server refuses.
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

    /// Prepares a statement. Those on one row by its whole primary key go to the row's owner, with parameters of the types that
    /// have keys (not `numeric`, `uuid` and `char(n)`); any other goes to the first server. Each is a transaction of its own:
    /// `BEGIN` and settings are for a connection of one's own.
    ///
    /// # Errors
    /// What the server says of the text.
    pub async fn prepare(&self, text: &str) -> Result<Statement, Error> {
        let text: Arc<str> = text.trim().trim_end_matches(';').trim_end().into();
        let session = self.0.servers.session(&Place::First).await?;
        let described = session.prepared(&text).await?;
        Ok(Statement { text, described })
    }

    /// Runs a statement; the rows that it gives.
    ///
    /// # Errors
    /// What the server says, and connections that break, other than of a SELECT to a row's owner. A server that cannot be connected
    /// to is gone round, as long as another one is there.
    pub async fn query(
        &self,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let owner = self.locate(statement, parameters);
        let place = owner.as_ref().unwrap_or(&Place::First);
        match self.query_at(place, statement, parameters).await {
            // Its server is gone. Reading a row again changes nothing.
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

    /// Runs a statement; how many rows it has changed, or given.
    ///
    /// # Errors
    /// As [`Self::query`]. When a connection breaks nobody knows whether the change was made.
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

    /// Runs a statement many times, each server's share at once without waiting in between; the rows of each, in order. Each is
    /// a transaction of its own.
    ///
    /// # Errors
    /// The first that fails, in order; others may have been run.
    pub async fn query_all<'a>(
        &self,
        statement: &Statement,
        given: impl IntoIterator<Item = Parameters<'a>>,
    ) -> Result<Vec<Vec<Row>>, Error> {
        let run =
            |parameters: Parameters<'a>| async move { self.query(statement, &parameters).await };
        stream::iter(given).map(run).buffered(UNDER_WAY).try_collect().await
    }

    /// The same for a statement that changes rows: how many each has changed.
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

    /// Where statements went so far.
    pub fn counters(&self) -> Counters {
        Counters {
            requests: self.0.requests.load(Ordering::Relaxed),
            to_owners: self.0.to_owners.load(Ordering::Relaxed),
        }
    }

    /// Who is believed to own a statement's row; nobody where it is not on one row by its key.
    fn locate(&self, statement: &Statement, parameters: &[&(dyn ToSql + Sync)]) -> Option<Place> {
        let inner = &self.0;
        let knowledge = inner.knowledge.read();
        let owner = knowledge.locate(&statement.text, statement.types(), parameters);
        inner.requests.fetch_add(1, Ordering::Relaxed);
        inner.to_owners.fetch_add(u64::from(owner.is_some()), Ordering::Relaxed);
        owner.cloned()
    }

    /// A connection to a server, or to one that can be had in its place, with the statement ready on it.
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
    /// Whether it only reads, where its row is known by a key: no functions are called then.
    fn is_select(&self) -> bool {
        self.text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"))
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The types of its parameters.
    pub fn types(&self) -> &[Type] {
        self.described.params()
    }

    /// The columns of its rows.
    pub fn columns(&self) -> &[Column] {
        self.described.columns()
    }
}
