//! Connecting to a server, and receiving its adjustments along with answers.

use crate::adjustment::Adjustment;
use crate::knowledge::{Knowledge, Place};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use parking_lot::RwLock;
use std::sync::Arc;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Config, Connection, Socket};

/// Connects with a configuration, and passes the server's notices to a listener.
pub(crate) type Connector = Box<
    dyn Fn(
            Config,
            Listener,
        ) -> BoxFuture<'static, Result<tokio_postgres::Client, tokio_postgres::Error>>
        + Send
        + Sync,
>;

/// Receives the notices of the server at a place.
pub(crate) struct Listener {
    pub(crate) place: Place,
    pub(crate) knowledge: Arc<RwLock<Knowledge>>,
}

/// The connector for a TLS implementation.
pub(crate) fn connector<T>(tls: T) -> Connector
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    Box::new(move |config, listener| {
        let tls = tls.clone();
        async move {
            let (client, connection) = config.connect(tls).await?;
            tokio::spawn(listen(connection, listener));
            Ok(client)
        }
        .boxed()
    })
}

/// Drives a connection until its client is dropped or it breaks; pending requests then fail with
/// the reason. An adjustment is applied before the answer that follows it is returned.
async fn listen<T>(mut connection: Connection<Socket, T>, listener: Listener)
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    while let Some(Ok(message)) = messages.next().await {
        let AsyncMessage::Notice(notice) = message else { continue };
        match Adjustment::of(&notice) {
            Some(told) => listener.knowledge.write().learn(&listener.place, told),
            None => tracing::info!("{}: {}", notice.severity(), notice.message()),
        }
    }
}
