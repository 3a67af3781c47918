//! A root and servers that are started, killed and wiped, and a network that loses, repeats and delays messages.
//!
//! Checked after each event: a number belongs to one data directory; who was told that it is out is not taken back, also
//! after restarts of the root; a server is silent only after its time limit; what a server was told is known after a restart
//! of the root; no snapshot in use is behind the horizon. The state machines check the rest.

use protocols::membership::{
    Effect, Event, Known, Limits, Members, Misdirected, Newcomer, News, Report, Returning, Roster,
    Task,
};
use sdds::{ServerId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) const LIMITS: Limits = Limits {
    silence: Duration::from_secs(10),
    standstill: Duration::from_secs(1),
    leave: Duration::from_secs(1),
};

const ROOT: ServerId = ServerId(0);

/// How long a server waits for an answer.
const CALL: Duration = Duration::from_secs(5);

const PLACES: usize = 4;

/// A server that runs.
struct Process {
    number: u64,
    /// Its data directory, or itself if it keeps no data.
    identity: u64,
    name: &'static str,
    /// The call that it waits for, and since when.
    call: Option<(u64, Duration)>,
    /// Once it is admitted.
    known: Option<Known>,
    here: Option<ServerId>,
    oldest: u64,
    generation: u64,
}

/// What is kept at an address.
#[derive(Default)]
struct Place {
    /// The data directory there: its identity, and its number and name once it has joined.
    directory: Option<(u64, Option<(ServerId, &'static str)>)>,
    process: Option<Process>,
}

#[derive(Clone)]
enum Letter {
    Join { place: usize, process: u64, call: u64, name: &'static str },
    Return { place: usize, process: u64, call: u64, server: ServerId, name: &'static str },
    Heartbeat { place: usize, process: u64, server: ServerId, oldest: u64, version: u64 },
    Leave { server: ServerId, is_empty: bool },
    Admitted { place: usize, process: u64, call: u64, server: ServerId, list: Members, oldest: u64 },
    Refused { place: usize, process: u64, call: u64 },
    Beat { place: usize, process: u64, list: Members, generation: u64 },
    Out { place: usize, process: u64, server: ServerId },
}

pub(crate) struct World {
    dice: u64,
    seed: u64,
    keeps_data: bool,
    now: Duration,
    /// How long the root was awake.
    awake: Duration,
    roster: Roster<()>,
    /// Lists on their way to the disk, in order, and the one on it.
    writing: Vec<Members>,
    disk: Members,
    starts: u64,
    /// Starts whose numbers are on their way to the disk: they are obeyed in any order.
    counted: Vec<(u64, Letter)>,
    clock: u64,
    next: u64,
    places: Vec<Place>,
    network: Vec<Letter>,
    /// Answers that wait until a version is durable.
    unsent: Vec<(u64, Letter)>,
    owners: BTreeMap<ServerId, u64>,
    out: BTreeSet<ServerId>,
    /// The newest start of each server that was admitted.
    admitted: BTreeMap<ServerId, u64>,
    /// When the root has last heard a server, in time awake.
    heard: BTreeMap<ServerId, Duration>,
}

impl World {
    pub(crate) fn new(seed: u64, keeps_data: bool) -> Self {
        let mut list = Members::default();
        list.join("root".into(), "r:1".into(), 1, keeps_data);
        let now = Duration::ZERO;
        let roster = Roster::new(now, ROOT, list.clone(), Timestamp::ZERO, keeps_data, LIMITS);
        Self {
            dice: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            seed,
            keeps_data,
            now,
            awake: now,
            roster,
            writing: Vec::new(),
            disk: list,
            starts: 0,
            counted: Vec::new(),
            clock: 1,
            next: 1,
            places: (0..PLACES).map(|_| Place::default()).collect(),
            network: Vec::new(),
            unsent: Vec::new(),
            owners: BTreeMap::new(),
            out: BTreeSet::new(),
            admitted: BTreeMap::new(),
            heard: BTreeMap::new(),
        }
    }

    pub(crate) fn run(mut self) {
        for _ in 0..400 {
            let time = if self.one_in(150) { 20_000 } else { 400 };
            let passed = Duration::from_millis(self.below(time));
            self.now += passed;
            if passed <= LIMITS.standstill {
                self.awake += passed;
            }
            self.beat_of_root();
            self.happen();
            self.write();
            self.check();
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % bound
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// One thing happens.
    fn happen(&mut self) {
        let place = self.below(PLACES as u64) as usize;
        match self.below(100) {
            0..40 => self.deliver(),
            40..65 => self.beat(place),
            65..80 => self.start(place),
            80..84 => self.places[place].process = None,
            84..86 => {
                // Whoever wipes a directory has ended its process.
                self.places[place] = Place::default();
            }
            86..88 => self.leave(place),
            88..89 if self.keeps_data => self.restart_root(),
            88..94 => self.clock += 1,
            _ => {}
        }
    }

    fn start(&mut self, place: usize) {
        let (number, call, since) = (self.number(), self.number(), self.now);
        let name = ["one", "two", "three"][self.below(3) as usize];
        let is_waiting = |process: &Process| match process.call {
            Some((_, begun)) => since - begun > CALL,
            None => false,
        };
        let fresh = self.number();
        let Place { directory, process } = &mut self.places[place];
        if !self.keeps_data {
            *directory = None;
        }
        let known = directory.get_or_insert((if self.keeps_data { fresh } else { number }, None));
        let joined = known.1;
        let name = joined.map_or(name, |(_, name)| name);
        match process {
            Some(running) if is_waiting(running) => running.call = Some((call, since)),
            Some(_) => return,
            None => {
                let identity = known.0;
                *process = Some(Process {
                    number,
                    identity,
                    name,
                    call: Some((call, since)),
                    known: None,
                    here: None,
                    oldest: 0,
                    generation: 0,
                });
            }
        }
        let Some(Process { number: process, name, .. }) = *process else { return };
        self.network.push(match joined {
            Some((server, name)) => Letter::Return { place, process, call, server, name },
            None => Letter::Join { place, process, call, name },
        });
    }

    fn beat(&mut self, place: usize) {
        let is_newer = self.one_in(3);
        let clock = self.clock;
        let Some(process) = &mut self.places[place].process else { return };
        let (Some(known), Some(server)) = (&process.known, process.here) else { return };
        if is_newer {
            process.oldest = clock.min(process.oldest + 1);
        }
        let (oldest, version) = (process.oldest, known.list().version);
        let process = process.number;
        self.network.push(Letter::Heartbeat { place, process, server, oldest, version });
    }

    fn leave(&mut self, place: usize) {
        let is_empty = !self.one_in(3);
        let Some(server) = self.places[place].process.as_ref().and_then(|one| one.here) else {
            return;
        };
        self.network.push(Letter::Leave { server, is_empty });
        self.places[place].process = None;
    }

    fn restart_root(&mut self) {
        self.starts += 1;
        self.writing.clear();
        self.counted.clear();
        self.unsent.clear();
        let list = self.disk.clone();
        let oldest = Timestamp(self.clock);
        self.roster = Roster::new(self.now, ROOT, list, oldest, true, LIMITS);
        let present: Vec<ServerId> = self.roster.loads().map(|(server, _)| server).collect();
        self.heard = present.into_iter().map(|server| (server, self.awake)).collect();
        self.step(Event::Begin { start: self.starts });
    }

    fn beat_of_root(&mut self) {
        let (oldest, version) = (Timestamp(self.clock), self.roster.list().version);
        let report = Report { oldest, version, pg: None, has_rows: true, load: () };
        self.step(Event::Heartbeat(ROOT, report));
    }

    /// A message arrives, or is lost, or arrives and comes again later.
    fn deliver(&mut self) {
        if self.network.is_empty() {
            return;
        }
        // The oldest ones first, mostly: others are late.
        let bound = if self.one_in(4) { self.network.len() } else { self.network.len().min(3) };
        let at = self.below(bound as u64) as usize;
        let letter = match self.below(10) {
            0 => self.network[at].clone(),
            1 => {
                self.network.remove(at);
                return;
            }
            _ => self.network.remove(at),
        };
        self.receive(letter);
    }

    fn receive(&mut self, letter: Letter) {
        match letter {
            letter @ (Letter::Join { .. } | Letter::Return { .. }) => {
                self.starts += u64::from(self.keeps_data);
                self.counted.push((self.starts, letter));
            }
            Letter::Heartbeat { place, process, server, oldest, version } => {
                let oldest = Timestamp(oldest);
                let report = Report { oldest, version, pg: None, has_rows: false, load: () };
                let effects = self.step(Event::Heartbeat(server, report));
                let list = self.roster.list().clone();
                let generation = self.roster.generation();
                let letter = match effects.iter().any(|e| matches!(e, Effect::Refuse(_))) {
                    true => Letter::Out { place, process, server },
                    false => {
                        self.heard.insert(server, self.awake);
                        Letter::Beat { place, process, list, generation }
                    }
                };
                self.unsent.push((self.roster.list().version, letter));
            }
            Letter::Leave { server, is_empty } => {
                self.step(Event::Leave { server, is_empty });
            }
            Letter::Admitted { place, process, call, server, list, oldest } => {
                self.admitted(place, process, call, server, list, oldest);
            }
            Letter::Refused { place, process, call } => {
                let waits = |one: &Process| one.call.is_some_and(|(waiting, _)| waiting == call);
                let running = &mut self.places[place].process;
                if running.as_ref().is_some_and(|one| one.number == process && waits(one)) {
                    *running = None;
                }
            }
            Letter::Beat { place, process, list, generation } => {
                let Some(running) = self.process(place, process) else { return };
                let Some(known) = &mut running.known else { return };
                known.step(News::List(list));
                if let Some(Task::Announce { start }) = known.step(News::Generation(generation)) {
                    assert!(start > running.generation, "the directory begins anew, and later");
                    running.generation = start;
                }
            }
            Letter::Out { place, process, server } => {
                self.out.insert(server);
                let Some(running) = self.process(place, process) else { return };
                let Some(known) = &mut running.known else { return };
                known.step(News::Out);
                assert_eq!(known.admits(None, running.here), Err(Misdirected::Out));
            }
        }
    }

    /// The number of a start is durable.
    fn admit(&mut self, start: u64, letter: Letter) {
        let (keeps_data, oldest, weight) = (self.keeps_data, Timestamp(self.clock), 1);
        match letter {
            Letter::Join { place, process, call, name } => {
                let address = &*format!("a:{place}");
                let newcomer = Newcomer { name, address, weight, keeps_data, start, oldest };
                let effects = self.step(Event::Join(newcomer));
                self.answer(effects, place, process, call);
            }
            Letter::Return { place, process, call, server, name } => {
                let (address, is_ours) = (&*format!("a:{place}"), true);
                let returning = Returning { server, name, address, is_ours, start, oldest };
                let effects = self.step(Event::Return(returning));
                self.answer(effects, place, process, call);
            }
            _ => panic!("nothing else starts"),
        }
    }

    fn process(&mut self, place: usize, number: u64) -> Option<&mut Process> {
        self.places[place].process.as_mut().filter(|process| process.number == number)
    }

    /// Answers a server that joins or comes back.
    fn answer(&mut self, effects: Vec<Effect>, place: usize, process: u64, call: u64) {
        let admitted = effects.iter().find_map(|effect| match effect {
            Effect::Admit { server, start } => Some((*server, *start)),
            _ => None,
        });
        let list = self.roster.list().clone();
        let version = list.version;
        let oldest = self.clock;
        let letter = match admitted {
            Some((server, start)) => {
                self.heard.insert(server, self.awake);
                let last = self.admitted.insert(server, start);
                assert!(last <= Some(start), "seed {}: an earlier start of {server}", self.seed);
                assert!(!self.out.contains(&server), "seed {}: {server} is out", self.seed);
                Letter::Admitted { place, process, call, server, list, oldest }
            }
            None => Letter::Refused { place, process, call },
        };
        self.unsent.push((version, letter));
    }

    fn admitted(
        &mut self,
        place: usize,
        process: u64,
        call: u64,
        server: ServerId,
        list: Members,
        oldest: u64,
    ) {
        let now = self.now;
        let Some(running) = self.process(place, process) else { return };
        if !running.call.is_some_and(|(waits, since)| waits == call && now - since <= CALL) {
            return;
        }
        running.call = None;
        running.here = Some(server);
        running.oldest = oldest;
        running.known = Some(Known::new(server, list));
        let (identity, name) = (running.identity, running.name);
        self.places[place].directory = Some((identity, Some((server, name))));
        let before = self.owners.insert(server, identity);
        let exists = |identity: u64| {
            self.places.iter().any(|place| place.directory.is_some_and(|kept| kept.0 == identity))
        };
        let is_taken = before.is_some_and(|before| before != identity && exists(before));
        assert!(!is_taken, "seed {}: {server} belongs to two servers", self.seed);
    }

    fn step(&mut self, event: Event<'_, ()>) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.roster.step(self.now, event, &mut effects);
        for effect in &effects {
            if let Effect::Silent(server) | Effect::Evicted(server) = effect {
                let silence = self.awake - self.heard[server];
                let seed = self.seed;
                assert!(silence > LIMITS.silence, "seed {seed}: {server}, {silence:?}");
            }
        }
        effects
    }

    /// Lists go to the disk in order, and answers that they allow to the network.
    fn write(&mut self) {
        while !self.counted.is_empty() && !self.one_in(3) {
            let at = self.below(self.counted.len() as u64) as usize;
            let (start, letter) = self.counted.remove(at);
            self.admit(start, letter);
        }
        let asked = self.writing.last().map_or(self.disk.version, |last| last.version);
        if let Some(list) = self.roster.unkept().filter(|list| list.version > asked) {
            self.writing.push(list.clone());
        }
        if !self.writing.is_empty() && self.one_in(2) {
            let done = 1 + self.below(self.writing.len() as u64) as usize;
            self.disk = self.writing.drain(..done).next_back().expect("one at least");
            self.step(Event::Kept { version: self.disk.version });
        }
        let durable = self.disk.version;
        let (sent, unsent) = std::mem::take(&mut self.unsent)
            .into_iter()
            .partition::<Vec<_>, _>(|(version, _)| *version <= durable);
        self.unsent = unsent;
        self.network.extend(sent.into_iter().map(|(_, letter)| letter));
    }

    fn check(&self) {
        let horizon = self.roster.horizon().expect("the root is there").0;
        for process in self.places.iter().filter_map(|place| place.process.as_ref()) {
            let Some(server) = process.here else { continue };
            let member = self.roster.list().get(server);
            let name = member.map(|member| member.name.as_str());
            assert_eq!(name, Some(process.name), "seed {}: {server} is known", self.seed);
            if self.roster.load(server).is_some() {
                let oldest = process.oldest;
                assert!(horizon <= oldest, "seed {}: {server}, {horizon} {oldest}", self.seed);
            }
        }
    }
}
