//! The directory against a plain map: whatever the order in which messages arrive, whatever moves meanwhile and
//! however old the images are, no answer is wrong or incomplete.

mod interleavings;
mod network;
mod outages;
mod rest;
mod ways;

use sdds::directory::Settings;
use sdds::{Bound, Key, KeyRange};

/// Pages so small that they divide all the time.
const TINY: Settings = Settings { page_entries: 4, forwards_max: 16 };

fn key(number: u8) -> Key {
    Key::from(&[number][..])
}

/// The keys from `low` up to but not including `high`; to the end of the file where that is 0.
fn range(low: u8, high: u8) -> KeyRange {
    let high = if high == 0 { Bound::PosInf } else { Bound::At(key(high)) };
    let low = if low == 0 { Bound::NegInf } else { Bound::At(key(low)) };
    KeyRange::new(low, high).expect("not empty")
}
