//! A root and servers that are started, killed and wiped, and a network that loses, repeats and delays messages.
//!
//! Checked after each event: a number belongs to one data directory; who was told that it is out is not taken back, also
//! after restarts of the root; a server is silent only after its time limit; what a server was told is known after a restart
//! of the root; no snapshot in use is behind the horizon; nothing that an earlier start has sent, or that was delivered before,
//! is obeyed, and a server that runs is lost only by its silence or a later start. The state machines check the rest.

use protocols::membership::{
    Effect, Event, Known, Limits, Members, Misdirected, Newcomer, News, Refusal, Report, Returning,
    Roster, Task,
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
    /// The number of its start, once it is told.
    start: Option<u64>,
    /// Once it is admitted.
    known: Option<Known>,
    here: Option<ServerId>,
    oldest: u64,
    generation: u64,
}

impl Process {
    /// Its number and that of its start, once it is admitted.
    fn place(&self) -> Option<(ServerId, u64)> {
        Some((self.here?, self.start?))
    }
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
    Start(Call),
    Told { call: Call, start: u64 },
    Join { call: Call, start: u64, name: &'static str },
    Return { call: Call, start: u64, server: ServerId, name: &'static str },
    Heartbeat { call: Call, start: u64, server: ServerId, oldest: u64, version: u64 },
    Leave { server: ServerId, start: u64, is_empty: bool },
    Admitted { call: Call, server: ServerId, list: Members, oldest: u64 },
    Refused(Call),
    Beat { call: Call, list: Members, generation: u64 },
    Out(Call),
}

/// A call of a process at a place. A heartbeat is none that it waits for.
#[derive(Clone, Copy)]
struct Call {
    place: usize,
    process: u64,
    number: u64,
}

/// How often rare things have happened.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// A start was admitted again.
    pub(crate) repeated: u32,
    /// What wanted to join or to come back was overtaken.
    pub(crate) overtaken: u32,
    /// A heartbeat of an earlier start came late.
    pub(crate) late_heartbeats: u32,
    /// The end of an earlier start came late.
    pub(crate) late_ends: u32,
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
    /// Starts whose numbers are on their way to the disk: they are told in any order.
    counted: Vec<(u64, Call)>,
    clock: u64,
    next: u64,
    places: Vec<Place>,
    network: Vec<Letter>,
    /// What arrives long after it was sent.
    late: Vec<Letter>,
    /// Answers that wait until a version is durable.
    unsent: Vec<(u64, Letter)>,
    owners: BTreeMap<ServerId, u64>,
    out: BTreeSet<ServerId>,
    /// The newest start of each server that was admitted, unless the root has forgotten it before anybody was told.
    admitted: BTreeMap<ServerId, u64>,
    reached: Reached,
    /// When the root has last heard a server, in time awake.
    heard: BTreeMap<ServerId, Duration>,
}

impl World {
    pub(crate) fn new(seed: u64, keeps_data: bool) -> Self {
        let mut list = Members::default();
        list.join("root", "r:1", 1, keeps_data, 1);
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
            starts: 1,
            counted: Vec::new(),
            clock: 1,
            next: 1,
            places: (0..PLACES).map(|_| Place::default()).collect(),
            network: Vec::new(),
            late: Vec::new(),
            unsent: Vec::new(),
            owners: BTreeMap::new(),
            out: BTreeSet::new(),
            admitted: BTreeMap::new(),
            reached: Reached::default(),
            heard: BTreeMap::new(),
        }
    }

    pub(crate) fn run(mut self, reached: &mut Reached) {
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
        reached.repeated += self.reached.repeated;
        reached.overtaken += self.reached.overtaken;
        reached.late_heartbeats += self.reached.late_heartbeats;
        reached.late_ends += self.reached.late_ends;
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
            94..98 => self.deliver_late(),
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
        let name = known.1.map_or(name, |(_, name)| name);
        match process {
            Some(running) if is_waiting(running) => {
                (running.call, running.start) = (Some((call, since)), None);
            }
            Some(_) => return,
            None => {
                let identity = known.0;
                *process = Some(Process {
                    number,
                    identity,
                    name,
                    call: Some((call, since)),
                    start: None,
                    known: None,
                    here: None,
                    oldest: 0,
                    generation: 0,
                });
            }
        }
        let Some(Process { number: process, .. }) = *process else { return };
        self.network.push(Letter::Start(Call { place, process, number: call }));
    }

    /// A process is told the number of its start.
    fn told(&mut self, call: Call, start: u64) {
        let joined = self.places[call.place].directory.and_then(|(_, joined)| joined);
        let Some(running) = self.waiting(call).filter(|running| running.start.is_none()) else {
            return;
        };
        running.start = Some(start);
        let name = running.name;
        self.send(match joined {
            Some((server, name)) => Letter::Return { call, start, server, name },
            None => Letter::Join { call, start, name },
        });
    }

