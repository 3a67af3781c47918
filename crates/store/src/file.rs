//! A table's file: tiles of its key space, each with who has its rows.
//!
//! Without other servers every tile is a bucket. In a cluster the tiles say what is owned here; who owns the
//! rest is not known here (`cluster` has an image of that).

use crate::bucket::{Bucket, BucketState};
use crate::info::Holdings;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use sdds::{BucketId, Key, KeyRange, Partition};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Who has the rows of a stretch of keys.
#[derive(Debug, Clone)]
pub(crate) enum Tile {
    /// They are owned here.
    Here(Arc<Bucket>),
    /// They are about to be another server's: whoever has the bucket reads on, and nobody else begins to.
    Leaving(Arc<Bucket>),
    /// Another server.
    Elsewhere,
}

impl Tile {
    /// The bucket that may be read and written.
    pub(crate) fn owned(&self) -> Option<&Arc<Bucket>> {
        match self {
            Self::Here(bucket) => Some(bucket),
            Self::Leaving(_) | Self::Elsewhere => None,
        }
    }

    /// The bucket whose memory is accounted for here.
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
    /// What the owned tiles hold together, kept with each change: whoever asks often does not go through them.
    holdings: Mutex<Holdings>,
    /// Accesses a second of all owned tiles, when they were averaged last.
    accesses: AtomicU64,
}

impl TableFile {
    /// A file of one empty bucket.
    pub(crate) fn new(bucket: BucketId) -> Arc<Self> {
        let bucket = Bucket::new(bucket, KeyRange::all(), BucketState::default());
        Self::of(Partition::new(Tile::Here(bucket)))
    }

    /// A file of which other servers own everything.
    pub(crate) fn elsewhere() -> Arc<Self> {
        Self::of(Partition::new(Tile::Elsewhere))
    }

    fn of(directory: Partition<Tile>) -> Arc<Self> {
        let holdings = sum(&directory, &KeyRange::all());
        let directory = ArcSwap::from_pointee(directory);
        let accesses = AtomicU64::default();
        Arc::new(Self { directory, holdings: Mutex::new(holdings), accesses })
    }

    /// A file without rows, of whose keys as much is owned here: one bucket a stretch.
    pub(crate) fn emptied(&self, mut bucket_id: impl FnMut() -> BucketId) -> Arc<Self> {
        let mut directory = Partition::new(Tile::Elsewhere);
        for range in self.owned() {
            let bucket = Bucket::new(bucket_id(), range.clone(), BucketState::default());
            directory.assign(&range, Tile::Here(bucket));
        }
        Self::of(directory)
    }

    /// The tiles now.
    pub(crate) fn directory(&self) -> Arc<Partition<Tile>> {
        self.directory.load_full()
    }

    /// The bucket whose range holds a key; `None` where it is not owned here.
    pub(crate) fn locate(&self, key: &Key) -> Option<Arc<Bucket>> {
        self.directory.load().locate(key).1.owned().map(Arc::clone)
    }

    /// Whether all keys of a range are owned here.
    pub(crate) fn owns(&self, range: &KeyRange) -> bool {
        self.directory.load().cover(range).all(|(_, tile)| tile.owned().is_some())
    }

    /// The longest stretches of keys that are owned here, in key order.
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

    /// Accesses a second of what is owned here.
    pub(crate) fn accesses(&self) -> u64 {
        self.accesses.load(Ordering::Relaxed)
    }

    /// Averages accesses, after so much time.
    pub(crate) fn average_accesses(&self, elapsed: Duration) {
        let directory = self.directory.load();
        let owned = directory.iter().filter_map(|(_, tile)| tile.owned());
        let sum = owned.map(|bucket| bucket.accesses.average(elapsed)).sum();
        self.accesses.store(sum, Ordering::Relaxed);
    }

    /// What is owned here.
    pub(crate) fn holdings(&self) -> Holdings {
        *self.holdings.lock()
    }

    /// The same, counted again.
    pub(crate) fn count_holdings(&self) -> Holdings {
        sum(&self.directory.load(), &KeyRange::all())
    }

    /// Notes that an owned bucket holds something else now. Only for the one who applies the log.
    pub(crate) fn bucket_changed(&self, before: &BucketState, after: &BucketState) {
        let mut holdings = self.holdings.lock();
        holdings.change(Holdings::of(before), Holdings::of(after));
    }

    /// Replaces the directory by one that differs in a range alone. Only for the one who applies the log.
    pub(crate) fn replace_directory(&self, directory: Partition<Tile>, range: &KeyRange) {
        let (before, after) = (sum(&self.directory.load(), range), sum(&directory, range));
        self.holdings.lock().change(before, after);
        self.directory.store(Arc::new(directory));
    }
}

/// What the owned tiles hold that have keys of a range.
fn sum(directory: &Partition<Tile>, range: &KeyRange) -> Holdings {
    let mut sum = Holdings::default();
    for bucket in directory.cover(range).filter_map(|(_, tile)| tile.owned()) {
        sum.change(Holdings::default(), Holdings::of(&bucket.state()));
    }
    sum
}
