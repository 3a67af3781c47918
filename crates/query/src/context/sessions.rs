//! The sessions of a database, by their process numbers.
//!
//! A client learns its session's process number for cancel requests. Sessions without a connected client, those inside
//! programs, have a number, too, and are not listed.

use catalog_views::session_context::SessionContext;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// Process numbers are below this: clients keep them in a signed integer.
const PROCESSES: u32 = 1 << 31;

/// The sessions of a database, by their process numbers.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    last: u32,
    sessions: BTreeMap<u32, Weak<dyn SessionContext>>,
}

impl Sessions {
    /// A free process number, for a session that will be [`Self::put`].
    pub(crate) fn number(&self) -> u32 {
        let mut known = self.0.lock();
        loop {
            known.last = (known.last + 1) % PROCESSES;
            if known.last != 0 && !known.sessions.contains_key(&known.last) {
                return known.last;
            }
        }
    }

    pub(crate) fn put(&self, session: &Arc<dyn SessionContext>) {
        self.0.lock().sessions.insert(session.process(), Arc::downgrade(session));
    }

    pub(crate) fn remove(&self, process: u32) {
        self.0.lock().sessions.remove(&process);
    }

    /// The session with a process number, if a client is connected to it.
    pub(crate) fn get(&self, process: i64) -> Option<Arc<dyn SessionContext>> {
        let process = u32::try_from(process).ok()?;
        let session = self.0.lock().sessions.get(&process)?.upgrade()?;
        session.activity().is_connected.then_some(session)
    }

    /// The sessions that clients are connected to.
    pub(crate) fn connected(&self) -> Vec<Arc<dyn SessionContext>> {
        let sessions: Vec<_> = self.0.lock().sessions.values().filter_map(Weak::upgrade).collect();
        sessions.into_iter().filter(|session| session.activity().is_connected).collect()
    }
}
