//! The root's part of membership: who joins under which number, who is heard, and who is lost.
//!
//! Invariants, asserted after each step: a number is given once, and its name never changes; names of members are different;
//! a server that is lost stays lost; only a server that was silent for longer than the [limit](Limits::silence) while the root
//! was awake is declared silent; the version of the list grows with each change; the directory never begins anew with an
//! earlier start; of one name later starts alone are admitted, and what an earlier one says changes nothing.
//!
//! A server asks for the number of its start before it joins or comes back, and has it in all that it says of itself. So a
//! process that has been started after the end of another one has a greater number, whatever is on its way for how long.
//!
//! A list counts when it is durable: nobody may be told before ([`Roster::unkept`]).

use super::{Member, Members, MoveSetting};
use sdds::{ServerId, Timestamp};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The time limits of the root.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A server that sends no heartbeat for longer is silent. One that keeps no data is lost then.
    pub silence: Duration,
    /// A root that takes no event for longer was not awake: who was silent meanwhile may have spoken all the same. Awake, it
    /// takes its own heartbeats.
    pub standstill: Duration,
    /// How long a server that leaves waits until all others know.
    pub leave: Duration,
}

/// What has happened at the root. Servers send it; any of it may come late, twice, or not at all.
#[derive(Debug)]
pub enum Event<'a, L> {
    /// A new server wants to join. It asks again, as another start, when it hears nothing. Late, after a later start with its
    /// name, it is refused; repeated, it is told the same again.
    Join(Newcomer<'a>),
    /// A member has been started again with its data. It asks, as another start, until it is answered. Late or repeated, as
    /// [`Self::Join`].
    Return(Returning<'a>),
    /// The root itself has been started again with its data.
    Begin {
        /// The number of the start, which is durable.
        start: u64,
    },
    /// A server says that it is there, ten times a second. Late, its figures are old, and never too new. After a later start
    /// of the server it is refused: the one that says it has to end.
    Heartbeat(ServerId, Report<'a, L>),
    /// A server stops, and says whether it has no rows left. Late, it is lost already, or has been started again: then it
    /// stays.
    Leave {
        /// The server.
        server: ServerId,
        /// The number of its start.
        start: u64,
        /// Whether it has no rows.
        is_empty: bool,
    },
    /// A user changes the weight of a server; zero drains it.
    SetWeight {
        /// The name of the server.
        name: &'a str,
        /// Its share of each table, relative to the others.
        weight: u32,
    },
    /// A user changes a setting of moves.
    ChangeMoves(MoveSetting),
    /// The list is durable, with this version.
    Kept {
        /// The version.
        version: u64,
    },
    /// Some time has passed.
    Tick,
}

/// A server that wants to join.
#[derive(Debug, Clone, Copy)]
pub struct Newcomer<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its address for other servers.
    pub address: &'a str,
    /// Its share of each table, relative to the other servers.
    pub weight: u32,
    /// Whether it keeps its data over a restart.
    pub keeps_data: bool,
    /// The number of this start.
    pub start: u64,
    /// It will use no snapshot before this.
    pub oldest: Timestamp,
}

/// A member that has been started again.
#[derive(Debug, Clone, Copy)]
pub struct Returning<'a> {
    /// Its number.
    pub server: ServerId,
    /// Its name.
    pub name: &'a str,
    /// Its address for other servers.
    pub address: &'a str,
    /// Whether its data is of this cluster.
    pub is_ours: bool,
    /// The number of this start.
    pub start: u64,
    /// It will use no snapshot before this.
    pub oldest: Timestamp,
}

/// What a server says with a heartbeat.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a, L> {
    /// The number of its start.
    pub start: u64,
    /// No snapshot there is older, now or later.
    pub oldest: Timestamp,
    /// The version of its list of members.
    pub version: u64,
    /// Its address for PostgreSQL clients, once it has one.
    pub pg: Option<&'a str>,
    /// Whether it has rows.
    pub has_rows: bool,
    /// What it has, for the driver.
    pub load: L,
}

