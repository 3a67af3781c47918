//! A client's messages: from a line of a script to bytes.

use super::words::{Word, words};

/// The first message of a connection has no type byte.
fn untyped(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
    [&length[..], body].concat()
}

fn typed(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &untyped(body)].concat()
}

fn text(word: &Word) -> Vec<u8> {
    let mut bytes = word.bytes().expect("a text");
    bytes.push(0);
    bytes
}

fn list(words: &[Word], item: impl Fn(&Word) -> Vec<u8>) -> Vec<u8> {
    let count = u16::try_from(words.len()).expect("short").to_be_bytes().to_vec();
    words.iter().fold(count, |bytes, word| [bytes, item(word)].concat())
}

fn formats(word: &Word) -> Vec<u8> {
    list(word.list(), |code| code.number::<u16>().to_be_bytes().to_vec())
}

fn value(word: &Word) -> Vec<u8> {
    match word.bytes() {
        None => (-1i32).to_be_bytes().to_vec(),
        Some(bytes) => {
            let length = u32::try_from(bytes.len()).expect("short").to_be_bytes();
            [&length[..], &bytes].concat()
        }
    }
}

fn target(arguments: &[Word]) -> Vec<u8> {
    [arguments[0].bytes().expect("S or P"), text(&arguments[1])].concat()
}

/// The bytes of a message, and the number of ReadyForQuery messages that it causes.
pub(crate) fn message(line: &str) -> (Vec<u8>, usize) {
    let all = words(line);
    let (Word::Bare(kind), arguments) = (&all[0], &all[1..]) else { panic!("no message: {line}") };
    let bytes = match kind.as_str() {
        "SSLRequest" => untyped(&80_877_103u32.to_be_bytes()),
        "GSSENCRequest" => untyped(&80_877_104u32.to_be_bytes()),
        "Startup" => startup(arguments),
        "Query" => typed(b'Q', &text(&arguments[0])),
        "Parse" => {
            let oids = list(arguments[2].list(), |oid| oid.number::<u32>().to_be_bytes().to_vec());
            typed(b'P', &[text(&arguments[0]), text(&arguments[1]), oids].concat())
        }
        "Bind" => {
            let names = [text(&arguments[0]), text(&arguments[1])].concat();
            let values = list(arguments[3].list(), value);
            let (before, after) = (formats(&arguments[2]), formats(&arguments[4]));
            typed(b'B', &[names, before, values, after].concat())
        }
        "Describe" => typed(b'D', &target(arguments)),
        "Close" => typed(b'C', &target(arguments)),
        "Execute" => {
            let rows = arguments[1].number::<u32>().to_be_bytes().to_vec();
            typed(b'E', &[text(&arguments[0]), rows].concat())
        }
        "Flush" => typed(b'H', b""),
        "Sync" => typed(b'S', b""),
        "CopyData" => typed(b'd', &arguments[0].bytes().expect("data")),
        "CopyDone" => typed(b'c', b""),
        "CopyFail" => typed(b'f', &text(&arguments[0])),
        "FunctionCall" => typed(b'F', b"\0\0\0\x01\0\0\0\0\0\0"),
        "Terminate" => typed(b'X', b""),
        "Raw" => arguments[0].bytes().expect("bytes"),
        other => panic!("unknown message {other}"),
    };
    (bytes, usize::from(matches!(kind.as_str(), "Startup" | "Query" | "Sync" | "FunctionCall")))
}

/// `3.0 name=value ...`
fn startup(arguments: &[Word]) -> Vec<u8> {
    let mut words = arguments.iter().map(|word| word.bytes().expect("a word"));
    let version = String::from_utf8(words.next().expect("a version")).expect("text");
    let (major, minor) = version.split_once('.').expect("major.minor");
    let number = |part: &str| part.parse::<u16>().expect("a number").to_be_bytes();
    let mut body = [number(major), number(minor)].concat();
    for word in words {
        let at = word.iter().position(|byte| *byte == b'=').expect("name=value");
        body.extend([&word[..at], b"\0", &word[at + 1..], b"\0"].concat());
    }
    body.push(0);
    untyped(&body)
}
