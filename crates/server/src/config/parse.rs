//! Parsing of values. Errors say what is expected.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

pub(super) fn optional<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || "must be a host and a port, like 127.0.0.1:5433".to_owned();
    text.to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    query::bytes_of(text).ok_or_else(|| "must be a size, like 8GiB or 500MB".to_owned())
}

pub(super) fn number(text: &str) -> Result<usize, String> {
    text.replace('_', "").parse().map_err(|_| "must be a number".to_owned())
}

pub(super) fn positive(text: &str) -> Result<usize, String> {
    match number(text)? {
        0 => Err("must be at least 1".to_owned()),
        number => Ok(number),
    }
}

pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text {
        "true" | "on" | "yes" | "1" => Ok(true),
        "false" | "off" | "no" | "0" | "" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

pub(super) fn level(text: &str) -> Result<tracing::Level, String> {
    text.parse().map_err(|_| "must be error, warn, info, debug or trace".to_owned())
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let millis = match text[digits..].trim() {
        "ms" => Some(1),
        "s" => Some(1000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let number: Option<u64> = text[..digits].parse().ok();
    let millis = number.zip(millis).and_then(|(number, unit)| number.checked_mul(unit));
    millis
        .map(Duration::from_millis)
        .ok_or_else(|| "must be a duration, like 500ms, 30s, 5min".to_owned())
}
