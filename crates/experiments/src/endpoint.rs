//! A client of one server: a session if the server is in this process, else a PostgreSQL connection.

use anyhow::{Context, Result};
use arrow::csv::WriterBuilder;
use futures::{SinkExt, TryStreamExt};
use query::ScalarValue;
use std::io::Cursor;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};
use workloads::{Embedded, Row, TableSource, drain, sole_number};

/// A client of one server. Clones share it.
#[derive(Clone)]
pub(crate) enum Endpoint {
    /// A session of a database in this process.
    Session(Embedded),
    /// A connection.
    Connection(Arc<Client>),
}

/// A prepared statement with one parameter, a key.
pub(crate) enum KeyedStatement {
    /// Prepared in a session of this process.
    Session(Box<query::Prepared>),
    /// Prepared on a connection.
    Connection(Arc<Client>, tokio_postgres::Statement),
    /// Prepared by a client with an image, which sends it to the owner of the row.
    Image(client::Client, client::Statement),
}

impl Endpoint {
    /// Connects to a server on this machine.
    pub(crate) async fn connect(server: SocketAddr) -> Result<Self> {
        Self::by(&config_of(server)).await.with_context(|| format!("connecting to {server}"))
    }

    /// Connects to a server by its URL, without encryption.
    pub(crate) async fn at(url: &str) -> Result<Self> {
        let config: Config =
            url.parse().with_context(|| format!("{url} is not a PostgreSQL URL"))?;
        Self::by(&config).await.with_context(|| format!("connecting to {url}"))
    }

    async fn by(config: &Config) -> Result<Self> {
        let (client, connection) = config.connect(NoTls).await?;
        // The client's next statement returns its error.
        tokio::spawn(connection);
        Ok(Self::Connection(Arc::new(client)))
    }

    /// Creates a table and fills it.
    pub(crate) async fn load(&self, table: TableSource) -> Result<()> {
        match self {
            Self::Session(embedded) => embedded.load(table).await.map(drop),
            Self::Connection(client) => {
                let doing = format!("loading {}", table.name);
                copy(client, table).await.context(doing)
            }
        }
    }

    /// Runs a statement and returns the duration.
    pub(crate) async fn execute(&self, sql: &str) -> Result<Duration> {
        match self {
            Self::Session(embedded) => embedded.execute(sql).await,
            Self::Connection(client) => {
                let start = Instant::now();
                client.batch_execute(sql).await.with_context(|| sql.to_owned())?;
                Ok(start.elapsed())
            }
        }
    }

    /// Runs a query and reads its rows. Returns the duration and the number of rows.
    pub(crate) async fn query(&self, sql: &str) -> Result<(Duration, u64)> {
        match self {
            Self::Session(embedded) => embedded.query(sql).await,
            Self::Connection(client) => {
                let start = Instant::now();
                let mut rows = pin!(client.query_raw(sql, Vec::<i32>::new()).await?);
                let mut count = 0;
                while rows.try_next().await.with_context(|| sql.to_owned())?.is_some() {
                    count += 1;
                }
                Ok((start.elapsed(), count))
            }
        }
    }

    /// The rows of a query as text.
    pub(crate) async fn rows(&self, sql: &str) -> Result<Vec<Row>> {
        match self {
            Self::Session(embedded) => Ok(embedded.answer(sql).await?.rows),
            Self::Connection(client) => {
                let messages = client.simple_query(sql).await.with_context(|| sql.to_owned())?;
                let rows = messages.iter().filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(row),
                    _ => None,
                });
                let cells = |row: &tokio_postgres::SimpleQueryRow| {
                    (0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect()
                };
                Ok(rows.map(cells).collect())
            }
        }
    }

    /// The integer that a query returns.
    pub(crate) async fn number(&self, sql: &str) -> Result<u64> {
        sole_number(&self.rows(sql).await?, sql)
    }

    /// Prepares a statement with one parameter, an integer.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<KeyedStatement> {
        Ok(match self {
            Self::Session(embedded) => {
                KeyedStatement::Session(Box::new(embedded.session.prepare(sql).await?))
            }
            Self::Connection(client) => {
                let statement = client.prepare(sql).await.with_context(|| sql.to_owned())?;
                KeyedStatement::Connection(Arc::clone(client), statement)
            }
        })
    }
}

/// The configuration for a server on this machine.
fn config_of(server: SocketAddr) -> Config {
    let mut config = Config::new();
    config.host(server.ip().to_string()).port(server.port()).user("bench").dbname("pando");
    config
}

/// A client with an image, which connects to this server first.
pub(crate) async fn client_with_image(server: SocketAddr) -> Result<client::Client> {
    let client = client::Client::connect(config_of(server), NoTls).await;
    client.with_context(|| format!("connecting to {server}"))
}

impl KeyedStatement {
    /// Runs the statement for a key, and returns how many rows it read or changed.
    pub(crate) async fn run(&self, key: i32) -> Result<u64> {
        match self {
            Self::Session(statement) => {
                drain(statement.execute(&[ScalarValue::from(key)]).await?).await
            }
            Self::Connection(client, statement) => Ok(client.execute(statement, &[&key]).await?),
            Self::Image(client, statement) => Ok(client.execute(statement, &[&key]).await?),
        }
    }
}

/// Creates a table and sends its rows with COPY as CSV.
async fn copy(client: &Client, table: TableSource) -> Result<()> {
    client.batch_execute(&table.create_sql).await?;
    let statement = format!("COPY {} FROM STDIN WITH (FORMAT csv)", table.name);
    let mut rows = pin!(client.copy_in::<_, Cursor<Vec<u8>>>(statement.as_str()).await?);
    for batch in table.batches {
        let mut text = Vec::new();
        WriterBuilder::new().with_header(false).build(&mut text).write(&batch)?;
        rows.send(Cursor::new(text)).await?;
    }
    rows.finish().await?;
    Ok(())
}
