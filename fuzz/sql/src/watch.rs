//! Watches a server while statements run: its resident memory, and whether it answers others.
//!
//! Two connections ask `SELECT 1` in turns, so that on a small machine one shares the thread of the statement's
//! connection.

use crate::child::resident;
use crate::client::Client;
use crate::script::Mode;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two looks at memory.
const MEMORY_PAUSE: Duration = Duration::from_millis(20);
/// The pause between two questions.
const ASK_PAUSE: Duration = Duration::from_millis(100);
/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Resident memory at which the server is stopped, lest the machine suffers.
pub(crate) const RESIDENT_STOP: u64 = 4 << 30;

/// What was seen since the statement began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    /// The largest resident memory in bytes.
    pub(crate) resident: u64,
    /// The longest time that `SELECT 1` took or has been waiting for.
    pub(crate) silence: Duration,
}

/// Watches until it is dropped.
pub(crate) struct Watch {
    shared: Arc<Shared>,
}

struct Shared {
    ended: AtomicBool,
    resident: AtomicU64,
    /// When the statement began.
    since: Mutex<Instant>,
    silence: Mutex<Duration>,
    /// When the question was asked that has no answer yet.
    asked: Mutex<Option<Instant>>,
}

impl Shared {
    /// The time since a question, as far as the statement has been running.
    fn since(&self, asked: Instant) -> Duration {
        asked.max(*locked(&self.since)).elapsed()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
    }
}

impl Watch {
    /// Watches the server with this process and address.
    pub(crate) fn start(id: u32, address: SocketAddr) -> Self {
        let shared = Arc::new(Shared {
            ended: AtomicBool::new(false),
            resident: AtomicU64::new(0),
            since: Mutex::new(Instant::now()),
            silence: Mutex::default(),
            asked: Mutex::default(),
        });
        let (memory, silence) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::spawn(move || watch_memory(id, &memory));
        thread::spawn(move || ask(address, &silence));
        Self { shared }
    }

    /// A statement begins.
    pub(crate) fn begin(&self) {
        self.shared.resident.store(0, Ordering::Relaxed);
        *locked(&self.shared.since) = Instant::now();
        *locked(&self.shared.silence) = Duration::ZERO;
    }

    /// What was seen since then.
    pub(crate) fn seen(&self) -> Seen {
        let resident = self.shared.resident.load(Ordering::Relaxed);
        let waiting = locked(&self.shared.asked).map(|asked| self.shared.since(asked));
        let silence = waiting.unwrap_or_default().max(*locked(&self.shared.silence));
        Seen { resident, silence }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch_memory(id: u32, shared: &Shared) {
    while !shared.ended.load(Ordering::Relaxed) {
        let resident = resident(id);
        shared.resident.fetch_max(resident, Ordering::Relaxed);
        if resident > RESIDENT_STOP {
            let _ = std::process::Command::new("kill").args(["-9", &id.to_string()]).status();
            return;
        }
        thread::sleep(MEMORY_PAUSE);
    }
}

fn ask(address: SocketAddr, shared: &Shared) {
    let mut clients = [None, None];
    for turn in (0..2).cycle() {
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        let asked = Instant::now();
        *locked(&shared.asked) = Some(asked);
        let client = clients[turn].take();
        let client = client.map_or_else(|| Client::connect(address, asked + PATIENCE), Ok);
        clients[turn] = client.ok().and_then(|mut client| {
            client.run("SELECT 1", Mode::Simple, asked + PATIENCE).is_ok().then_some(client)
        });
        *locked(&shared.asked) = None;
        let silence = shared.since(asked);
        let mut longest = locked(&shared.silence);
        *longest = silence.max(*longest);
        drop(longest);
        thread::sleep(ASK_PAUSE);
    }
}
