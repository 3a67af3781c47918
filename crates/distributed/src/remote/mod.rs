//! Fragments on other servers: [`fragment`] is the operator that stands for one, [`everywhere`]
//! runs a fragment on all servers, and [`forward`] sends a received fragment on to further owners.

mod constants;
mod everywhere;
mod filters;
mod forward;
mod fragment;
mod gather;
mod leaves;
mod ready;
mod tree;

pub use everywhere::read_everywhere;
pub(crate) use forward::with_others;
pub(crate) use fragment::{RemoteFragment, as_shipped, servers_of, whole};
pub(crate) use leaves::order_of;
pub(crate) use ready::Ready;
