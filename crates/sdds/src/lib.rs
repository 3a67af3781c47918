//! Scalable distributed data structures as pure code: keys, ranges, how ranges tile a file, and when they split.
//!
//! A table is one ordered file of rows. Its key space is cut into ranges, one a bucket; a full bucket
//! divides at a key, and its half may live elsewhere (RP\*, Litwin et al.; `PAPERS.md` A1). Everything
//! here is plain data and decisions about it: no clock, socket, file, thread or randomness, not even as
//! dependencies.
//!
//! - [`Key`], [`Bound`], [`KeyRange`]: places and stretches in a table's order.
//! - [`Partition`]: ranges that tile the key space, each with something attached.
//! - [`balancing`]: which bytes should move where.
//! - [`encoding`]: values as the bytes of keys.
//! - [`directory`]: how a request finds the owner of its keys: images, forwarding, coverage.
//! - [`simulation`]: a file of thousands of servers that grows, without any of them.
//! - [`splitting`]: when a bucket splits, where, and when neighbours merge.

pub mod balancing;
pub mod directory;
pub mod encoding;
mod ids;
mod key;
mod partition;
mod range;
pub mod simulation;
pub mod splitting;

pub use ids::{BucketId, ClientId, Epoch, GroupId, RequestId, Timestamp};
pub use key::Key;
pub use partition::Partition;
pub use range::{Bound, KeyRange};
