//! What a client knows of its changes, each of which leaves a row with a number of its own.

use std::collections::{BTreeMap, BTreeSet};

/// What a client knows of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was acknowledged.
    Done,
    /// It was refused, and has changed nothing.
    Failed,
    /// The connection ended before the answer, or the server does not know.
    Unknown,
}

/// The changes of a client by number.
#[derive(Debug, Default)]
pub(super) struct Ledger(BTreeMap<i64, Outcome>);

impl Ledger {
    /// The number of the next change, whose outcome is not known yet.
    pub(super) fn begin(&mut self) -> i64 {
        let number = self.0.last_key_value().map_or(1, |(last, _)| last + 1);
        self.0.insert(number, Outcome::Unknown);
        number
    }

    /// Notes the outcome of a change.
    pub(super) fn note(&mut self, number: i64, outcome: Outcome) {
        self.0.insert(number, outcome);
    }

    /// Changes that were acknowledged.
    pub(super) fn done(&self) -> usize {
        self.0.values().filter(|outcome| **outcome == Outcome::Done).count()
    }

    /// Compares with the rows that are there after all servers have been started again. From then on all outcomes are
    /// known.
    pub(super) fn audit(&mut self, found: &BTreeSet<i64>) -> Result<(), String> {
        if let Some(strange) = found.iter().find(|number| !self.0.contains_key(number)) {
            return Err(format!("change {strange} was never made"));
        }
        for (number, outcome) in &mut self.0 {
            *outcome = match (*outcome, found.contains(number)) {
                (Outcome::Done, false) => return Err(format!("change {number} is lost")),
                (Outcome::Failed, true) => return Err(format!("change {number} has happened")),
                (Outcome::Unknown | Outcome::Done, true) => Outcome::Done,
                (Outcome::Unknown | Outcome::Failed, false) => Outcome::Failed,
            };
        }
        Ok(())
    }
}

#[test]
fn an_audit_accepts_what_clients_were_told_and_nothing_else() {
    let ledger = || {
        let mut ledger = Ledger::default();
        for outcome in [Outcome::Done, Outcome::Failed, Outcome::Unknown] {
            let number = ledger.begin();
            ledger.note(number, outcome);
        }
        ledger
    };
    let accepts = |found: &[i64]| ledger().audit(&found.iter().copied().collect()).is_ok();
    assert!(accepts(&[1]) && accepts(&[1, 3]));
    assert!(!accepts(&[]) && !accepts(&[1, 2]) && !accepts(&[1, 4]));
    let mut once = ledger();
    assert!(once.audit(&BTreeSet::from([1, 3])).is_ok());
    assert!(once.audit(&BTreeSet::from([1])).is_err(), "it was there before");
}
