//! Whatever comes in a session.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| frontend::judge::messages(bytes));
