//! The decisions of a file about single messages.

use super::world::{SETTINGS, page, place, range};
use protocols::routing::{Effect, Event, File};
use sdds::directory::{Content, Entry, Image, Message, Owner};
use sdds::{ClientId, Epoch, GroupId, KeyRange, RequestId};

const AFTER_START_3: Epoch = Epoch((3 << 32) + 1);

fn step(file: &mut File, event: Event<'_>) -> Vec<Effect> {
    let mut effects = Vec::new();
    file.step(event, &mut effects);
    effects
}

fn a_page() -> Content {
    Content::Page(Image::new(GroupId(1)))
}

fn low_page(epoch: Epoch) -> Message<()> {
    page(0, 5, epoch, a_page())
}

#[test]
fn a_page_is_adopted_once() {
    let mut file = File::open(place(3, 1), &[], SETTINGS);
    let again = || Event::Message(low_page(Epoch(7)));
    assert_eq!(step(&mut file, again()).len(), 1, "its last keeper is told");
    assert_eq!(file.pages(), [(range(0, 5), Epoch(7))]);
    step(&mut file, Event::GivePages(GroupId(0)));
    assert!(file.pages().is_empty());
    assert!(step(&mut file, again()).is_empty(), "it came twice");
    assert!(file.pages().is_empty());
}

/// A page of the directory before it began anew came late. Its new keeper answered from it, and nobody told it any changes.
#[test]
fn a_page_of_an_earlier_generation_is_not_adopted() {
    let mut file = File::open(place(3, 1), &[], SETTINGS);
    step(&mut file, Event::Begin { start: 3 });
    assert!(step(&mut file, Event::Message(low_page(Epoch(7)))).is_empty());
    assert!(file.pages().is_empty());
    step(&mut file, Event::Message(low_page(AFTER_START_3.next())));
    assert_eq!(file.pages().len(), 1);
}

/// The root gave away a page of the directory that had begun anew before its new keeper heard of that. The keeper forgot the
/// page, and everybody was sent there.
#[test]
fn a_page_of_the_new_generation_is_kept_by_who_hears_of_it_later() {
    let mut file = File::open(place(3, 1), &[], SETTINGS);
    step(&mut file, Event::Message(low_page(Epoch(7))));
    step(&mut file, Event::Message(page(5, 9, AFTER_START_3.next(), a_page())));
    step(&mut file, Event::Begin { start: 3 });
    assert_eq!(file.pages(), [(range(5, 9), AFTER_START_3.next())]);
    step(&mut file, Event::Begin { start: 2 });
    assert_eq!(file.generation(), 3, "it came late");
}

#[test]
fn what_only_simulations_send_is_refused() {
    let mut file = File::open(place(3, 1), &[], SETTINGS);
    let (id, client, range) = (RequestId(1), ClientId(1), KeyRange::all());
    let effects = step(&mut file, Event::Message(Message::Ask { id, client, range }));
    assert!(matches!(effects[..], [Effect::Refuse(_)]));
}

#[test]
fn late_entries_are_older_than_what_is_known() {
    let mut file = File::open(place(3, 1), &[], SETTINGS);
    let told = |group, epoch| {
        let owner = Owner { group: GroupId(group), epoch: Epoch(epoch) };
        [Entry { range: range(2, 4), owner }]
    };
    assert!(matches!(step(&mut file, Event::Told(&told(2, 5)))[..], [Effect::Adjusted]));
    assert!(step(&mut file, Event::Told(&told(1, 4))).is_empty());
    let parts = file.believed(&range(2, 4)).expect("nothing moves");
    assert_eq!(parts, [(range(2, 4), GroupId(2))]);
}
