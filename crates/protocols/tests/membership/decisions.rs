//! The decisions of a root about single events, and what a server makes of news.

use super::world::LIMITS;
use protocols::membership::{
    Effect, Event, Known, Members, Misdirected, Newcomer, News, Refusal, Report, Returning, Roster,
    Standing, Task,
};
use sdds::{GroupId, ServerId, Timestamp};
use std::time::Duration;

const ROOT: ServerId = ServerId(0);
const ONE: ServerId = ServerId(1);
const TWO: ServerId = ServerId(2);

/// A root, and its clock.
struct Root {
    roster: Roster<()>,
    now: Duration,
    starts: u64,
}

impl Root {
    fn new(keeps_data: bool) -> Self {
        let mut list = Members::default();
        list.join("root", "r:1", 1, keeps_data, 0);
        let now = Duration::ZERO;
        let roster = Roster::new(now, ROOT, list, Timestamp(5), keeps_data, LIMITS);
        Self { roster, now, starts: 0 }
    }

    fn step(&mut self, event: Event<'_, ()>) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.roster.step(self.now, event, &mut effects);
        effects
    }

    fn join(&mut self, name: &str, address: &str, keeps_data: bool) -> Vec<Effect> {
        self.starts += 1;
        self.join_as(self.starts, name, address, keeps_data)
    }

    fn join_as(&mut self, start: u64, name: &str, address: &str, keeps_data: bool) -> Vec<Effect> {
        let (weight, oldest) = (7, Timestamp(9));
        let newcomer = Newcomer { name, address, weight, keeps_data, start, oldest };
        self.step(Event::Join(newcomer))
    }

    fn come_back(&mut self, server: ServerId, name: &str, start: u64) -> Vec<Effect> {
        let (address, is_ours, oldest) = ("b:2", true, Timestamp(9));
        self.step(Event::Return(Returning { server, name, address, is_ours, start, oldest }))
    }

    fn hear(&mut self, server: ServerId) -> Vec<Effect> {
        let version = self.roster.list().version;
        self.hear_of(server, version, false)
    }

    fn hear_of(&mut self, server: ServerId, version: u64, has_rows: bool) -> Vec<Effect> {
        let start = self.roster.list().get(server).map_or(0, |member| member.start);
        let report = Report { start, oldest: Timestamp(9), version, pg: None, has_rows, load: () };
        self.step(Event::Heartbeat(server, report))
    }

    fn leave(&mut self, server: ServerId, start: u64, is_empty: bool) -> Vec<Effect> {
        self.step(Event::Leave { server, start, is_empty })
    }

    /// Lets time pass in which the root hears itself, and some others.
    fn pass(&mut self, time: Duration, heard: &[ServerId]) -> Vec<Effect> {
        let (until, mut effects) = (self.now + time, Vec::new());
        while self.now < until {
            self.now += Duration::from_millis(100);
            effects.extend(self.hear(ROOT));
            heard.iter().for_each(|server| effects.extend(self.hear(*server)));
        }
        effects
    }
}

fn admitted(server: ServerId, start: u64) -> Effect {
    Effect::Admit { server, start }
}

#[test]
fn a_name_without_data_is_taken_over_at_its_address_only() {
    let mut root = Root::new(false);
    assert_eq!(root.join("one", "a:1", false), [admitted(ONE, 1)]);
    let taken = Effect::Refuse(Refusal::NameTaken("one".into()));
    assert_eq!(root.join("one", "b:2", false), [taken]);
    let gone = Effect::Gone { server: ONE, is_empty: false };
    assert_eq!(root.join("one", "a:1", false), [gone, admitted(TWO, 3)]);
    assert_eq!(root.hear(ONE), [Effect::Refuse(Refusal::NoMember(ONE))], "it is out");
    let other = Effect::Refuse(Refusal::OtherDurability { cluster_does: false });
    assert_eq!(root.join("three", "c:3", true), [other]);
    let taken = Effect::Refuse(Refusal::NameTaken("root".into()));
    assert_eq!(root.join("root", "r:1", false), [taken]);
}

#[test]
fn a_server_that_did_not_hear_that_it_is_a_member_joins_again_as_the_same() {
    let mut root = Root::new(true);
    assert_eq!(root.join("one", "a:1", true), [admitted(ONE, 1)]);
    assert_eq!(root.join("one", "a:1", true), [admitted(ONE, 2)]);
    root.hear(ONE);
    let has_data = Effect::Refuse(Refusal::NameHasData("one".into()));
    assert_eq!(root.join("one", "a:1", true), [has_data]);
}

