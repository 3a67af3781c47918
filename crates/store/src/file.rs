//! The file of a table: a partition of the key space into tiles.
//!
//! Without other servers, each tile is a bucket. In a cluster, a tile is a bucket owned by this
//! server, or belongs to another server; crate `cluster` knows which.

use crate::info::Holdings;
use arc_swap::ArcSwap;
use bucket::{Bucket, BucketState};
use parking_lot::Mutex;
use sdds::{BucketId, Key, KeyRange, Partition};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The owner of a range of keys.
#[derive(Debug, Clone)]
pub(crate) enum Tile {
    /// Owned by this server.
    Here(Arc<Bucket>),
    /// Being moved to another server: readers that hold the bucket continue, new ones are refused.
    Leaving(Arc<Bucket>),
    /// Owned by another server.
    Elsewhere,
}

impl Tile {
    /// Returns the bucket if it can be read and written.
    pub(crate) fn owned(&self) -> Option<&Arc<Bucket>> {
        match self {
            Self::Here(bucket) => Some(bucket),
            Self::Leaving(_) | Self::Elsewhere => None,
        }
    }

    /// Returns the bucket if its memory is accounted for on this server.
    pub(crate) fn held(&self) -> Option<&Arc<Bucket>> {
        match self {
            Self::Here(bucket) | Self::Leaving(bucket) => Some(bucket),
            Self::Elsewhere => None,
        }
    }
}

/// The tiles of one table.
#[derive(Debug)]
pub(crate) struct TableFile {
    directory: ArcSwap<Partition<Tile>>,
    /// Totals of the owned tiles, maintained with each change.
    holdings: Mutex<Holdings>,
    /// Average accesses per second of all owned tiles at the last update.
    accesses: AtomicU64,
}

impl TableFile {
    /// Creates a file that consists of one empty bucket.
    pub(crate) fn new(bucket: BucketId) -> Arc<Self> {
        let bucket = Bucket::new(bucket, KeyRange::all(), BucketState::default());
        Self::of(Partition::new(Tile::Here(bucket)))
    }

    /// Creates a file that is owned by other servers.
    pub(crate) fn elsewhere() -> Arc<Self> {
        Self::of(Partition::new(Tile::Elsewhere))
    }

    /// Creates a file of tiles.
    pub(crate) fn of(directory: Partition<Tile>) -> Arc<Self> {
        let holdings = sum(&directory, &KeyRange::all());
        let directory = ArcSwap::from_pointee(directory);
        let accesses = AtomicU64::default();
        Arc::new(Self { directory, holdings: Mutex::new(holdings), accesses })
    }

    /// Returns an empty file that owns the same keys, with one bucket for each contiguous range.
    pub(crate) fn emptied(&self, mut bucket_id: impl FnMut() -> BucketId) -> Arc<Self> {
        let mut directory = Partition::new(Tile::Elsewhere);
        for range in self.owned() {
            let bucket = Bucket::new(bucket_id(), range.clone(), BucketState::default());
            directory.assign(&range, Tile::Here(bucket));
        }
        Self::of(directory)
    }

    /// Returns the current tiles.
    pub(crate) fn directory(&self) -> Arc<Partition<Tile>> {
        self.directory.load_full()
    }

    /// Returns the bucket that contains a key; `None` if the key is not owned here.
    pub(crate) fn locate(&self, key: &Key) -> Option<Arc<Bucket>> {
        self.directory.load().locate(key).1.owned().map(Arc::clone)
    }

    /// Whether some keys are being moved to another server.
    pub(crate) fn is_leaving(&self) -> bool {
        self.directory.load().iter().any(|(_, tile)| matches!(tile, Tile::Leaving(_)))
    }

    /// Whether all keys of a range are owned here.
    pub(crate) fn owns(&self, range: &KeyRange) -> bool {
        self.directory.load().cover(range).all(|(_, tile)| tile.owned().is_some())
    }

    /// Returns the maximal ranges of keys owned here, in key order.
    pub(crate) fn owned(&self) -> Vec<KeyRange> {
        let mut stretches: Vec<KeyRange> = Vec::new();
        for (range, tile) in self.directory.load().iter() {
            if tile.held().is_none() {
                continue;
            }
            match stretches.last_mut().filter(|last| last.high == range.low) {
                Some(last) => last.high = range.high,
                None => stretches.push(range),
            }
        }
        stretches
    }

    /// Returns the average accesses per second of the owned tiles.
    pub(crate) fn accesses(&self) -> u64 {
        self.accesses.load(Ordering::Relaxed)
    }

    /// Updates the average accesses after `elapsed`.
    pub(crate) fn average_accesses(&self, elapsed: Duration) {
        let directory = self.directory.load();
        let owned = directory.iter().filter_map(|(_, tile)| tile.owned());
        let sum = owned.map(|bucket| bucket.accesses.average(elapsed)).sum();
        self.accesses.store(sum, Ordering::Relaxed);
    }

    /// Returns the totals of the owned tiles.
    pub(crate) fn holdings(&self) -> Holdings {
        *self.holdings.lock()
    }

    /// Recomputes the totals of the owned tiles.
    pub(crate) fn count_holdings(&self) -> Holdings {
        sum(&self.directory.load(), &KeyRange::all())
    }

    /// Records a change of the state of an owned bucket. Called only by the state machine.
    pub(crate) fn bucket_changed(&self, before: &BucketState, after: &BucketState) {
        let mut holdings = self.holdings.lock();
        holdings.change(Holdings::of(before), Holdings::of(after));
    }

    /// Replaces the directory by one that differs only within a range. Called only by the state
    /// machine.
    pub(crate) fn replace_directory(&self, directory: Partition<Tile>, range: &KeyRange) {
        let (before, after) = (sum(&self.directory.load(), range), sum(&directory, range));
        self.holdings.lock().change(before, after);
        self.directory.store(Arc::new(directory));
    }
}

/// Returns the totals of the owned tiles that overlap a range.
fn sum(directory: &Partition<Tile>, range: &KeyRange) -> Holdings {
    let mut sum = Holdings::default();
    for bucket in directory.cover(range).filter_map(|(_, tile)| tile.owned()) {
        sum.change(Holdings::default(), Holdings::of(&bucket.state()));
    }
    sum
}
