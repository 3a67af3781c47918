//! Which requests for advisory locks the root obeys.
//!
//! A server asks the root for a lock of an owner, and tells it when a lock of an owner, or all of them, have ended. The network
//! may deliver that in another order, and long after the sender has ended a call: an owner that has gone would have a lock for
//! ever. So each server numbers what it sends ([`Sent`]), and the root ([`Numbers`]) remembers what has ended.
//!
//! ```text
//!   server                        root
//!     |---- 5: lock -----..          |
//!     |---- 6: all ended ---\------->| remembers: nothing of this owner before 6
//!     |                      ``----->| refuses 5
//!     |---- 9, from 7 on ----------->| forgets that, and refuses everything before 7
//! ```
//!
//! Invariant: an owner has no lock of a request that was sent before an end of it which the root has obeyed; and an end takes
//! no lock away that was asked for after it was sent.
//!
//! Not here: who holds what, and who waits (crate `locks`).

use sdds::ServerId;
use std::collections::{BTreeMap, BTreeSet};

/// The place of a request among those of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Its number. Later ones have greater numbers.
    pub number: u64,
    /// Requests before this are over: nobody waits for their answers.
    pub settled: u64,
}

/// What a server has sent.
#[derive(Debug)]
pub struct Sent {
    next: u64,
    /// The requests that somebody waits for.
    open: BTreeSet<u64>,
}

impl Sent {
    /// Nothing yet; the first request has this number.
    pub fn from(first: u64) -> Self {
        Self { next: first, open: BTreeSet::new() }
    }

    /// Begins a request.
    pub fn begin(&mut self) -> Order {
        let number = self.next;
        self.next += 1;
        self.open.insert(number);
        let settled = self.open.first().copied().unwrap_or(number);
        assert!(settled <= number, "a request that begins is not over");
        Order { number, settled }
    }

    /// Ends a request: it was answered, or nobody waits for it any more.
    pub fn end(&mut self, request: Order) {
        assert!(self.open.remove(&request.number), "a request ends once");
    }
}

/// What has happened at the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<O, P> {
    /// A server asks for a lock.
    Lock(Order, O, P),
    /// The owner has the lock of a request that had to wait.
    Granted(Order, O, P),
    /// The owner does not get the lock of a request.
    Denied(Order, O, P),
    /// A server has ended a lock of an owner, or all.
    Unlock(Order, O, Option<P>),
    /// The server has been started, and no owner there has a lock. Its first request has this number.
    Started(u64),
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect<O, P> {
    /// Take the lock for the owner, now or later.
    Take,
    /// Refuse the request: it comes too late.
    Refuse,
    /// Release one lock of the owner.
    Release(O, P),
    /// Release all locks of the owner, and end its requests that wait.
    ReleaseAll(O),
}

/// The requests of all servers, as the root has them.
#[derive(Debug)]
pub struct Numbers<O, P> {
    servers: BTreeMap<ServerId, Requests<O, P>>,
}

/// Those of one server.
#[derive(Debug)]
struct Requests<O, P> {
    /// Requests before this are refused.
    settled: u64,
    /// The newest request for each lock that an owner has or waits for.
    taken: BTreeMap<(O, P), u64>,
    /// The newest end of each lock, or of all, unless all requests before it are settled.
    ended: BTreeMap<(O, Option<P>), u64>,
}

impl<O, P> Default for Numbers<O, P> {
    fn default() -> Self {
        Self { servers: BTreeMap::new() }
    }
}

impl<O, P> Default for Requests<O, P> {
    fn default() -> Self {
        Self { settled: 0, taken: BTreeMap::new(), ended: BTreeMap::new() }
    }
}

impl<O: Ord + Copy, P: Ord + Copy> Numbers<O, P> {
    /// Takes an event of a server, and appends what is to be done.
    pub fn step(&mut self, server: ServerId, event: Event<O, P>, effects: &mut Vec<Effect<O, P>>) {
        self.servers.entry(server).or_default().step(event, effects);
    }
}

