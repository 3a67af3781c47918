//! Threads that serve connections. A connection stays on its thread: with work stealing, each burst
//! of messages would wake a second thread, which costs more than a keyed statement. A connection that
//! is alone on its thread also waits for the disk there ([`super::alone`]).

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// Parsing and recognizing a keyed statement recurse with the nesting of its expressions. It is address space, of which only
/// what was used is memory.
const STACK_BYTES: usize = 64 << 20;

/// The threads, which end on drop.
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    end: CancellationToken,
}

struct Lane {
    runtime: Handle,
    connections: Arc<AtomicUsize>,
}

/// A connection's place on a thread, released on drop.
pub(crate) struct Place(Arc<AtomicUsize>);

impl Place {
    /// The number of connections on the thread.
    pub(crate) fn connections(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lanes {
    /// Starts a thread for each processor.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(crate) fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let end = CancellationToken::new();
        let lanes = (0..count).map(|_| lane(end.clone())).collect::<io::Result<_>>()?;
        Ok(Self { lanes, end })
    }

    /// The thread with the fewest connections, and a place on it.
    pub(crate) fn place(&self) -> Option<(&Handle, Place)> {
        let lane = self.lanes.iter().min_by_key(|lane| lane.connections.load(Ordering::Relaxed))?;
        lane.connections.fetch_add(1, Ordering::Relaxed);
        Some((&lane.runtime, Place(Arc::clone(&lane.connections))))
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

fn lane(end: CancellationToken) -> io::Result<Lane> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let thread = thread::Builder::new().name("pando-lane".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || runtime.block_on(end.cancelled()))?;
    Ok(Lane { runtime: handle, connections: Arc::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_go_where_the_fewest_are() {
        let lanes = Lanes::start().expect("threads");
        let places: Vec<Place> =
            (0..lanes.lanes.len() * 3).map(|_| lanes.place().expect("a lane").1).collect();
        let open = |lane: &Lane| lane.connections.load(Ordering::Relaxed);
        assert!(lanes.lanes.iter().all(|lane| open(lane) == 3));
        drop(places);
        assert!(lanes.lanes.iter().all(|lane| open(lane) == 0));
    }
}