/// Two servers were started with one name before the first of them was heard. Both were told the same number, and the second
/// got what was meant for the first.
#[test]
fn a_number_is_not_given_to_a_server_elsewhere() {
    let mut root = Root::new(true);
    assert_eq!(root.join("one", "a:1", true), [admitted(ONE, 1)]);
    let taken = Effect::Refuse(Refusal::NameTaken("one".into()));
    assert_eq!(root.join("one", "b:2", true), [taken], "the first may be heard soon");
    root.pass(LIMITS.silence * 2, &[]);
    let gone = Effect::Gone { server: ONE, is_empty: false };
    assert_eq!(root.join("one", "b:2", true), [gone, admitted(TWO, 3)], "it was never heard");
    let foreign = Effect::Refuse(Refusal::ForeignData("one".into()));
    assert_eq!(root.come_back(ONE, "one", 4), [foreign], "its number was not given again");
}

#[test]
fn a_member_comes_back_with_its_data_and_with_no_earlier_start() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    let begun = |start| [Effect::BeginDirectory { start }, admitted(ONE, start)];
    assert_eq!(root.come_back(ONE, "one", 3), begun(3));
    assert_eq!(root.roster.list().get(ONE).map(|member| &*member.address), Some("b:2"));
    let overtaken = Effect::Refuse(Refusal::Overtaken("one".into()));
    assert_eq!(root.come_back(ONE, "one", 2), [overtaken], "it was on its way for long");
    let version = root.roster.list().version;
    assert_eq!(root.come_back(ONE, "one", 3), [Effect::AdmitAgain { server: ONE }]);
    assert_eq!(root.roster.list().version, version, "nothing has changed");
    for (server, name) in [(ONE, "two"), (TWO, "two"), (ROOT, "root")] {
        let foreign = Effect::Refuse(Refusal::ForeignData(name.into()));
        assert_eq!(root.come_back(server, name, 4), [foreign]);
    }
}

/// Two servers came back at the same time. The root began the directory anew with the earlier start last, without what had
/// been announced for the later one, and nobody announced it again.
#[test]
fn the_directory_does_not_begin_anew_with_an_earlier_start() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    root.join("two", "b:2", true);
    let begun = [Effect::BeginDirectory { start: 6 }, admitted(TWO, 6)];
    assert_eq!(root.come_back(TWO, "two", 6), begun);
    assert_eq!(root.come_back(ONE, "one", 5), [admitted(ONE, 5)]);
    assert_eq!(root.roster.generation(), 6);
}

/// A request to join was on its way for long, or came twice: a server without data at its address was lost while it worked.
#[test]
fn a_late_request_to_join_takes_nothing_over() {
    let mut root = Root::new(false);
    assert_eq!(root.join_as(2, "one", "a:1", false), [admitted(ONE, 2)]);
    root.hear(ONE);
    let overtaken = Effect::Refuse(Refusal::Overtaken("one".into()));
    assert_eq!(
        root.join_as(1, "one", "a:1", false),
        std::slice::from_ref(&overtaken),
        "of a server before"
    );
    let again = Effect::AdmitAgain { server: ONE };
    assert_eq!(root.join_as(2, "one", "a:1", false), [again], "it came twice");
    root.leave(ONE, 2, false);
    assert_eq!(root.join_as(2, "one", "a:1", false), [overtaken], "it has ended");
    assert_eq!(root.join_as(3, "one", "a:1", false), [admitted(TWO, 3)]);
}

/// A server left, and was started again. What it had said before came late, and it was lost.
#[test]
fn an_earlier_start_neither_leaves_nor_is_heard() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    root.come_back(ONE, "one", 2);
    let version = root.roster.list().version;
    for is_empty in [true, false] {
        assert_eq!(root.leave(ONE, 1, is_empty), []);
    }
    let report = |start| Report {
        start,
        oldest: Timestamp(3),
        version,
        pg: Some("p:1"),
        has_rows: true,
        load: (),
    };
    let overtaken = Effect::Refuse(Refusal::Overtaken("one".into()));
    assert_eq!(root.step(Event::Heartbeat(ONE, report(1))), [overtaken]);
    assert_eq!(root.roster.list().version, version, "nothing has changed");
    assert_eq!(root.step(Event::Heartbeat(ONE, report(2))), []);
}

#[test]
fn silent_servers_are_lost_unless_they_keep_their_data() {
    for (keeps_data, effect) in [(false, Effect::Evicted(ONE)), (true, Effect::Silent(ONE))] {
        let mut root = Root::new(keeps_data);
        root.join("one", "a:1", keeps_data);
        assert_eq!(root.roster.horizon(), Some(Timestamp(5)), "as the root says");
        assert_eq!(root.pass(LIMITS.silence, &[]), [], "it has time");
        assert_eq!(root.pass(Duration::from_millis(100), &[]), [effect]);
        assert_eq!(root.hear(ONE).is_empty(), keeps_data, "who keeps its data is still a member");
    }
}

