//! A table's file: the buckets that tile its key space.

use crate::bucket::{Bucket, BucketState};
use arc_swap::ArcSwap;
use sdds::{BucketId, Key, KeyRange, Partition};
use std::sync::Arc;

/// The buckets of one table.
#[derive(Debug)]
pub(crate) struct TableFile {
    directory: ArcSwap<Partition<Arc<Bucket>>>,
}

impl TableFile {
    /// A file of one empty bucket.
    pub(crate) fn new(bucket: BucketId) -> Arc<Self> {
        let bucket = Bucket::new(bucket, KeyRange::all(), BucketState::default());
        Arc::new(Self { directory: ArcSwap::from_pointee(Partition::new(bucket)) })
    }

    /// The buckets now.
    pub(crate) fn directory(&self) -> Arc<Partition<Arc<Bucket>>> {
        self.directory.load_full()
    }

    /// The bucket whose range holds a key.
    pub(crate) fn locate(&self, key: &Key) -> Arc<Bucket> {
        Arc::clone(self.directory.load().locate(key).1)
    }

    /// Replaces the directory. Only for the one who applies the log.
    pub(crate) fn replace_directory(&self, directory: Partition<Arc<Bucket>>) {
        self.directory.store(Arc::new(directory));
    }
}