    fn beat(&mut self, place: usize) {
        let is_newer = self.one_in(3);
        let clock = self.clock;
        let Some(process) = &mut self.places[place].process else { return };
        let (Some(known), Some((server, start))) = (&process.known, process.place()) else {
            return;
        };
        if is_newer {
            process.oldest = clock.min(process.oldest + 1);
        }
        let (oldest, version) = (process.oldest, known.list().version);
        let call = Call { place, process: process.number, number: 0 };
        self.send(Letter::Heartbeat { call, start, server, oldest, version });
    }

    fn leave(&mut self, place: usize) {
        let is_empty = !self.one_in(3);
        let process = self.places[place].process.as_ref();
        let Some((server, start)) = process.and_then(Process::place) else { return };
        self.send(Letter::Leave { server, start, is_empty });
        self.places[place].process = None;
    }

    fn restart_root(&mut self) {
        self.starts += 1;
        self.writing.clear();
        self.counted.clear();
        self.unsent.clear();
        let mut list = self.disk.clone();
        self.admitted = list.list.iter().map(|member| (member.server, member.start)).collect();
        list.restart(ROOT, "r:1", self.starts);
        let oldest = Timestamp(self.clock);
        self.roster = Roster::new(self.now, ROOT, list, oldest, true, LIMITS);
        let present: Vec<ServerId> = self.roster.loads().map(|(server, _)| server).collect();
        self.heard = present.into_iter().map(|server| (server, self.awake)).collect();
        self.step(Event::Begin { start: self.starts });
    }

    fn beat_of_root(&mut self) {
        let (oldest, version) = (Timestamp(self.clock), self.roster.list().version);
        let start = self.roster.list().get(ROOT).expect("a member").start;
        let report = Report { start, oldest, version, pg: None, has_rows: true, load: () };
        self.step(Event::Heartbeat(ROOT, report));
    }

    /// A process sends a message to the root, which may arrive long afterwards, too.
    fn send(&mut self, letter: Letter) {
        if self.one_in(6) {
            self.late.push(letter.clone());
        }
        self.network.push(letter);
    }

