//! The directory compared with a plain map: no answer is wrong or incomplete, whatever the order of
//! messages, concurrent moves and the age of images.

mod interleavings;
mod network;
mod outages;
mod rest;
mod ways;

use sdds::directory::Settings;
use sdds::{Bound, Key, KeyRange};

/// Small pages, which split often.
const TINY: Settings = Settings { page_entries: 4, forwards_max: 16 };

fn key(number: u8) -> Key {
    Key::from(&[number][..])
}

/// The keys from `low` up to but not including `high`; up to the end of the file if `high` is 0.
fn range(low: u8, high: u8) -> KeyRange {
    let high = if high == 0 { Bound::PosInf } else { Bound::At(key(high)) };
    let low = if low == 0 { Bound::NegInf } else { Bound::At(key(low)) };
    KeyRange::new(low, high).expect("not empty")
}