impl<O: Ord + Copy, P: Ord + Copy> Requests<O, P> {
    fn step(&mut self, event: Event<O, P>, effects: &mut Vec<Effect<O, P>>) {
        match event {
            Event::Lock(order, owner, place) => {
                self.settle(order.settled);
                if order.number < self.settled || order.number < self.ended(owner, place) {
                    effects.push(Effect::Refuse);
                } else {
                    let taken = self.taken.entry((owner, place)).or_default();
                    *taken = order.number.max(*taken);
                    effects.push(Effect::Take);
                }
            }
            // It may have ended while it waited.
            Event::Granted(order, owner, place) => {
                if self.taken.get(&(owner, place)).is_none_or(|taken| *taken < order.number) {
                    effects.push(Effect::Release(owner, place));
                }
            }
            Event::Denied(order, owner, place) => {
                if self.taken.get(&(owner, place)) == Some(&order.number) {
                    self.taken.remove(&(owner, place));
                }
            }
            Event::Unlock(order, owner, one) => {
                self.settle(order.settled);
                self.unlock(order.number, owner, one, effects);
            }
            Event::Started(first) => {
                self.taken.clear();
                self.settle(first);
            }
        }
        self.assert_invariants(event);
    }

    fn unlock(&mut self, number: u64, owner: O, one: Option<P>, effects: &mut Vec<Effect<O, P>>) {
        let is_meant = |(of, place): &(O, P)| *of == owner && one.is_none_or(|one| one == *place);
        let meant = self.taken.iter().filter(|(lock, _)| is_meant(lock));
        let (over, newer): (Vec<_>, Vec<_>) =
            meant.map(|(lock, taken)| (*lock, *taken)).partition(|(_, taken)| *taken < number);
        for (lock, _) in &over {
            self.taken.remove(lock);
        }
        if one.is_none() && newer.is_empty() {
            effects.push(Effect::ReleaseAll(owner));
        } else {
            effects.extend(over.iter().map(|((of, place), _)| Effect::Release(*of, *place)));
        }
        if number > self.settled {
            let ended = self.ended.entry((owner, one)).or_default();
            *ended = number.max(*ended);
        }
    }

    /// Forgets what only requests before a number would need, which are refused from now on.
    fn settle(&mut self, settled: u64) {
        self.settled = self.settled.max(settled);
        self.ended.retain(|_, ended| *ended > self.settled);
    }

    /// The newest end of a lock.
    fn ended(&self, owner: O, place: P) -> u64 {
        let of = |one| self.ended.get(&(owner, one)).copied().unwrap_or(0);
        of(None).max(of(Some(place)))
    }