/// What is to be done, in this order. An event without [`Effect::Refuse`] has been obeyed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Tell the server that it is a member. What an earlier start of it held has ended.
    Admit {
        /// The server.
        server: ServerId,
        /// The number of its start.
        start: u64,
    },
    /// Tell the server once more that it is a member. Nothing has changed.
    AdmitAgain {
        /// The server.
        server: ServerId,
    },
    /// Begin the directory anew: all servers announce what they own.
    BeginDirectory {
        /// The number of the start that is the reason. It grows.
        start: u64,
    },
    /// Refuse the event. Nothing has changed.
    Refuse(Refusal),
    /// A server has been silent for too long. It is a member all the same: it keeps its data, and nobody waits for it.
    Silent(ServerId),
    /// A server has been silent for too long, and is lost with its rows.
    Evicted(ServerId),
    /// A server has left, or another one has taken its name.
    Gone {
        /// The server.
        server: ServerId,
        /// Whether it had no rows.
        is_empty: bool,
    },
}

/// Why an event is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Some servers would keep their data, and others would not: a power cut would leave part of the rows.
    OtherDurability {
        /// Whether the cluster keeps it.
        cluster_does: bool,
    },
    /// A member has the name, and is or may be there.
    NameTaken(String),
    /// A member has the name, and data.
    NameHasData(String),
    /// The data is of another cluster, or of a server that is lost.
    ForeignData(String),
    /// A later start of the server, or of another one with its name, has been admitted, or this one has ended.
    Overtaken(String),
    /// The server is no member, or not any more.
    NoMember(ServerId),
    /// No member has this name.
    NoName(String),
}

/// The root's list of members, and what it knows of each.
#[derive(Debug)]
pub struct Roster<L> {
    /// The root's server.
    here: ServerId,
    /// Whether the servers keep their data.
    keeps_data: bool,
    limits: Limits,
    list: Members,
    /// The version of the list that is durable.
    kept: u64,
    /// The servers whose heartbeats are awaited.
    heard: BTreeMap<ServerId, Heard<L>>,
    /// The servers that leave without rows.
    leaving: BTreeMap<ServerId, Leaving>,
    /// The start that the directory has begun with.
    generation: u64,
    /// When the last event was taken.
    awake: Duration,
}

/// The last heartbeat of a server, or that it is awaited.
#[derive(Debug)]
struct Heard<L> {
    at: Duration,
    oldest: Timestamp,
    /// The version of its list of members.
    version: u64,
    has_rows: bool,
    load: L,
}

/// A server that leaves.
#[derive(Debug)]
struct Leaving {
    /// The version of the list that says so.
    version: u64,
    until: Duration,
    /// Its weight, in case that it stays.
    weight: u32,
}

impl<L: Default> Roster<L> {
    /// The roster of a root that has been started at `now`, with the list that it has kept, or of itself alone. No snapshot
    /// of its own is before `oldest`. Any snapshot may be in use on another member until that is heard, or silent.
    pub fn new(
        now: Duration,
        here: ServerId,
        list: Members,
        oldest: Timestamp,
        keeps_data: bool,
        limits: Limits,
    ) -> Self {
        let (heard, leaving) = Default::default();
        let awake = now;
        let mut roster =
            Self { here, keeps_data, limits, list, kept: 0, heard, leaving, generation: 0, awake };
        let present: Vec<ServerId> = roster.list.present().map(|member| member.server).collect();
        for server in present {
            let oldest = if server == here { oldest } else { Timestamp::ZERO };
            roster.expect(now, server, oldest, 0);
        }
        assert!(roster.heard.contains_key(&here), "the root is a member");
        roster
    }

    /// The list of members.
    pub fn list(&self) -> &Members {
        &self.list
    }

    /// The list, if it is not durable yet. Lists have to be written in the order of their versions.
    pub fn unkept(&self) -> Option<&Members> {
        (self.list.version > self.kept).then_some(&self.list)
    }

    /// The number of the start that the directory has begun with; 0 if it has not begun anew.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The oldest snapshot that may be in use on a server that is there.
    pub fn horizon(&self) -> Option<Timestamp> {
        self.heard.values().map(|heard| heard.oldest).min()
    }

    /// What servers have that are there, by number.
    pub fn loads(&self) -> impl Iterator<Item = (ServerId, &L)> {
        self.heard.iter().map(|(server, heard)| (*server, &heard.load))
    }

    /// What a server has.
    pub fn load(&self, server: ServerId) -> Option<&L> {
        self.heard.get(&server).map(|heard| &heard.load)
    }

    /// Whether a server waits until all others know that it leaves.
    pub fn is_leaving(&self, server: ServerId) -> bool {
        self.leaving.contains_key(&server)
    }

