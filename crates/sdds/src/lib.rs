//! Scalable distributed data structures as pure code: keys, ranges, how ranges tile a file, and
//! when they split.
//!
//! A table is one ordered file of rows. Its key space is partitioned into ranges, one per bucket. A
//! full bucket splits at a key, and its upper half may move to another server (RP\*, Litwin et al.;
//! `PAPERS.md` A1). The crate contains only data and decisions: no clock, socket, file, thread or
//! randomness, not even in its dependencies.
//!
//! - [`Key`], [`Bound`], [`KeyRange`]: positions and ranges in a table's order.
//! - [`Partition`]: ranges that tile the key space, each with a value.
//! - [`balancing`]: which bytes should move where.
//! - [`encoding`]: values as the bytes of keys.
//! - [`directory`]: how a request finds the owner of its keys: images, forwarding, coverage.
//! - [`simulation`]: a simulated growing file on thousands of servers.
//! - [`splitting`]: when and where a bucket splits, and when neighbors merge.

pub mod balancing;
pub mod directory;
pub mod encoding;
mod ids;
mod key;
mod partition;
mod range;
pub mod simulation;
pub mod splitting;

pub use ids::{
    BucketId, ClientId, Epoch, GroupId, MoveId, RequestId, ServerId, Timestamp, TransactionId,
};
pub use key::Key;
pub use partition::Partition;
pub use range::{Bound, KeyRange};
