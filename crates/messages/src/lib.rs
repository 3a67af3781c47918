//! What servers of a cluster say to each other, and the bytes of it.
//!
//! - Each group of requests has a file, with its answers: `root`, `rows`, `transaction`, `moves`, `directory`. `request`: a request
//!   of any group. `answer`: what answers have in common. `envelope`: sender and receiver of a request.
//! - `ordinals`: the ordinals of variants. `codec`: messages as bytes. [`batches`]: rows as bytes. `blob`: bytes within messages.
//! - `load`: what a server stores. `report`: the state of a server.
//!
//! Invariant: the bytes of a message stay the same (`tests/golden`). Not here: who sends what when (`cluster`), and frames (`net`).

mod answer;
pub mod batches;
mod blob;
mod codec;
mod directory;
mod envelope;
mod load;
mod moves;
mod ordinals;
mod report;
mod request;
mod root;
mod rows;
mod transaction;

pub use answer::{Adjustment, Reply, encode_reply, unexpected};
pub use blob::Blob;
pub use codec::{decode, encode, invalid_message};
pub use directory::{DirectoryAnswer, DirectoryRequest};
pub use envelope::{Envelope, is_background, name_of_call};
pub use load::{ServerLoad, TableLoad};
pub use moves::{MoveAnswer, MoveRequest};
pub use protocols::membership::{Member, Members};
pub use report::{ImageInfo, MoveInfo, ServerReport};
pub use request::{Question, Request};
pub use root::{COMMITS_MAX, Heartbeat, HeartbeatAnswer, MoveOrder, RootAnswer, RootRequest};
pub use rows::{RowsAnswer, RowsRequest, Target, WireReader, WireWrite};
pub use transaction::{TransactionAnswer, TransactionRequest};