    /// Takes an event at a time, and appends what is to be done.
    pub fn step(&mut self, now: Duration, event: Event<'_, L>, effects: &mut Vec<Effect>) {
        let (before, begun) = (Before::of(self), effects.len());
        self.wake(now);
        match event {
            Event::Join(newcomer) => self.join(now, newcomer, effects),
            Event::Return(returning) => self.take_back(now, returning, effects),
            Event::Begin { start } => self.begin_directory(start, effects),
            Event::Heartbeat(server, report) => self.hear(now, server, report, effects),
            Event::Leave { server, start, is_empty } => {
                self.leave(now, server, start, is_empty, effects);
            }
            Event::SetWeight { name, weight } => match self.list.named(name) {
                Some(member) => {
                    let server = member.server;
                    self.list.set_weight(server, weight);
                }
                None => effects.push(Effect::Refuse(Refusal::NoName(name.to_owned()))),
            },
            Event::ChangeMoves(change) => self.list.change_moves(change),
            // Of two lists that become durable at the same time the older one may be told last.
            Event::Kept { version } => self.kept = version.max(self.kept),
            Event::Tick => {}
        }
        self.end_silent(now, effects);
        self.end_leaving(now, effects);
        self.assert_step(&before, &effects[begun..]);
    }

    /// What was not heard while the root stood still does not count.
    fn wake(&mut self, now: Duration) {
        let still = now.saturating_sub(self.awake);
        if still > self.limits.standstill {
            self.heard.values_mut().for_each(|heard| heard.at += still);
        }
        self.awake = now.max(self.awake);
    }

    fn join(&mut self, now: Duration, newcomer: Newcomer<'_>, effects: &mut Vec<Effect>) {
        let Newcomer { name, address, weight, keeps_data, start, oldest } = newcomer;
        if keeps_data != self.keeps_data {
            let cluster_does = self.keeps_data;
            return effects.push(Effect::Refuse(Refusal::OtherDurability { cluster_does }));
        }
        // Also those that are lost.
        let started = self.list.list.iter().filter(|member| member.name == name);
        if let Some(newest) = started.max_by_key(|member| member.start)
            && let Some(known) = self.known_start(newest, start)
        {
            return effects.push(known);
        }
        let known = match self.list.named(name) {
            Some(known) => match self.readmit(now, known, address) {
                Ok(again) => Some((known.server, again)),
                Err(refusal) => return effects.push(Effect::Refuse(refusal)),
            },
            None => None,
        };
        let server = match known {
            Some((server, Again::Same)) => {
                self.restart(server, address, start);
                server
            }
            Some((server, Again::Another)) => {
                self.lose(server, effects);
                self.list.join(name, address, weight, keeps_data, start).server
            }
            None => self.list.join(name, address, weight, keeps_data, start).server,
        };
        self.admit(now, server, oldest, effects);
    }

    /// What becomes of a start that wants to be that of a member, unless it is later than the newest one there. Nothing
    /// changes.
    fn known_start(&self, newest: &Member, start: u64) -> Option<Effect> {
        let Member { server, name, is_lost, .. } = newest;
        match start.cmp(&newest.start) {
            Ordering::Greater => None,
            Ordering::Equal if !is_lost && *server != self.here => {
                Some(Effect::AdmitAgain { server: *server })
            }
            // Nobody waits for the answer.
            _ => Some(Effect::Refuse(Refusal::Overtaken(name.clone()))),
        }
    }

    /// Decides about a new server with the name of a member.
    fn readmit(&self, now: Duration, known: &Member, address: &str) -> Result<Again, Refusal> {
        let is_same = known.address == address && known.server != self.here;
        let is_silent =
            self.heard.get(&known.server).is_none_or(|heard| self.is_silent(now, heard));
        match (known.keeps_data, is_same) {
            (true, _) if known.has_started => Err(Refusal::NameHasData(known.name.clone())),
            // It has not heard that it is a member, or has ended since. Whether it has rows is not known: so the number stays.
            (true, true) => Ok(Again::Same),
            // It may have begun its work at the other address, and may be heard soon.
            (true, false) if is_silent && known.server != self.here => Ok(Again::Another),
            // Only one server can listen at an address: the known one has ended.
            (false, true) => Ok(Again::Another),
            (true | false, false) => Err(Refusal::NameTaken(known.name.clone())),
        }
    }

