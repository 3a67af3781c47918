//! Servers that join, come back and leave: what the list of members decides ([`Roster`]) is done here.

use super::Root;
use crate::membership::{EVICTED, Member, Members, evicted};
use crate::timeouts::TIMEOUTS;
use messages::{Reply, RootAnswer, ServerLoad, invalid_message};
use protocols::membership::{Effect, Event, Newcomer, Refusal, Returning, Roster};
use protocols::routing as directory;
use sdds::{ServerId, Timestamp};
use store::Error;
use store::catalog::Catalog;

/// A server that has been admitted.
struct Admitted {
    member: Member,
    members: Members,
    /// It sees every commit that the server does not take part in.
    timestamp: Timestamp,
}

impl Root {
    /// Adds a server. Transactions that change the catalog without it are refused from now on, so
    /// the catalog that it receives stays valid.
    pub(super) async fn join(
        &self,
        start: u64,
        name: &str,
        address: &str,
        weight: u32,
        keeps_data: bool,
    ) -> Reply<RootAnswer> {
        self.require_told(start)?;
        let Admitted { member, members, timestamp } = self.admit(|oldest| {
            Event::Join(Newcomer { name, address, weight, keeps_data, start, oldest })
        })?;
        let snapshot = self.store.snapshot_at(timestamp).await;
        let catalog = Box::new(snapshot.catalog().shared());
        let cluster = self.store.data_id();
        tracing::info!(server = name, number = member.server.0, address, "a server has joined");
        Ok(RootAnswer::Joined { member, members, catalog, timestamp, cluster })
    }

    /// Takes back a member that has been started again with its data.
    pub(super) fn take_back(
        &self,
        start: u64,
        server: ServerId,
        name: &str,
        address: &str,
        cluster: u64,
    ) -> Reply<RootAnswer> {
        self.require_told(start)?;
        let is_ours = self.store.data_id() == Some(cluster);
        let Admitted { member, members, timestamp } = self.admit(|oldest| {
            Event::Return(Returning { server, name, address, is_ours, start, oldest })
        })?;
        tracing::info!(server = name, number = server.0, address, "a server has come back");
        let catalog = Box::new(Catalog::new());
        let cluster = Some(cluster);
        Ok(RootAnswer::Joined { member, members, catalog, timestamp, cluster })
    }

    /// Refuses a number that this root has not told anybody: it would be later than those that come.
    fn require_told(&self, start: u64) -> Result<(), Error> {
        if start <= *self.starts.lock() {
            return Ok(());
        }
        Err(invalid_message(&format!("the root has told no server the start {start}")))
    }

    fn admit<'a>(
        &self,
        event: impl FnOnce(Timestamp) -> Event<'a, ServerLoad>,
    ) -> Result<Admitted, Error> {
        let mut roster = self.roster.lock();
        let event = event(self.now());
        let admitted = self.obey(&mut roster, event)?;
        let member = admitted.and_then(|server| roster.list().get(server));
        let Some(member) = member.cloned() else { panic!("who is not refused is admitted") };
        // After the list has changed: what was decided before without the server is in the catalog that it gets.
        let timestamp = self.now();
        Ok(Admitted { member, members: roster.list().clone(), timestamp })
    }

    /// Begins the directory anew after a start of the root: all servers announce what they own.
    pub(crate) fn begin(&self, start: u64) {
        let begun = self.change(Event::Begin { start });
        assert!(begun.is_ok(), "the root does not refuse its own start");
    }

    /// Removes a server that leaves. An empty server stays until all others know that it leaves.
    pub(super) async fn leave(
        &self,
        server: ServerId,
        start: u64,
        is_empty: bool,
    ) -> Result<(), Error> {
        self.change(Event::Leave { server, start, is_empty })?;
        while self.roster.lock().is_leaving(server) {
            self.tasks.sleep(TIMEOUTS.leave / 100).await;
            self.change(Event::Tick)?;
        }
        Ok(())
    }

    /// Takes an event at the list of members.
    ///
    /// # Errors
    /// Why it is refused.
    pub(super) fn change(&self, event: Event<'_, ServerLoad>) -> Result<(), Error> {
        self.obey(&mut self.roster.lock(), event).map(drop)
    }

    /// Takes an event, and does what it leads to while the list is locked: in the order of events. Returns the server that
    /// is admitted.
    pub(super) fn obey(
        &self,
        roster: &mut Roster<ServerLoad>,
        event: Event<'_, ServerLoad>,
    ) -> Result<Option<ServerId>, Error> {
        let mut effects = Vec::new();
        roster.step(self.time(), event, &mut effects);
        let members = roster.list();
        if members.version > self.membership.list().version {
            self.membership.learn(members.clone());
        }
        let (mut admitted, mut refusal) = (None, None);
        for effect in effects {
            match effect {
                Effect::Admit { server, start } => {
                    self.forget_numbers(server, start);
                    let group = members.group_of(server);
                    self.files.all().iter().for_each(|file| file.join(group));
                    admitted = Some(server);
                }
                Effect::AdmitAgain { server } => admitted = Some(server),
                Effect::BeginDirectory { start } => {
                    for file in self.files.all() {
                        let outbox = file.change(directory::Event::Begin { start });
                        assert!(outbox.is_empty(), "the root begins with what it owns");
                        let present = members.present();
                        present.for_each(|member| file.join(members.group_of(member.server)));
                    }
                }
                Effect::Refuse(refused) => refusal = Some(refused),
                Effect::Silent(server) => {
                    tracing::error!(number = server.0, "a server sends no heartbeats");
                }
                Effect::Evicted(server) => {
                    tracing::error!(number = server.0, "evicted a server that sent no heartbeats");
                }
                Effect::Gone { server, is_empty } => {
                    tracing::info!(number = server.0, is_empty, "a server has left");
                }
            }
        }
        match refusal {
            Some(refusal) => Err(error_of(refusal, members)),
            None => Ok(admitted),
        }
    }
}

/// What a server or a user is told.
fn error_of(refusal: Refusal, members: &Members) -> Error {
    let (sql_state, message, hint) = match refusal {
        Refusal::OtherDurability { cluster_does: true } => (
            "55000",
            "the servers of this cluster keep their data, and this one does not".into(),
            "Start it with --data DIRECTORY.".into(),
        ),
        Refusal::OtherDurability { cluster_does: false } => (
            "55000",
            "the servers of this cluster do not keep their data, and this one does".into(),
            "Start it without --data, or the first server with it.".into(),
        ),
        Refusal::NameTaken(name) => (
            "42710",
            format!("server \"{name}\" is already a member of the cluster"),
            "Give every server its own name (--name).".into(),
        ),
        Refusal::NameHasData(name) => (
            "42710",
            format!("server \"{name}\" is a member of the cluster and has data"),
            "Start it with its --data directory. If that is lost, its rows are: join with another --name.".into(),
        ),
        Refusal::ForeignData(name) => (
            "55000",
            format!("the data directory of server \"{name}\" is not of this cluster"),
            "Start it with the --join and the --name that it had before.".into(),
        ),
        Refusal::Overtaken(name) => (
            EVICTED,
            format!("server \"{name}\" has been started again since"),
            "Run it once.".into(),
        ),
        Refusal::NoMember(server) => return evicted(&members.name_of(server)),
        Refusal::NoName(name) => {
            let names: Vec<&str> = members.present().map(|member| member.name.as_str()).collect();
            (
                "42704",
                format!("server \"{name}\" does not exist"),
                format!("The servers are {}.", names.join(", ")),
            )
        }
    };
    Error::Remote { sql_state: sql_state.into(), message, detail: None, hint: Some(hint) }
}
