//! Numbers and states of aggregates: bytes of clients, of stored rows and of other servers, and texts.
//!
//! The first byte says what the others are. What is read is written again, and has to be the same.

#![no_main]

use numerics::{Numeric, Totals};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 4 {
        0 => encoding(bytes),
        1 => wire(bytes),
        2 => totals(bytes),
        _ => text(&String::from_utf8_lossy(bytes)),
    }
});

fn encoding(bytes: &[u8]) {
    let _ = Numeric::key_length(bytes);
    if let Ok(number) = Numeric::decode(bytes) {
        let mut again = Vec::new();
        number.encode(&mut again);
        assert_eq!(again, bytes);
        assert_eq!(Numeric::key_length(bytes), Some(Numeric::key_of(bytes).len()));
    }
}

fn wire(bytes: &[u8]) {
    if let Ok(number) = Numeric::from_wire(bytes) {
        let mut again = Vec::new();
        number.to_wire(&mut again);
        assert_eq!(Numeric::from_wire(&again).map(|read| read.to_string()), Ok(number.to_string()));
    }
}

fn totals(bytes: &[u8]) {
    let Ok(mut totals) = Totals::decode(bytes) else { return };
    let mut again = Vec::new();
    totals.encode(&mut again);
    let decoded = Totals::decode(&again).expect("a state that was written");
    totals.merge(&decoded);
    totals.remove(&Numeric::one());
    let _ = (totals.sum(), totals.avg(), totals.stddev(true), totals.variance(false));
}

fn text(text: &str) {
    if let Ok(number) = Numeric::parse(text) {
        let written = number.to_string();
        assert_eq!(Numeric::parse(&written).map(|read| read.to_string()), Ok(written));
    }
}