    fn take_back(&mut self, now: Duration, returning: Returning<'_>, effects: &mut Vec<Effect>) {
        let Returning { server, name, address, is_ours, start, oldest } = returning;
        let is_meant = |known: &&Member| known.keeps_data && !known.is_lost && known.name == name;
        let known = self.list.get(server).filter(is_meant);
        let Some(known) = known.filter(|_| is_ours && server != self.here) else {
            return effects.push(Effect::Refuse(Refusal::ForeignData(name.to_owned())));
        };
        if let Some(known) = self.known_start(known, start) {
            return effects.push(known);
        }
        self.restart(server, address, start);
        self.begin_directory(start, effects);
        self.admit(now, server, oldest, effects);
    }

    /// Notes another start of a member.
    fn restart(&mut self, server: ServerId, address: &str, start: u64) {
        // A start that left is over.
        if let Some(member) = self.list.get(server).filter(|member| member.has_left) {
            let weight = self.leaving.remove(&server).map_or(member.weight, |left| left.weight);
            self.list.set_left(server, false, weight);
        }
        self.list.restart(server, address, start);
    }

    fn admit(
        &mut self,
        now: Duration,
        server: ServerId,
        oldest: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let version = self.list.version;
        self.expect(now, server, oldest, version);
        let start = self.start_of(server);
        effects.push(Effect::Admit { server, start });
    }

    /// The number of the newest start of a member.
    fn start_of(&self, server: ServerId) -> u64 {
        self.list.get(server).map_or(0, |member| member.start)
    }

    /// Counts a server among those whose heartbeats are awaited. It uses no snapshot before `oldest`. Nor before that of the
    /// last heartbeat of an earlier start: others may still read what that has asked for.
    fn expect(&mut self, now: Duration, server: ServerId, oldest: Timestamp, version: u64) {
        let new = Heard { at: now, oldest, version, has_rows: false, load: L::default() };
        self.heard.entry(server).and_modify(|heard| heard.at = now).or_insert(new);
    }

    fn begin_directory(&mut self, start: u64, effects: &mut Vec<Effect>) {
        // Starts that are told their numbers at the same time may come in any order. Who has begun with the later one
        // announces nothing for the earlier one.
        if start > self.generation {
            self.generation = start;
            effects.push(Effect::BeginDirectory { start });
        }
    }

    fn hear(
        &mut self,
        now: Duration,
        server: ServerId,
        report: Report<'_, L>,
        effects: &mut Vec<Effect>,
    ) {
        let Report { start, oldest, version, pg, has_rows, load } = report;
        match self.list.get(server).filter(|member| !member.is_lost) {
            None => return effects.push(Effect::Refuse(Refusal::NoMember(server))),
            Some(member) if member.start != start => {
                let name = member.name.clone();
                return effects.push(Effect::Refuse(Refusal::Overtaken(name)));
            }
            Some(_) => {}
        }
        if let Some(pg) = pg {
            self.list.set_pg(server, pg);
        }
        self.list.set_started(server);
        self.heard.insert(server, Heard { at: now, oldest, version, has_rows, load });
    }

    /// An empty server stays until all others know that it leaves, so that they look for no rows there.
    fn leave(
        &mut self,
        now: Duration,
        server: ServerId,
        start: u64,
        is_empty: bool,
        effects: &mut Vec<Effect>,
    ) {
        let is_meant =
            |known: &&Member| !known.is_lost && known.start == start && server != self.here;
        let known = self.list.get(server).filter(is_meant);
        let Some(weight) = known.map(|known| known.weight) else { return };
        if !is_empty {
            self.list.set_left(server, false, weight);
            self.lose(server, effects);
        } else if !self.is_leaving(server) {
            self.list.set_left(server, true, 0);
            let (version, until) = (self.list.version, now + self.limits.leave);
            self.leaving.insert(server, Leaving { version, until, weight });
        }
    }

    fn end_leaving(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let heard = self.heard.values().map(|heard| heard.version).min().unwrap_or(0);
        let have_heard = |leaving: &Leaving| heard >= leaving.version || now >= leaving.until;
        let leaving = self.leaving.iter().filter(|(_, leaving)| have_heard(leaving));
        for server in leaving.map(|(server, _)| *server).collect::<Vec<_>>() {
            if self.heard.get(&server).is_some_and(|heard| heard.has_rows) {
                // Rows have arrived there meanwhile.
                self.list.set_left(server, false, 0);
            }
            self.lose(server, effects);
        }
    }

