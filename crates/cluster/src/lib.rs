//! One server of a cluster: membership, owners of keys, distributed transactions, and moves of
//! rows.
//!
//! From the bottom up; a module uses those above it in this list only:
//!
//! - `membership`: the servers of the cluster. `runtime`: tasks and time. `timeouts`: every time limit. `blocking`: long
//!   computations.
//! - `facts`: what a restart finds again.
//! - `directory`: the owners of keys, as this server knows them.
//! - `root`: the first server's part: admission, timestamps and outcomes, balancing.
//! - `calls`: calls to other servers.
//! - `transactions`: commits on several servers, snapshots, timestamps.
//! - `routing`: finding owners. `moving`: moves of rows between servers.
//! - `node`: all of this as one value. `replies`: answers to requests, as they are sent. `report`: its state as system
//!   tables.
//! - `peers`: other servers, as transactions here use them. `rows`: rows here, as other servers use
//!   them.
//! - `service`: requests, by group. `heartbeat`: periodic work.
//! - `cluster`: the public handle. `start`: founding and joining a cluster.
//!
//! Requests and answers are the crate [`messages`], the network is [`net`]. What a statement means is up to `query`, what a server stores
//! up to `store`.

mod blocking;
mod calls;
mod cluster;
mod directory;
mod facts;
mod heartbeat;
mod membership;
mod moving;
mod node;
mod peers;
mod replies;
mod report;
mod root;
mod routing;
mod rows;
mod runtime;
mod service;
mod start;
mod timeouts;
mod transactions;

pub use cluster::Cluster;
pub use membership::{Member, Members, ServerLoad, TableLoad};
pub use messages::{ImageInfo, MoveInfo, ServerReport, name_of_call};
pub use net;
pub use runtime::{Runtime, Tasks};
pub use start::{Entry, NewServer, ServerConfig, ServerData, StartError, Started, start};
pub use timeouts::TIME_LIMITS;
