//! Servers with the file of one table, a network, and moves of keys between them.

use protocols::routing::{Delivery, Effect, Event, Fate, File, Next, Place};
use sdds::directory::{Content, Level, Message, Settings};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange};
use std::time::Duration;

const SERVERS: usize = 5;
const ROOT: usize = 0;
const CELLS: u8 = 48;

/// Pages split often.
pub(crate) const SETTINGS: Settings = Settings { page_entries: 4, forwards_max: 16 };

const PAUSE: Duration = Duration::from_millis(10);

pub(crate) fn bound(cell: u8) -> Bound {
    match cell {
        0 => Bound::NegInf,
        CELLS => Bound::PosInf,
        cell => Bound::At(Key::from(&[cell][..])),
    }
}

pub(crate) fn range(low: u8, high: u8) -> KeyRange {
    KeyRange { low: bound(low), high: bound(high) }
}

/// A key within a cell.
fn key(cell: u8) -> Key {
    Key::from(&[cell, 1][..])
}

struct Server {
    file: File,
    /// The number of its start.
    incarnation: u64,
    /// The start that it has been told.
    told: u64,
    is_up: bool,
    /// What its image has said of each cell.
    images: Vec<Epoch>,
}

/// A message of the directory that its sender waits for.
struct Letter {
    from: usize,
    incarnation: u64,
    to: usize,
    message: Message<()>,
    delivery: Delivery,
    /// Whether it has been sent before, and may have arrived.
    may_have_arrived: bool,
}

/// A move of keys, whose source has frozen them.
struct Move {
    from: usize,
    incarnation: u64,
    to: usize,
    to_incarnation: u64,
    low: u8,
    high: u8,
    adopt: Message<()>,
    is_adopted: bool,
}

