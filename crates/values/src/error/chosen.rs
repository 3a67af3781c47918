//! Error codes that users choose.

use super::SqlState;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The most codes of users that a server keeps apart.
const CODES_MAX: usize = 10_000;

/// The codes so far. They are kept for ever, because errors are small and are copied.
static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl SqlState {
    /// The state of a code that a user has chosen. After very many other codes it is that of RAISE.
    pub fn chosen(code: &str) -> Self {
        if let Some(known) = Self::of_code(code) {
            return known;
        }
        let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = codes.get(code) {
            return Self::Chosen(known);
        }
        if codes.len() == CODES_MAX {
            return Self::RaiseException;
        }
        let kept: &'static str = Box::leak(code.to_owned().into_boxed_str());
        codes.insert(kept);
        Self::Chosen(kept)
    }
}
