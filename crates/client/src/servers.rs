//! The servers to which a client is connected: one connection each, opened on first use and again
//! after it broke.

use crate::connector::{Connector, Listener};
use crate::error::Error;
use crate::knowledge::{Knowledge, Place};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::Config;

/// A server is not tried again for this time after a failed connection.
const PAUSE: Duration = Duration::from_secs(1);

/// Connection timeout for servers other than the user's choice, unless the user sets one.
const PATIENCE: Duration = Duration::from_secs(5);

/// The first statement of a connection: it enables adjustments.
const FIRST_WORDS: &str = "SET pando.adjustments = on";

/// Connections by server.
pub(crate) struct Servers {
    config: Config,
    connector: Connector,
    knowledge: Arc<RwLock<Knowledge>>,
    sessions: RwLock<HashMap<Place, Arc<Session>>>,
    failed: Mutex<HashMap<Place, Instant>>,
    /// Locked while a connection to a server is opened, so that concurrent requests open only one.
    connecting: Mutex<HashMap<Place, Arc<tokio::sync::Mutex<()>>>>,
}

/// A connection and the statements that are prepared on it.
pub(crate) struct Session {
    pub(crate) client: tokio_postgres::Client,
    statements: Mutex<HashMap<Arc<str>, tokio_postgres::Statement>>,
}

impl Servers {
    pub(crate) fn new(
        config: Config,
        connector: Connector,
        knowledge: Arc<RwLock<Knowledge>>,
    ) -> Self {
        Self {
            config,
            connector,
            knowledge,
            sessions: RwLock::default(),
            failed: Mutex::default(),
            connecting: Mutex::default(),
        }
    }

    /// A connection to a server or, if it is unreachable, to another one that forwards statements
    /// to it.
    pub(crate) async fn session(&self, wanted: &Place) -> Result<Arc<Session>, Error> {
        if let Some(session) = self.ready(wanted) {
            return Ok(session);
        }
        let mut places = vec![wanted.clone()];
        if *wanted != Place::First {
            places.push(Place::First);
        }
        places.extend(self.knowledge.read().others().into_iter().filter(|place| place != wanted));
        let mut last = None;
        for place in &places {
            // If there is no other server, the wanted one is tried again.
            if self.has_just_failed(place) && places.len() > 1 {
                continue;
            }
            match self.connect(place).await {
                Ok(session) => return Ok(session),
                Err(error) => last = Some((place.clone(), error)),
            }
        }
        let (place, error) = match last {
            Some(last) => last,
            None => match self.connect(wanted).await {
                Ok(session) => return Ok(session),
                Err(error) => (wanted.clone(), error),
            },
        };
        Err(Error::Unreachable { server: self.name(&place), error })
    }

    fn ready(&self, place: &Place) -> Option<Arc<Session>> {
        let session = Arc::clone(self.sessions.read().get(place)?);
        (!session.client.is_closed()).then_some(session)
    }

    fn has_just_failed(&self, place: &Place) -> bool {
        self.failed.lock().get(place).is_some_and(|when| when.elapsed() < PAUSE)
    }

    async fn connect(&self, place: &Place) -> Result<Arc<Session>, tokio_postgres::Error> {
        let lock = Arc::clone(self.connecting.lock().entry(place.clone()).or_default());
        let _alone = lock.lock().await;
        if let Some(session) = self.ready(place) {
            return Ok(session);
        }
        let listener = Listener { place: place.clone(), knowledge: Arc::clone(&self.knowledge) };
        let connected = async {
            let client = (self.connector)(self.config_of(place), listener).await?;
            client.batch_execute(FIRST_WORDS).await?;
            Ok(Arc::new(Session { client, statements: Mutex::default() }))
        };
        match connected.await {
            Ok(session) => {
                self.failed.lock().remove(place);
                self.sessions.write().insert(place.clone(), Arc::clone(&session));
                Ok(session)
            }
            Err(error) => {
                self.failed.lock().insert(place.clone(), Instant::now());
                Err(error)
            }
        }
    }

    /// The user's configuration, for a server other than the user's.
    fn config_of(&self, place: &Place) -> Config {
        let Place::At(address) = place else { return self.config.clone() };
        let (host, port) = address.rsplit_once(':').unwrap_or((address, "5433"));
        let mut config = Config::new();
        config.host(host.trim_matches(['[', ']'])).port(port.parse().unwrap_or(5433));
        let from = &self.config;
        from.get_user().map(|user| config.user(user));
        from.get_password().map(|password| config.password(password));
        from.get_dbname().map(|name| config.dbname(name));
        from.get_options().map(|options| config.options(options));
        from.get_application_name().map(|name| config.application_name(name));
        config.connect_timeout(from.get_connect_timeout().copied().unwrap_or(PATIENCE));
        config.ssl_mode(from.get_ssl_mode());
        config.channel_binding(from.get_channel_binding());
        config
    }

    fn name(&self, place: &Place) -> String {
        match place {
            Place::At(address) => address.to_string(),
            Place::First => {
                match (self.config.get_hosts().first(), self.config.get_ports().first()) {
                    (Some(tokio_postgres::config::Host::Tcp(host)), Some(port)) => {
                        format!("{host}:{port}")
                    }
                    _ => "the first server".to_owned(),
                }
            }
        }
    }
}

impl Session {
    /// The statement as prepared on this server.
    pub(crate) async fn prepared(
        &self,
        text: &Arc<str>,
    ) -> Result<tokio_postgres::Statement, tokio_postgres::Error> {
        if let Some(statement) = self.statements.lock().get(text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text).await?;
        self.statements.lock().insert(Arc::clone(text), statement.clone());
        Ok(statement)
    }
}