pub(crate) struct World {
    dice: u64,
    seed: u64,
    servers: Vec<Server>,
    starts: u64,
    network: Vec<Letter>,
    /// Messages that arrive although their senders do not wait for them any more.
    late: Vec<(usize, Message<()>)>,
    moves: Vec<Move>,
    /// The owner of each cell by what servers keep; `None` while it is frozen.
    owners: Vec<Option<usize>>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let home = 1 + (seed as usize % (SERVERS - 1));
        let groups: Vec<GroupId> = (0..SERVERS as u64).map(GroupId).collect();
        let server = |number: usize| Server {
            file: File::open(place(number, home), &groups, SETTINGS),
            incarnation: 0,
            told: 0,
            is_up: true,
            images: vec![Epoch::GUESS; CELLS.into()],
        };
        Self {
            dice: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            seed,
            servers: (0..SERVERS).map(server).collect(),
            starts: 0,
            network: Vec::new(),
            late: Vec::new(),
            moves: Vec::new(),
            owners: vec![Some(home); CELLS.into()],
        }
    }

    pub(crate) fn run(mut self) {
        // With a start the directory begins anew, and what was wrong with it is forgotten: some histories end without one.
        let calm = [100, 200, 400][self.below(3)];
        for event in 0..400 {
            if event == calm {
                (0..SERVERS).for_each(|server| self.start(server));
                (0..SERVERS).for_each(|server| self.start(server));
            }
            self.happen(event >= calm);
            self.check();
        }
        self.heal();
        self.check_healed();
    }

    fn below(&mut self, bound: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice % bound as u64) as usize
    }

    fn happen(&mut self, is_calm: bool) {
        let server = self.below(SERVERS);
        match self.below(100) {
            0..12 => self.begin_move(server),
            12..30 => self.go_on_with_move(),
            30..70 => self.deliver(),
            70..80 => self.tick(server),
            80..90 => self.hear(server),
            90..93 if is_calm => self.deliver(),
            90..93 => self.stop(server),
            93..98 => self.start(server),
            98..99 => self.look(server),
            _ => self.step(server, Event::GivePages(GroupId(0))),
        }
    }

    fn step(&mut self, server: usize, event: Event<'_>) {
        if !self.servers[server].is_up {
            return;
        }
        let mut effects = Vec::new();
        if matches!(event, Event::GivePages(_)) && server == ROOT {
            return;
        }
        self.servers[server].file.step(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, message } => self.send(server, to, message),
                Effect::Adjusted => {}
                Effect::Refuse(reason) => panic!("{reason}"),
            }
        }
    }

    fn send(&mut self, from: usize, to: GroupId, message: Message<()>) {
        let (incarnation, to) = (self.servers[from].incarnation, to.0 as usize);
        let delivery = Delivery::of(&message, PAUSE, PAUSE);
        let may_have_arrived = false;
        self.network.push(Letter { from, incarnation, to, message, delivery, may_have_arrived });
    }

    fn tick(&mut self, server: usize) {
        self.step(server, Event::Tick);
    }

    /// A server hears from the root with which start the directory has begun.
    fn hear(&mut self, server: usize) {
        let start = self.servers[ROOT].file.generation();
        let Server { is_up, told, .. } = &mut self.servers[server];
        if !*is_up || *told >= start {
            return;
        }
        *told = start;
        if server != ROOT {
            self.step(server, Event::Begin { start });
        }
        self.step(server, Event::Announce);
    }

    fn stop(&mut self, server: usize) {
        self.servers[server].is_up = false;
    }

    fn start(&mut self, server: usize) {
        if self.servers[server].is_up || (server != ROOT && !self.servers[ROOT].is_up) {
            return;
        }
        self.starts += 1;
        let start = self.starts;
        let mut owned = Vec::new();
        for cell in (0..CELLS).filter(|cell| self.owners[usize::from(*cell)] == Some(server)) {
            match owned.last_mut() {
                Some((_, high)) if *high == cell => *high = cell + 1,
                _ => owned.push((cell, cell + 1)),
            }
        }
        let owned: Vec<KeyRange> = owned.into_iter().map(|(low, high)| range(low, high)).collect();
        self.servers[server] = Server {
            file: File::restored(place(server, 1), &owned, start, SETTINGS),
            incarnation: start,
            told: 0,
            is_up: true,
            images: vec![Epoch::GUESS; CELLS.into()],
        };
        self.step(ROOT, Event::Begin { start });
        for group in 0..SERVERS as u64 {
            self.step(ROOT, Event::Joined(GroupId(group)));
        }
    }

    /// A source freezes and releases keys. It has one move at a time.
    fn begin_move(&mut self, from: usize) {
        let (low, to) = (self.below(CELLS.into()) as u8, self.below(SERVERS));
        let high = (low + 1 + self.below(3) as u8).min(CELLS);
        let is_moving = self.moves.iter().any(|other| other.from == from);
        let Server { file, incarnation, is_up, .. } = &mut self.servers[from];
        let keys = range(low, high);
        if from == to || is_moving || !*is_up || !file.owns_all(&keys) {
            return;
        }
        let (mut effects, group) = (Vec::new(), GroupId(to as u64));
        file.step(Event::Release { range: &keys, to: group }, &mut effects);
        let Some(Effect::Send { message: adopt, .. }) = effects.pop() else { panic!("released") };
        let (incarnation, to_incarnation) = (*incarnation, self.servers[to].incarnation);
        let is_adopted = false;
        (low..high).for_each(|cell| self.owners[usize::from(cell)] = None);
        self.moves.push(Move {
            from,
            incarnation,
            to,
            to_incarnation,
            low,
            high,
            adopt,
            is_adopted,
        });
    }

    /// The destination adopts the keys, or the source hears how the move has ended.
    fn go_on_with_move(&mut self) {
        if self.moves.is_empty() {
            return;
        }
        let at = self.below(self.moves.len());
        let moved = &self.moves[at];
        let (from, to) = (moved.from, moved.to);
        let is_lost = self.servers[to].incarnation != moved.to_incarnation && !moved.is_adopted;
        if !moved.is_adopted && !is_lost && self.servers[to].is_up && self.below(3) > 0 {
            let (adopt, cells) =
                (self.moves[at].adopt.clone(), self.moves[at].low..self.moves[at].high);
            self.moves[at].is_adopted = true;
            cells.for_each(|cell| self.owners[usize::from(cell)] = Some(to));
            let mut effects = Vec::new();
            self.servers[to].file.step(Event::Message(adopt), &mut effects);
            // The answer tells the source that it is adopted; the rest is for the directory.
            for effect in effects {
                if let Effect::Send { to: receiver, message } = effect
                    && !matches!(message, Message::Adopted { .. })
                {
                    self.send(to, receiver, message);
                }
            }
        } else if self.servers[from].is_up && self.servers[to].is_up {
            self.end_move(at);
        }
    }

    fn end_move(&mut self, at: usize) {
        let Move { from, incarnation, to, low, high, adopt, is_adopted, .. } =
            self.moves.remove(at);
        let Message::Adopt { epoch, .. } = &adopt else { panic!("rows are adopted") };
        let (keys, epoch, start) = (range(low, high), *epoch, self.servers[from].incarnation);
        let is_same = incarnation == start;
        if !is_adopted {
            (low..high).for_each(|cell| self.owners[usize::from(cell)] = Some(from));
        }
        match (is_same, is_adopted) {
            (true, true) => {
                let level = Level::Rows;
                let adopted = Message::Adopted { level, range: keys, epoch };
                self.step(from, Event::Message(adopted));
            }
            (true, false) => self.step(from, Event::Undelivered(GroupId(to as u64), adopt)),
            (false, true) => {}
            (false, false) => self.step(from, Event::Reclaim { range: &keys, start }),
        }
    }

    fn deliver(&mut self) {
        if !self.late.is_empty() && self.below(4) == 0 {
            let at = self.below(self.late.len());
            let (to, message) = self.late.swap_remove(at);
            return self.step(to, Event::Message(message));
        }
        if self.network.is_empty() {
            return;
        }
        let bound = if self.below(4) == 0 { self.network.len() } else { self.network.len().min(4) };
        let at = self.below(bound);
        let fate = self.below(20);
        self.deliver_one(at, fate);
    }

    /// A message arrives, or does not, and its sender knows or does not.
    fn deliver_one(&mut self, at: usize, fate: usize) {
        let mut letter = self.network.remove(at);
        let (from, to) = (letter.from, letter.to);
        let (arrives, known) = match (self.servers[to].is_up, fate) {
            (false, _) => (false, Fate::NotArrived),
            // Not tested: a page that may have arrived and then cannot be delivered to a server that runs. It has two keepers.
            (true, 0) if !letter.may_have_arrived => (false, Fate::NotArrived),
            (true, 1) => (false, Fate::Unknown),
            (true, 2) => (true, Fate::Unknown),
            (true, 3) => {
                // It arrives later, too.
                self.late.push((to, letter.message.clone()));
                (false, Fate::Unknown)
            }
            (true, _) => (true, Fate::Arrived),
        };
        if arrives {
            self.step(to, Event::Message(letter.message.clone()));
        }
        if !self.servers[from].is_up || self.servers[from].incarnation != letter.incarnation {
            return;
        }
        match letter.delivery.step(known, false) {
            Next::Nothing => {}
            Next::Again(_) => {
                letter.may_have_arrived = true;
                self.network.push(letter);
            }
            Next::GiveBack => {
                let back = Event::Undelivered(GroupId(to as u64), letter.message);
                self.step(from, back);
            }
        }
    }

    /// A coordinator looks for keys.
    fn look(&mut self, server: usize) {
        if self.servers[server].is_up {
            self.servers[server].file.believed(&KeyRange::all());
        }
    }

    fn check(&mut self) {
        let seed = self.seed;
        for cell in 0..CELLS {
            let keys = KeyRange::point(&key(cell));
            let up = || self.servers.iter().filter(|server| server.is_up);
            let owners = up().filter(|server| server.file.owns_all(&keys)).count();
            assert!(owners <= 1, "seed {seed}: cell {cell} has {owners} owners");
        }
        for server in self.servers.iter_mut().filter(|server| server.is_up) {
            let entries: Vec<_> = server.file.image().collect();
            for cell in 0..CELLS {
                let at = key(cell);
                let entry =
                    entries.iter().find(|entry| entry.range.contains(&at)).expect("all keys");
                let last = &mut server.images[usize::from(cell)];
                assert!(*last <= entry.owner.epoch, "seed {seed}: an image went back");
                *last = entry.owner.epoch;
            }
        }
    }

    fn heal(&mut self) {
        (0..SERVERS).for_each(|server| self.start(server));
        (0..SERVERS).for_each(|server| self.start(server));
        while !self.moves.is_empty() {
            self.end_move(0);
        }
        for _ in 0..60 {
            for server in 0..SERVERS {
                self.hear(server);
                self.tick(server);
            }
            while let Some((to, message)) = self.late.pop() {
                self.step(to, Event::Message(message));
            }
            for delivered in 0.. {
                if self.network.is_empty() {
                    break;
                }
                assert!(delivered < 10_000, "seed {}: messages without end", self.seed);
                self.deliver_one(0, 19);
            }
        }
    }

    fn check_healed(&self) {
        let seed = self.seed;
        for cell in 0..CELLS {
            let keys = KeyRange::point(&key(cell));
            let owner = self.owners[usize::from(cell)].expect("no move is left");
            assert!(self.servers[owner].file.owns_all(&keys), "seed {seed}: {cell} has an owner");
            let keepers = self.servers.iter().map(|server| server.file.pages());
            let keeps =
                |pages: &Vec<(KeyRange, Epoch)>| pages.iter().any(|(page, _)| page.covers(&keys));
            let keepers: Vec<usize> =
                keepers.enumerate().filter(|(_, pages)| keeps(pages)).map(|(at, _)| at).collect();
            assert_eq!(keepers.len(), 1, "seed {seed}: pages of cell {cell} at {keepers:?}");
            for from in 0..SERVERS {
                let mut way = vec![from];
                while way.last() != Some(&owner) && way.len() < 8 {
                    let file = &self.servers[*way.last().expect("not empty")].file;
                    let parts = file.known(&keys, &mut Vec::new()).expect("nothing moves");
                    let next = parts[0].1;
                    if next == GroupId::NOBODY {
                        break;
                    }
                    way.push(next.0 as usize);
                }
                assert_eq!(way.last(), Some(&owner), "seed {seed}: cell {cell} by {way:?}");
            }
        }
    }
}

pub(crate) fn place(here: usize, home: usize) -> Place {
    let group = |number: usize| GroupId(number as u64);
    Place { here: group(here), root: group(ROOT), home: group(home) }
}

/// The message with which a page goes to another server.
pub(crate) fn page(low: u8, high: u8, epoch: Epoch, content: Content) -> Message<()> {
    let (range, from) = (range(low, high), GroupId(2));
    Message::Adopt { range, epoch, from, content }
}
