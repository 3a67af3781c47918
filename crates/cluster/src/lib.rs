//! Many servers: how they talk, who is one of them, who owns which keys, transactions over several, and moves.
//!
//! - [`net`]: calls with streams of answers, over TCP or within one process.
//! - `message`, `batches`: what servers say, and how rows travel.
//! - `cluster`: one server among others; `start`: how it becomes that; `members`, `heartbeat`, `root`: who is there,
//!   and who leads.
//! - `files`: whose keys are whose. `peers`: what a coordinator asks, `service`, `pushdown`: what an owner answers.
//! - `coordinated`, `participants`, `commit`, `oracle`, `low_watermark`: transactions on several servers and their timestamps.
//! - `moving`: rows on their way; `colocation`: tables that lie beside others; `report`: for whoever looks; `traffic`:
//!   how much is said.
//!
//! Not here: what a statement means (`query`), and what a server remembers (`store`).

mod apart;
mod batches;
mod blob;
mod cluster;
mod colocation;
mod commit;
mod coordinated;
mod describe;
mod files;
mod heartbeat;
mod low_watermark;
mod members;
mod message;
mod moving;
pub mod net;
mod oracle;
mod participants;
mod peers;
mod pushdown;
mod report;
mod root;
mod service;
mod start;
mod starting;
mod tcp;
mod timestamps;
mod traffic;

pub use cluster::Cluster;
pub use members::{Member, Members, ServerLoad, TableLoad};
pub use message::name_of_call;
pub use moving::MoveInfo;
pub use report::{Held, ImageInfo};
pub use start::Introduction;
pub use tcp::{Entry, Part, StartError, Started, start};