/// A root that stood still for longer than the limit had heard nobody, and evicted all others when it went on.
#[test]
fn a_root_that_stood_still_evicts_nobody() {
    let mut root = Root::new(false);
    root.join("one", "a:1", false);
    root.now += LIMITS.silence * 3;
    assert_eq!(root.hear(ROOT), []);
    assert_eq!(root.hear(ONE), []);
    root.now += LIMITS.silence * 3;
    assert_eq!(root.pass(LIMITS.silence, &[]), [], "it has time, from now on");
    assert_eq!(root.pass(Duration::from_millis(200), &[]), [Effect::Evicted(ONE)]);
}

#[test]
fn an_empty_server_leaves_when_all_others_know() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    root.join("two", "b:2", true);
    let before = root.roster.list().version;
    assert_eq!(root.leave(ONE, 1, true), []);
    let version = root.roster.list().version;
    assert_eq!(root.hear_of(ROOT, version, true), []);
    assert_eq!(root.hear_of(ONE, version, false), []);
    assert_eq!(root.hear_of(TWO, before, true), [], "it looks for rows there");
    let version = root.roster.list().version;
    root.hear_of(ROOT, version, true);
    root.hear_of(ONE, version, false);
    let gone = Effect::Gone { server: ONE, is_empty: true };
    assert_eq!(root.hear_of(TWO, version, true), [gone]);
    assert_eq!(root.leave(ONE, 1, true), [], "it has left");
    assert!(root.roster.list().get(ONE).is_some_and(|member| member.is_lost && member.has_left));
}

#[test]
fn a_server_that_leaves_waits_a_moment_only_and_may_have_got_rows_meanwhile() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    root.join("two", "b:2", true);
    root.leave(ONE, 1, true);
    root.hear_of(ONE, 0, true);
    root.now += LIMITS.leave;
    let gone = Effect::Gone { server: ONE, is_empty: false };
    assert_eq!(root.step(Event::Tick), [gone]);
}

/// A server left, and was started again while the root waited for the others. Then it was lost, with what it had got since.
#[test]
fn a_server_that_comes_back_while_it_leaves_stays() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    root.leave(ONE, 1, true);
    assert!(root.roster.is_leaving(ONE));
    root.come_back(ONE, "one", 2);
    stays(root);
}

/// The same of a server that had not been heard, and had lost its directory.
#[test]
fn a_server_that_joins_again_while_it_leaves_stays() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    root.leave(ONE, 1, true);
    assert_eq!(root.join("one", "a:1", true), [admitted(ONE, 2)]);
    stays(root);
}

fn stays(mut root: Root) {
    assert!(!root.roster.is_leaving(ONE));
    assert_eq!(root.pass(LIMITS.leave * 2, &[ONE]), []);
    let member = root.roster.list().get(ONE).expect("a member");
    assert_eq!((member.is_lost, member.has_left, member.weight), (false, false, 7));
}

#[test]
fn lists_are_kept_in_order() {
    let mut root = Root::new(true);
    root.join("one", "a:1", true);
    let first = root.roster.unkept().expect("it has changed").version;
    root.join("two", "b:2", true);
    let second = root.roster.unkept().expect("it has changed").version;
    root.step(Event::Kept { version: second });
    root.step(Event::Kept { version: first });
    assert!(root.roster.unkept().is_none(), "late news of an older one");
    let no_name = Effect::Refuse(Refusal::NoName("three".into()));
    assert_eq!(root.step(Event::SetWeight { name: "three", weight: 0 }), [no_name]);
    assert!(root.roster.unkept().is_none(), "nothing has changed");
    root.step(Event::SetWeight { name: "two", weight: 0 });
    assert!(root.roster.unkept().is_some());
}

#[test]
fn a_server_knows_the_newest_list_and_answers_nobody_when_it_is_out() {
    let mut root = Root::new(false);
    root.join("one", "a:1", false);
    let old = root.roster.list().clone();
    root.join("two", "b:2", false);
    root.leave(TWO, 2, false);
    let mut known = Known::new(ONE, old.clone());
    assert_eq!(known.standing(TWO), Standing::Unknown);
    assert!(!known.is_gone(GroupId(2)) && known.is_gone(GroupId::NOBODY));
    known.step(News::List(root.roster.list().clone()));
    known.step(News::List(old));
    assert!(known.is_lost(TWO) && known.is_gone(GroupId(2)), "the older one came late");
    assert_eq!(known.admits(Some(ROOT), Some(ONE)), Ok(()));
    assert_eq!(known.admits(Some(TWO), None), Err(Misdirected::Sender(TWO)));
    assert_eq!(known.admits(Some(ROOT), Some(TWO)), Err(Misdirected::Receiver));
    assert_eq!(known.step(News::Generation(3)), Some(Task::Announce { start: 3 }));
    assert_eq!(known.step(News::Generation(2)), None);
    assert_eq!(known.step(News::Out), Some(Task::Stop));
    assert_eq!(known.step(News::Out), None);
    assert_eq!(known.admits(Some(ROOT), Some(ONE)), Err(Misdirected::Out));
}
