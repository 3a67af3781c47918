//! Whatever comes before a session has begun.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| frontend::judge::startup(bytes));
