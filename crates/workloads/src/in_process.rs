//! A cluster in one process: each server has its own tables, images and sessions. They exchange the messages of a cluster of
//! processes, without sockets.

use cluster::net::Address;
use cluster::net::local::{Hub, Link};
use cluster::{Cluster, NewServer};
use query::Executors;
use query::{Database, Error, Options};
use std::sync::Arc;

/// The servers of a cluster in this process.
#[derive(Debug)]
pub struct InProcess {
    hub: Hub,
    options: Options,
    servers: Vec<Member>,
}

/// A server of the cluster.
#[derive(Debug, Clone)]
pub struct Member {
    /// Name: `a`, `b`, ...
    pub name: String,
    /// The database through which the server executes statements.
    pub database: Database,
    /// Its view of the cluster.
    pub cluster: Cluster,
}

impl InProcess {
    /// Starts a cluster of `servers` servers, at least one.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub async fn start(servers: usize, options: Options) -> Result<Self, Error> {
        let mut cluster = Self { hub: Hub::new(), options, servers: Vec::new() };
        for _ in 0..servers.max(1) {
            cluster.add().await?;
        }
        Ok(cluster)
    }

    /// Starts a cluster whose servers run their statements on `executors`.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub async fn on_executors(servers: u16, executors: &Executors) -> Result<Self, Error> {
        let options = Options { executors: Some(executors.clone()), ..Options::default() };
        Self::start(servers.into(), options).await
    }

    /// The servers in the order in which they joined.
    pub fn servers(&self) -> &[Member] {
        &self.servers
    }

    /// The server with a name.
    pub fn server(&self, name: &str) -> Option<&Member> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Starts one more server.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub async fn add(&mut self) -> Result<&Member, Error> {
        let name = server_name(self.servers.len());
        let address = Address::new(name.as_str());
        let network = Arc::new(self.hub.network(address.clone()));
        let introduction = NewServer { name: name.clone(), address: address.clone(), weight: 1 };
        let mut opened = None;
        let mut open = |server| {
            let options = Options { cluster: Some(server), ..self.options.clone() };
            let database = Database::open(options).map_err(|error| refused(&error))?;
            let store = Arc::clone(database.store());
            opened = Some(database);
            Ok(store)
        };
        let cluster = match self.servers.first() {
            None => {
                let store = open(sdds::ServerId(0))?;
                Cluster::found(introduction, store, network, tokio::runtime::Handle::current())
                    .await?
            }
            Some(first) => {
                let first = Address::new(first.name.as_str());
                Cluster::join(
                    introduction,
                    &first,
                    false,
                    open,
                    network,
                    tokio::runtime::Handle::current(),
                )
                .await?
            }
        };
        let Some(database) = opened else { unreachable!("joining opens the database") };
        cluster.set_fragments(database.fragments());
        self.hub.serve(address, Arc::new(cluster.clone()));
        self.servers.push(Member { name, database, cluster });
        Ok(&self.servers[self.servers.len() - 1])
    }

    /// Ends what the servers do by themselves, such as heartbeats: they hold each other, and would go on.
    pub fn stop(&self) {
        self.servers.iter().for_each(|server| server.cluster.stop());
    }

    /// Cuts all links of a server for good, as if it had crashed.
    pub fn cut_off(&self, name: &str) {
        let address = |name: &str| Address::new(name);
        for other in self.servers.iter().filter(|other| other.name != name) {
            self.hub.link(&address(name), &address(&other.name), Link::Cut);
        }
    }
}

fn refused(error: &Error) -> store::Error {
    store::Error::Remote {
        sql_state: error.state().code().to_owned(),
        message: error.to_string(),
        detail: None,
        hint: None,
    }
}

/// The name of a server by its number: `a` to `z`, then `aa`, `ab`, ...
pub fn server_name(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'a' + (number % 26) as u8);
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    letters.reverse();
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::server_name;

    #[test]
    fn names_continue_after_z() {
        let names: Vec<String> = [0, 1, 25, 26, 27, 51, 52, 701, 702].map(server_name).into();
        assert_eq!(names, ["a", "b", "z", "aa", "ab", "az", "ba", "zz", "aaa"]);
    }
}