    /// Nobody waits for servers whose heartbeats are missing.
    fn end_silent(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let silent = self
            .heard
            .iter()
            .filter(|(server, heard)| **server != self.here && self.is_silent(now, heard));
        for server in silent.map(|(server, _)| *server).collect::<Vec<_>>() {
            if self.list.get(server).is_some_and(|member| member.keeps_data) {
                self.heard.remove(&server);
                effects.push(Effect::Silent(server));
            } else {
                self.forget(server);
                effects.push(Effect::Evicted(server));
            }
        }
    }

    fn is_silent(&self, now: Duration, heard: &Heard<L>) -> bool {
        now.saturating_sub(heard.at) > self.limits.silence
    }

    fn lose(&mut self, server: ServerId, effects: &mut Vec<Effect>) {
        self.forget(server);
        let is_empty = self.list.get(server).is_some_and(|member| member.has_left);
        effects.push(Effect::Gone { server, is_empty });
    }

    fn forget(&mut self, server: ServerId) {
        self.list.lose(server);
        self.heard.remove(&server);
        self.leaving.remove(&server);
    }

    fn assert_step(&self, before: &Before, effects: &[Effect]) {
        let after = Before::of(self);
        assert!(before.version <= after.version, "the version of the list grows");
        assert!(before.members <= after.members, "a number is given once");
        assert!(before.lost <= after.lost, "who is lost stays lost");
        let is_changed = (before.members, before.lost) != (after.members, after.lost);
        assert!(!is_changed || before.version < after.version, "a change has a version");
        assert!(before.generation <= after.generation, "the directory does not go back");
        assert!(before.kept <= after.kept, "what is durable stays so");
        assert!(self.kept <= self.list.version, "what is durable has been");
        let mut starts = before.starts.iter().zip(&after.starts);
        assert!(starts.all(|(before, after)| before <= after), "no earlier start is admitted");
        let is_present = |server: &ServerId| self.list.get(*server).is_some_and(|m| !m.is_lost);
        assert!(self.heard.keys().all(is_present), "only members are awaited");
        assert!(self.leaving.keys().all(is_present), "who leaves is still a member");
        assert!(self.heard.contains_key(&self.here), "the root is always there");
        if before.version < after.version {
            let names: BTreeSet<&str> = self.list.present().map(|m| m.name.as_str()).collect();
            assert_eq!(names.len(), self.list.present().count(), "names are different");
        }
        for effect in effects {
            match effect {
                Effect::Admit { server, start } => {
                    assert!(is_present(server), "it is a member");
                    let name = self.list.name_of(*server);
                    let same = self.list.list.iter().filter(|m| m.name == name);
                    let mut others = same.filter(|m| m.server != *server).map(|m| m.start);
                    assert!(others.all(|other| other < *start), "it is the newest of its name");
                    assert!(before.start_of(*server) < Some(*start), "a start is admitted once");
                }
                Effect::AdmitAgain { server } => {
                    assert!(is_present(server), "it is a member");
                    assert_eq!(before.start_of(*server), Some(self.start_of(*server)));
                }
                Effect::Silent(server) | Effect::Evicted(server) => {
                    assert!(*server != self.here, "the root hears itself");
                    assert!(!self.heard.contains_key(server), "nobody waits for it");
                }
                Effect::Gone { server, .. } => assert!(!is_present(server), "it is lost"),
                Effect::BeginDirectory { start } => {
                    assert!(*start > before.generation, "the directory begins anew, and later");
                }
                Effect::Refuse(_) => {}
            }
        }
    }
}

/// What becomes of a new server with the name of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// It is the member.
    Same,
    /// It takes the name, and the member is lost.
    Another,
}

/// What only grows.
struct Before {
    version: u64,
    members: usize,
    lost: usize,
    generation: u64,
    kept: u64,
    /// The start of each member.
    starts: Vec<u64>,
}

impl Before {
    fn of<L>(roster: &Roster<L>) -> Self {
        let Members { version, list, .. } = &roster.list;
        let lost = list.iter().filter(|member| member.is_lost).count();
        let starts = list.iter().map(|member| member.start).collect();
        let (generation, kept) = (roster.generation, roster.kept);
        Self { version: *version, members: list.len(), lost, generation, kept, starts }
    }

    /// The start of a member, if it was one.
    fn start_of(&self, server: ServerId) -> Option<u64> {
        self.starts.get(usize::try_from(server.0).ok()?).copied()
    }
}
