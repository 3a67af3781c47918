//! What a client changed, and which states a server may have after a crash.

use std::collections::BTreeMap;

/// The rows of one client, by name.
pub(super) type State = BTreeMap<String, String>;

/// What a server promises about changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// Every acknowledged change is there, and those before it.
    Acknowledged,
    /// If a change is there, those before it are.
    Prefix,
}

/// A change: rows by name, `None` where a row is deleted. It happens as a whole.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) rows: Vec<(String, Option<String>)>,
    pub(super) is_acknowledged: bool,
}

impl Change {
    fn apply(&self, state: &mut State) {
        for (name, value) in &self.rows {
            match value {
                Some(value) => state.insert(name.clone(), value.clone()),
                None => state.remove(name),
            };
        }
    }
}

/// A state and the changes since, in their order.
#[derive(Debug, Default)]
pub(super) struct History {
    state: State,
    changes: Vec<Change>,
}

impl History {
    /// The state after all changes.
    pub(super) fn newest(&self) -> State {
        let mut state = self.state.clone();
        self.changes.iter().for_each(|change| change.apply(&mut state));
        state
    }

    /// Notes a change that is about to be made.
    pub(super) fn begin(&mut self, rows: Vec<(String, Option<String>)>) {
        self.changes.push(Change { rows, is_acknowledged: false });
    }

    /// Notes that the newest change was acknowledged.
    pub(super) fn acknowledge(&mut self) {
        if let Some(change) = self.changes.last_mut() {
            change.is_acknowledged = true;
        }
    }

    /// Notes that the newest change was refused.
    pub(super) fn refuse(&mut self) {
        self.changes.pop();
    }

    /// Compares with what a server has, goes on from there, and returns the number of changes that were kept.
    pub(super) fn audit(&mut self, found: State, promise: Promise) -> Result<u64, String> {
        let acknowledged = self.changes.iter().rposition(|change| change.is_acknowledged);
        let least = match promise {
            Promise::Acknowledged => acknowledged.map_or(0, |place| place + 1),
            Promise::Prefix => 0,
        };
        let mut state = self.state.clone();
        for kept in 0..=self.changes.len() {
            if kept >= least && state == found {
                self.changes.clear();
                self.state = found;
                return Ok(kept as u64);
            }
            if let Some(change) = self.changes.get(kept) {
                change.apply(&mut state);
            }
        }
        let newest = self.newest();
        let differing: Vec<String> = newest
            .keys()
            .chain(found.keys())
            .filter(|name| newest.get(*name) != found.get(*name))
            .map(|name| {
                format!("{name}: {:?} written, {:?} found", newest.get(name), found.get(name))
            })
            .collect();
        Err(format!("{} changes, {least} to be kept: {}", self.changes.len(), differing.join("; ")))
    }
}

#[test]
fn an_audit_accepts_what_a_crash_may_leave_and_nothing_else() {
    let row = |name: &str, value: i32| (name.to_owned(), Some(value.to_string()));
    let state = |rows: &[(&str, i32)]| -> State {
        rows.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
    };
    let history = || {
        let mut history = History::default();
        history.begin(vec![row("a", 1)]);
        history.acknowledge();
        history.begin(vec![row("a", 2), row("b", 2)]);
        history.acknowledge();
        history.begin(vec![("a".to_owned(), None)]);
        history
    };
    let accepts = |rows: &[(&str, i32)], promise| history().audit(state(rows), promise).is_ok();
    assert!(accepts(&[("a", 2), ("b", 2)], Promise::Acknowledged));
    assert!(accepts(&[("b", 2)], Promise::Acknowledged), "a change without an answer");
    assert!(!accepts(&[("a", 1)], Promise::Acknowledged), "a lost change");
    assert!(accepts(&[("a", 1)], Promise::Prefix));
    for promise in [Promise::Acknowledged, Promise::Prefix] {
        assert!(!accepts(&[("a", 2)], promise), "a torn change");
        assert!(!accepts(&[("b", 2), ("c", 1)], promise), "a row of nobody");
    }
}