    fn deliver_late(&mut self) {
        if !self.late.is_empty() {
            let at = self.below(self.late.len() as u64) as usize;
            let letter = self.late.swap_remove(at);
            self.receive(letter);
        }
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
            Letter::Start(call) => {
                self.starts += 1;
                self.counted.push((self.starts, call));
            }
            Letter::Told { call, start } => self.told(call, start),
            Letter::Join { call, start, name } => self.join(call, start, name),
            Letter::Return { call, start, server, name } => {
                self.come_back(call, start, server, name);
            }
            Letter::Heartbeat { call, start, server, oldest, version } => {
                let oldest = Timestamp(oldest);
                let report = Report { start, oldest, version, pg: None, has_rows: false, load: () };
                let effects = self.step(Event::Heartbeat(server, report));
                let letter = self.heard(call, start, server, &effects);
                self.unsent.push((self.roster.list().version, letter));
            }
            Letter::Leave { server, start, is_empty } => {
                self.reached.late_ends += u32::from(self.admitted.get(&server) > Some(&start));
                self.step(Event::Leave { server, start, is_empty });
            }
            Letter::Admitted { call, server, list, oldest } => {
                self.admitted(call, server, list, oldest);
            }
            Letter::Refused(call) => {
                let waits =
                    |one: &Process| one.call.is_some_and(|(waiting, _)| waiting == call.number);
                let running = &mut self.places[call.place].process;
                if running.as_ref().is_some_and(|one| one.number == call.process && waits(one)) {
                    *running = None;
                }
            }
            Letter::Beat { call, list, generation } => {
                let Some(running) = self.process(call) else { return };
                let Some(known) = &mut running.known else { return };
                known.step(News::List(list));
                if let Some(Task::Announce { start }) = known.step(News::Generation(generation)) {
                    assert!(start > running.generation, "the directory begins anew, and later");
                    running.generation = start;
                }
            }
            Letter::Out(call) => {
                let Some(running) = self.process(call) else { return };
                let Some(known) = &mut running.known else { return };
                known.step(News::Out);
                assert_eq!(known.admits(None, running.here), Err(Misdirected::Out));
            }
        }
    }

    fn join(&mut self, call: Call, start: u64, name: &'static str) {
        let (keeps_data, oldest, weight) = (self.keeps_data, Timestamp(self.clock), 1);
        let address = &*format!("a:{}", call.place);
        let newcomer = Newcomer { name, address, weight, keeps_data, start, oldest };
        let effects = self.step(Event::Join(newcomer));
        self.answer(&effects, call, start);
    }

    fn come_back(&mut self, call: Call, start: u64, server: ServerId, name: &'static str) {
        let (address, is_ours, oldest) =
            (&*format!("a:{}", call.place), true, Timestamp(self.clock));
        let returning = Returning { server, name, address, is_ours, start, oldest };
        let effects = self.step(Event::Return(returning));
        self.answer(&effects, call, start);
    }

    fn process(&mut self, call: Call) -> Option<&mut Process> {
        let process = self.places[call.place].process.as_mut();
        process.filter(|process| process.number == call.process)
    }

    /// The process that waits for a call.
    fn waiting(&mut self, call: Call) -> Option<&mut Process> {
        let now = self.now;
        let is_waiting = |(number, since)| number == call.number && now - since <= CALL;
        self.process(call).filter(|process| process.call.is_some_and(is_waiting))
    }

    /// Answers a heartbeat.
    fn heard(&mut self, call: Call, start: u64, server: ServerId, effects: &[Effect]) -> Letter {
        let (list, generation) = (self.roster.list().clone(), self.roster.generation());
        let newest = self.admitted.get(&server).copied();
        let refusal = effects.iter().find_map(|effect| match effect {
            Effect::Refuse(refusal) => Some(refusal),
            _ => None,
        });
        match refusal {
            None => {
                let seed = self.seed;
                assert_eq!(Some(start), newest, "seed {seed}: an earlier start of {server}");
                self.heard.insert(server, self.awake);
                Letter::Beat { call, list, generation }
            }
            Some(Refusal::Overtaken(_)) => {
                assert!(Some(start) < newest, "seed {}: {server} is the newest", self.seed);
                self.reached.late_heartbeats += 1;
                Letter::Out(call)
            }
            Some(_) => {
                self.out.insert(server);
                Letter::Out(call)
            }
        }
    }

    /// Answers a server that joins or comes back.
    fn answer(&mut self, effects: &[Effect], call: Call, start: u64) {
        let seed = self.seed;
        let list = self.roster.list().clone();
        let (version, oldest) = (list.version, self.clock);
        let admitted = effects.iter().find_map(|effect| match effect {
            Effect::Admit { server, .. } => Some((*server, true)),
            Effect::AdmitAgain { server } => Some((*server, false)),
            Effect::Refuse(Refusal::Overtaken(_)) => {
                self.reached.overtaken += 1;
                None
            }
            _ => None,
        });
        let letter = match admitted {
            Some((server, is_new)) => {
                let last = self.admitted.insert(server, start);
                assert!(!self.out.contains(&server), "seed {seed}: {server} is out");
                if is_new {
                    self.heard.insert(server, self.awake);
                    assert!(last < Some(start), "seed {seed}: an earlier start of {server}");
                } else {
                    self.reached.repeated += 1;
                    assert!(last == Some(start), "seed {seed}: another start of {server}");
                }
                Letter::Admitted { call, server, list, oldest }
            }
            None => Letter::Refused(call),
        };
        self.unsent.push((version, letter));
    }

    fn admitted(&mut self, call: Call, server: ServerId, list: Members, oldest: u64) {
        let place = call.place;
        let Some(running) = self.waiting(call) else { return };
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
        let cause = match &event {
            Event::Join(newcomer) => newcomer.start,
            _ => 0,
        };
        self.roster.step(self.now, event, &mut effects);
        for effect in &effects {
            let seed = self.seed;
            match effect {
                Effect::Silent(server) | Effect::Evicted(server) => {
                    let silence = self.awake - self.heard[server];
                    assert!(silence > LIMITS.silence, "seed {seed}: {server}, {silence:?}");
                }
                Effect::Gone { server, .. } => {
                    let mut running = self.running().filter_map(Process::place);
                    let lost = running.find(|(here, _)| here == server);
                    let is_overtaken = lost.is_none_or(|(_, start)| start < cause);
                    assert!(is_overtaken, "seed {seed}: {server} runs, and is lost");
                }
                _ => {}
            }
        }
        effects
    }

    fn running(&self) -> impl Iterator<Item = &Process> {
        self.places.iter().filter_map(|place| place.process.as_ref())
    }

    /// Lists go to the disk in order, and answers that they allow to the network.
    fn write(&mut self) {
        while !self.counted.is_empty() && !self.one_in(3) {
            let at = self.below(self.counted.len() as u64) as usize;
            let (start, call) = self.counted.remove(at);
            self.network.push(Letter::Told { call, start });
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
        let seed = self.seed;
        for process in self.running() {
            let Some((server, start)) = process.place() else { continue };
            let Some(member) = self.roster.list().get(server) else {
                panic!("seed {seed}: {server} is known")
            };
            assert_eq!(member.name, process.name, "seed {seed}: {server} is known");
            assert!(member.start >= start, "seed {seed}: {server} was told {start}");
            let has_left = member.has_left && member.start == start;
            assert!(!has_left, "seed {seed}: {server} runs, and has left");
            if self.roster.load(server).is_some() {
                let oldest = process.oldest;
                assert!(horizon <= oldest, "seed {seed}: {server}, {horizon} {oldest}");
            }
        }
    }
}
