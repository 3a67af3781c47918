//! The priorities of threads, as nice values.

use parking_lot::Mutex;
use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::gettid;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much nicer the threads of a long statement are. A step of the nice value is a fourth of a thread's share of a
/// processor, so ten leave a tenth.
const DEMOTION: i32 = 10;

/// The nicest value that there is.
const NICEST: i32 = 19;

/// The threads of an executor.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    ids: Mutex<Vec<Pid>>,
    is_demoted: AtomicBool,
}

impl Threads {
    /// Adds the calling thread.
    pub(crate) fn enter(&self) {
        self.ids.lock().push(gettid());
    }

    /// Removes the calling thread, whose number may go to another one.
    pub(crate) fn leave(&self) {
        let own = gettid();
        self.ids.lock().retain(|id| *id != own);
    }

    /// Whether the threads work at a lower priority.
    pub(crate) fn is_demoted(&self) -> bool {
        self.is_demoted.load(Ordering::Relaxed)
    }

    /// Lowers the priority of the threads. Where the system refuses it, they keep theirs.
    pub(crate) fn demote(&self) {
        if !self.is_demoted.swap(true, Ordering::Relaxed) {
            self.set((own_priority() + DEMOTION).min(NICEST));
        }
    }

    /// Gives the threads the priority of the process again. Returns false if the system refuses it, as it does to
    /// unprivileged users.
    pub(crate) fn promote(&self) -> bool {
        let done = !self.is_demoted() || self.set(own_priority());
        if done {
            self.is_demoted.store(false, Ordering::Relaxed);
        }
        done
    }

    /// Linux has a nice value for each thread, and names threads like processes.
    fn set(&self, value: i32) -> bool {
        self.ids.lock().iter().all(|id| setpriority_process(Some(*id), value).is_ok())
    }
}

/// The nice value of the process's first thread.
fn own_priority() -> i32 {
    getpriority_process(Some(rustix::process::getpid())).unwrap_or(0)
}
