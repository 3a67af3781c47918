//! Cancel requests: a second connection identifies the first by its process number and secret.

use parking_lot::Mutex;
use query::{CancelHandle, Session};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of the secret of a protocol 3.2 client ...
pub(crate) const SECRET_BYTES: usize = 32;
/// ... and of a protocol 3.0 client, whose secret has this fixed size.
pub(crate) const SECRET_BYTES_OLD: usize = 4;

/// The sessions that can be cancelled.
#[derive(Debug, Default)]
pub(crate) struct Cancels {
    sessions: Mutex<HashMap<u32, (Vec<u8>, CancelHandle)>>,
}

/// A session's registration, which ends on drop.
#[derive(Debug)]
pub(crate) struct Registered {
    cancels: Arc<Cancels>,
    pub(crate) process: u32,
    pub(crate) secret: Vec<u8>,
}

impl Cancels {
    /// Registers a session.
    pub(crate) fn register(self: &Arc<Self>, session: &Session, secret: Vec<u8>) -> Registered {
        let process = session.process();
        self.sessions.lock().insert(process, (secret.clone(), session.cancel_handle()));
        Registered { cancels: Arc::clone(self), process, secret }
    }

    /// Cancels the current statement of a session if the secret matches.
    pub(crate) fn cancel(&self, process: u32, secret: &[u8]) {
        let sessions = self.sessions.lock();
        let Some((known, handle)) = sessions.get(&process) else { return };
        let differs = known.iter().zip(secret).fold(0, |all, (a, b)| all | (a ^ b));
        if known.len() == secret.len() && differs == 0 {
            handle.cancel();
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.cancels.sessions.lock().remove(&self.process);
    }
}
