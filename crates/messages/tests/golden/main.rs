//! The bytes of messages between servers. They must not change unless the version of the protocol does.
//!
//! `messages.txt` has a line for one sample of each message: its name, and its bytes. `variants.txt` has the ordinals of the
//! enums within messages. `UPDATE_GOLDENFILES=1 cargo test --profile quick --test golden` writes both.

mod samples;
mod variants;

use messages::{
    DirectoryAnswer, DirectoryRequest, Envelope, MoveAnswer, MoveRequest, Reply, RootAnswer,
    RootRequest, RowsAnswer, RowsRequest, TransactionAnswer, TransactionRequest, WireWrite, decode,
    encode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use store::Error;

/// Compares lines, each of which begins with its name, with those of a file.
fn compare(file: &str, lines: &[String]) {
    let path = Path::new("tests/golden").join(file);
    if std::env::var_os("UPDATE_GOLDENFILES").is_some() {
        std::fs::write(&path, lines.join("\n") + "\n").expect("written");
        return;
    }
    let golden = std::fs::read_to_string(&path).expect("a golden file");
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let golden: BTreeMap<String, &str> = golden.lines().map(|line| (name(line), line)).collect();
    for line in lines {
        let known = golden.get(&name(line)).copied().unwrap_or("nothing");
        assert_eq!(line, known, "the bytes of {} have changed", name(line));
    }
    assert_eq!(lines.len(), golden.len(), "{file} has something that no sample has");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The line of a sample, which is read back, and of which damage causes no panic.
fn line<T: Serialize + DeserializeOwned>(name: &str, sample: &T) -> String {
    let bytes = encode(sample).expect("encoded");
    let back: T = decode(&bytes).expect("decoded");
    assert_eq!(encode(&back).expect("encoded"), bytes, "{name} is read back");
    for length in 0..bytes.len() {
        assert!(decode::<T>(&bytes[..length]).is_err(), "{length} bytes of {name}");
    }
    let mut flipped = bytes.to_vec();
    for bit in 0..flipped.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode::<T>(&flipped);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
    format!("{name} {}", hex(&bytes))
}

/// The lines of samples of one type, of which there is one of each variant. Each begins with `before`, and then its ordinal.
macro_rules! lines {
    ($type:ident, $before:expr, $samples:expr, $message:expr) => {{
        let samples: Vec<$type> = $samples;
        let names: BTreeSet<&str> = samples.iter().map(|sample| sample.name()).collect();
        assert_eq!(names, $type::NAMES.iter().copied().collect(), "one of each variant");
        samples.into_iter().map(move |sample| {
            let name = format!("{}.{}", stringify!($type), sample.name());
            let (ordinal, before): (u32, Vec<u8>) = (sample.ordinal(), $before);
            let message = $message(sample);
            let bytes = encode(&message).expect("encoded");
            assert_eq!(&bytes[..before.len()], before, "{name}");
            assert_eq!(u32::from(bytes[before.len()]), ordinal, "the ordinal of {name}");
            line(&name, &message)
        })
    }};
}

/// A request in its envelope, without sender and receiver.
macro_rules! requests {
    ($type:ident, $group:literal, $samples:expr) => {
        lines!($type, vec![0, 0, $group], $samples, |request: $type| Envelope {
            from: None,
            to: None,
            request: request.into()
        })
    };
}

macro_rules! answers {
    ($type:ident, $samples:expr) => {
        lines!($type, vec![0], $samples, Reply::<$type>::Ok)
    };
}

#[test]
fn every_message_has_its_bytes() {
    let mut lines = Vec::new();
    lines.extend(requests!(RootRequest, 0, samples::root_requests()));
    lines.extend(answers!(RootAnswer, samples::root_answers()));
    lines.extend(requests!(RowsRequest, 1, samples::rows_requests()));
    lines.extend(lines!(WireWrite, vec![], samples::writes(), |write| write));
    lines.extend(answers!(RowsAnswer, samples::rows_answers()));
    lines.extend(requests!(TransactionRequest, 2, samples::transaction_requests()));
    lines.extend(answers!(TransactionAnswer, samples::transaction_answers()));
    lines.extend(requests!(MoveRequest, 3, samples::move_requests()));
    lines.extend(answers!(MoveAnswer, samples::move_answers()));
    lines.extend(requests!(DirectoryRequest, 4, samples::directory_requests()));
    lines.extend(answers!(DirectoryAnswer, samples::directory_answers()));
    lines.extend(
        samples::directory_messages()
            .into_iter()
            .map(|(name, message)| line(&format!("directory::Message.{name}"), &message)),
    );
    lines.extend(samples::errors().into_iter().map(|(name, error)| {
        line(&format!("store::Error.{name}"), &Reply::<RootAnswer>::Err(error))
    }));
    lines.push(line("Envelope", &samples::envelope()));
    compare("messages.txt", &lines);
}

#[test]
fn every_error_and_message_of_the_directory_has_a_sample() {
    let names = |samples: Vec<&'static str>| samples.into_iter().collect::<BTreeSet<_>>();
    let errors = samples::errors().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names(errors), names(variants::of::<Error>()));
    let messages = samples::directory_messages().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names(messages), names(variants::of::<sdds::directory::Message<()>>()));
}

#[test]
fn the_enums_within_messages_have_their_ordinals() {
    compare("variants.txt", &variants::lines());
}