    fn assert_invariants(&self, event: Event<O, P>) {
        let is_after = |owner, place| {
            let taken = self.taken.get(&(owner, place)).copied();
            taken.is_none_or(|taken| taken >= self.ended(owner, place))
        };
        match event {
            Event::Lock(_, owner, place)
            | Event::Granted(_, owner, place)
            | Event::Denied(_, owner, place)
            | Event::Unlock(_, owner, Some(place)) => {
                assert!(is_after(owner, place), "what has ended is not taken");
            }
            Event::Unlock(_, owner, None) => {
                let mut places = self.taken.keys().filter(|(of, _)| *of == owner);
                assert!(places.all(|(_, place)| is_after(owner, *place)), "what has ended is gone");
            }
            Event::Started(first) => {
                assert!(self.taken.is_empty() && first <= self.settled, "nothing is left");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lock = (u8, u8);

    type Request = (Order, u8, u8);

    /// The locks of a root that does what its [`Numbers`] say. Each has one holder; the requests of others wait in order.
    #[derive(Default)]
    struct Root {
        numbers: Numbers<u8, u8>,
        held: BTreeSet<Lock>,
        waiting: Vec<Request>,
        /// The requests whose wait is over; the root has not noticed it.
        awaited: Vec<Request>,
        /// How many waits have ended with a lock, and how many requests without one.
        granted: u32,
        denied: u32,
    }

    const SERVER: ServerId = ServerId(1);

    impl Root {
        fn take(&mut self, event: Event<u8, u8>) -> Vec<Effect<u8, u8>> {
            let mut effects = Vec::new();
            self.numbers.step(SERVER, event, &mut effects);
            for effect in &effects {
                match (*effect, event) {
                    (Effect::Take, Event::Lock(order, owner, place)) => {
                        if self.is_free(owner, place) {
                            self.held.insert((owner, place));
                        } else {
                            self.waiting.push((order, owner, place));
                        }
                    }
                    (Effect::Take, _) => panic!("only requests take locks"),
                    (Effect::Refuse, _) => {}
                    (Effect::Release(owner, place), _) => {
                        self.held.remove(&(owner, place));
                    }
                    (Effect::ReleaseAll(owner), _) => {
                        self.held.retain(|(of, _)| *of != owner);
                        self.end_waits(|(_, of, _)| *of == owner);
                    }
                }
            }
            self.grant();
            effects
        }

        fn is_free(&self, owner: u8, place: u8) -> bool {
            self.held.iter().all(|(of, held)| *held != place || *of == owner)
        }

        fn end_waits(&mut self, is_over: impl Fn(&Request) -> bool) {
            self.awaited.extend(self.waiting.extract_if(.., |request| is_over(request)));
        }

        fn grant(&mut self) {
            while let Some((order, owner, place)) = self.next_free() {
                self.held.insert((owner, place));
                self.end_waits(|(number, ..)| *number == order);
            }
        }

        /// The first request that waits for nobody any more.
        fn next_free(&self) -> Option<Request> {
            let mut waiting = self.waiting.iter();
            waiting.find(|(_, owner, place)| self.is_free(*owner, *place)).copied()
        }

        /// Takes a request, and answers it unless it waits.
        fn ask(&mut self, (order, owner, place): Request, waits: bool) -> Option<bool> {
            if self.take(Event::Lock(order, owner, place)) == [Effect::Refuse] {
                return Some(false);
            }
            let is_this = |(number, ..): &Request| *number == order;
            match self.waiting.iter().position(is_this) {
                None => Some(true),
                Some(_) if waits => None,
                Some(at) => {
                    self.waiting.remove(at);
                    self.denied += 1;
                    self.take(Event::Denied(order, owner, place));
                    Some(false)
                }
            }
        }

        /// Notices that a wait is over, and answers its request.
        fn notice(&mut self, (order, owner, place): Request) -> bool {
            let is_granted = self.held.contains(&(owner, place));
            let effects = self.take(match is_granted {
                true => Event::Granted(order, owner, place),
                false => Event::Denied(order, owner, place),
            });
            *(if is_granted { &mut self.granted } else { &mut self.denied }) += 1;
            assert!(effects.iter().all(|effect| *effect == Effect::Release(owner, place)));
            self.held.contains(&(owner, place))
        }
    }

    fn order(number: u64, settled: u64) -> Order {
        Order { number, settled }
    }

    #[test]
    fn a_request_that_comes_after_the_end_of_its_owner_is_refused() {
        let mut root = Root::default();
        assert_eq!(root.take(Event::Unlock(order(6, 6), 1, None)), [Effect::ReleaseAll(1)]);
        assert_eq!(root.take(Event::Lock(order(5, 5), 1, 1)), [Effect::Refuse]);
        assert_eq!(root.take(Event::Lock(order(7, 7), 1, 1)), [Effect::Take], "it is another");
        assert!(root.numbers.servers[&SERVER].ended.is_empty(), "all before 7 is over");
        assert_eq!(root.take(Event::Lock(order(5, 5), 1, 2)), [Effect::Refuse]);
    }

    #[test]
    fn a_late_end_takes_away_what_was_asked_for_before() {
        let mut root = Root::default();
        root.take(Event::Lock(order(1, 1), 1, 1));
        root.take(Event::Lock(order(3, 2), 1, 1));
        root.take(Event::Lock(order(4, 2), 1, 2));
        assert_eq!(root.take(Event::Unlock(order(2, 2), 1, Some(1))), [], "it has it again");
        root.take(Event::Lock(order(1, 1), 1, 3));
        let ends = root.take(Event::Unlock(order(4, 2), 1, None));
        assert_eq!(ends, [Effect::Release(1, 1)]);
        assert_eq!(root.held, BTreeSet::from([(1, 2)]));
    }

    #[test]
    fn a_request_that_has_ended_while_it_waited_is_not_granted() {
        let mut root = Root::default();
        root.take(Event::Lock(order(1, 1), 1, 1));
        root.take(Event::Unlock(order(2, 2), 1, Some(1)));
        assert_eq!(root.take(Event::Granted(order(1, 1), 1, 1)), [Effect::Release(1, 1)]);
        root.take(Event::Lock(order(3, 3), 1, 1));
        assert_eq!(root.take(Event::Granted(order(3, 3), 1, 1)), []);
        root.take(Event::Denied(order(3, 3), 1, 1));
        assert!(root.numbers.servers[&SERVER].taken.is_empty());
    }

    #[test]
    fn a_server_that_was_started_again_has_left_nothing_behind() {
        let mut root = Root::default();
        root.take(Event::Lock(order(1, 1), 1, 1));
        root.take(Event::Started(1 << 40));
        assert_eq!(root.take(Event::Lock(order(2, 2), 1, 1)), [Effect::Refuse]);
        let mut sent = Sent::from((1 << 40) + 1);
        assert_eq!(root.take(Event::Lock(sent.begin(), 1, 1)), [Effect::Take]);
    }

    /// Numbers that look random.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % bound
        }
    }

    /// Sessions of a server, and what they send on its way to the root.
    struct World {
        dice: Dice,
        root: Root,
        sent: Sent,
        /// The locks that the sessions have.
        has: BTreeSet<Lock>,
        /// What each session waits for.
        asked: BTreeMap<u8, (Order, u8)>,
        /// Each event, and whether it waits for its lock.
        under_way: Vec<(Event<u8, u8>, bool)>,
    }

    impl World {
        fn new(seed: u64) -> Self {
            let (has, asked, under_way) = Default::default();
            let (dice, root, sent) = (Dice(seed), Root::default(), Sent::from(1));
            Self { dice, root, sent, has, asked, under_way }
        }

        fn happen(&mut self) {
            let (owner, place) = (self.dice.below(3) as u8, self.dice.below(2) as u8);
            match self.dice.below(12) {
                0..3 if !self.asked.contains_key(&owner) && !self.has.contains(&(owner, place)) => {
                    let (order, waits) = (self.sent.begin(), self.dice.below(3) > 0);
                    self.asked.insert(owner, (order, place));
                    self.under_way.push((Event::Lock(order, owner, place), waits));
                }
                3 => self.end(owner, None),
                4 => self.end(owner, Some(place)),
                5 if !self.root.waiting.is_empty() => {
                    let at = self.dice.below(self.root.waiting.len());
                    let late = self.root.waiting.remove(at);
                    self.root.awaited.push(late);
                }
                6..9 => self.notice(),
                _ => self.deliver(),
            }
        }

        /// A session gives up what it waits for, and ends a lock, or all.
        fn end(&mut self, owner: u8, one: Option<u8>) {
            let unanswered = self.asked.remove(&owner);
            if let Some((order, _)) = unanswered {
                self.sent.end(order);
            }
            let one = one.map(|place| unanswered.map_or(place, |(_, asked)| asked));
            self.has.retain(|(of, place)| *of != owner || one.is_some_and(|one| one != *place));
            self.under_way.push((Event::Unlock(self.sent.begin(), owner, one), false));
        }

        fn deliver(&mut self) {
            if self.under_way.is_empty() {
                return;
            }
            let at = self.dice.below(self.under_way.len());
            let (event, waits) = self.under_way.swap_remove(at);
            match event {
                Event::Lock(order, owner, place) => {
                    if let Some(has) = self.root.ask((order, owner, place), waits) {
                        self.answer((order, owner, place), has);
                    }
                }
                Event::Unlock(order, ..) => {
                    self.root.take(event);
                    self.sent.end(order);
                }
                other => panic!("{other:?} is not sent"),
            }
        }

        fn notice(&mut self) {
            if !self.root.awaited.is_empty() {
                let at = self.dice.below(self.root.awaited.len());
                let request = self.root.awaited.swap_remove(at);
                let has = self.root.notice(request);
                self.answer(request, has);
            }
        }

        /// The answer arrives, or is lost, or nobody waits for it any more.
        fn answer(&mut self, (order, owner, place): Request, has: bool) {
            if self.asked.get(&owner) != Some(&(order, place)) || self.dice.below(8) == 0 {
                return;
            }
            self.asked.remove(&owner);
            self.sent.end(order);
            if has {
                self.has.insert((owner, place));
            }
        }

        fn settle(&mut self) {
            for (owner, (_, place)) in self.asked.clone() {
                self.end(owner, Some(place));
            }
            while !self.under_way.is_empty() {
                self.deliver();
            }
            self.root.end_waits(|_| true);
            while !self.root.awaited.is_empty() {
                self.notice();
            }
        }
    }

    /// Sessions of a server take locks, wait for each other, give up while they wait for an answer, and release locks. What they
    /// send arrives in any order. In the end the root has what they have.
    #[test]
    fn in_any_order_the_root_has_what_the_sessions_have() {
        let (mut granted, mut denied) = (0, 0);
        for seed in 0..2000 {
            let mut world = World::new(seed);
            (0..120).for_each(|_| world.happen());
            world.settle();
            assert_eq!(world.root.held, world.has, "seed {seed}");
            granted += world.root.granted;
            denied += world.root.denied;
        }
        assert!(
            granted > 1000 && denied > 1000,
            "{granted} waits ended well, {denied} requests did not"
        );
    }
}
