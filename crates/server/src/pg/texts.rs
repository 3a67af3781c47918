//! Statements that a client sends again and again, by their text: each is parsed once.
//!
//! A statement depends on its text and on the declared types of its parameters only. What it means
//! under the present definitions and settings, `query::Prepared` finds out whenever it is executed.
//! The memory is bounded by the length of the texts; the statements used least recently are
//! forgotten.

use query::Statement;
use std::collections::HashMap;
use std::sync::Arc;

/// The longest text that is kept.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// Bytes of all texts. A parsed statement takes some twenty times as much.
const BYTES_MAX: usize = 32 << 10;

/// A parsed statement, and the same to be executed.
pub(crate) type Planned = (Statement, Arc<query::Prepared>);

/// Parsed statements by their text and the declared types of their parameters.
#[derive(Default)]
pub(crate) struct Texts {
    known: HashMap<Box<str>, Vec<Known>>,
    bytes: usize,
    uses: u64,
}

struct Known {
    types: Box<[u32]>,
    planned: Planned,
    used: u64,
}

impl Texts {
    /// The statement of a text; `None` if it is not known.
    pub(crate) fn get(&mut self, text: &str, types: &[u32]) -> Option<Planned> {
        let known = self.known.get_mut(text)?.iter_mut().find(|known| *known.types == *types)?;
        self.uses += 1;
        known.used = self.uses;
        Some(known.planned.clone())
    }

    /// Keeps the statement of a text that is not known.
    pub(crate) fn put(&mut self, text: &str, types: &[u32], planned: &Planned) {
        let bytes = bytes(text, types);
        if bytes > TEXT_BYTES_MAX || planned.0.keeps_secret() {
            return;
        }
        while self.bytes + bytes > BYTES_MAX {
            self.forget_one();
        }
        self.uses += 1;
        self.bytes += bytes;
        let (types, planned, used) = (types.into(), planned.clone(), self.uses);
        self.known.entry(text.into()).or_default().push(Known { types, planned, used });
    }

    /// Forgets the text whose last use is longest ago.
    fn forget_one(&mut self) {
        let last_use = |all: &Vec<Known>| all.iter().map(|known| known.used).max();
        let oldest = self.known.iter().min_by_key(|(_, all)| last_use(all));
        let Some(text) = oldest.map(|(text, _)| text.clone()) else { return };
        for known in self.known.remove(&text).into_iter().flatten() {
            self.bytes -= bytes(&text, &known.types);
        }
    }
}

/// What a statement counts for; short ones count for what they take besides their text.
fn bytes(text: &str, types: &[u32]) -> usize {
    64 + text.len() + size_of_val(types)
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::{Database, Options};

    #[test]
    fn the_texts_used_last_are_kept() {
        let session = Database::open(Options::default()).expect("a database").session();
        let planned = |text: &str| {
            let statement = query::parse(text).expect(text).remove(0);
            (statement.clone(), Arc::new(session.prepare_statement(statement)))
        };
        let mut texts = Texts::default();
        texts.put("SELECT 0", &[], &planned("SELECT 0"));
        texts.put("SELECT 0", &[23], &planned("SELECT 0"));
        for number in 1..1000 {
            let text = format!("SELECT {number}");
            texts.put(&text, &[], &planned(&text));
            assert!(texts.get("SELECT 0", &[23]).is_some(), "it is used all the time");
            assert!(texts.get(&text, &[]).is_some(), "it was used last");
            assert!(texts.bytes <= BYTES_MAX);
        }
        assert!(texts.get("SELECT 1", &[]).is_none(), "it was not used for long");
        assert!(texts.get("SELECT 0", &[20]).is_none(), "it has other types");
        let long = format!("SELECT '{}'", "x".repeat(TEXT_BYTES_MAX));
        texts.put(&long, &[], &planned(&long));
        assert!(texts.get(&long, &[]).is_none(), "it is too long");
    }
}
