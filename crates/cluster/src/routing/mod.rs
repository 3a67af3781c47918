//! Finding the owners of keys, and keeping the directory up to date.
//!
//! `view`: owners as a coordinator or a server on its behalf sees them. `outbox`: messages of the
//! directory. `answer`: requests of other servers about owners.

mod answer;
mod outbox;
mod view;

pub(crate) use answer::answer;
pub(crate) use view::View;

use crate::calls::Calls;
use crate::directory::Files;
use crate::membership::Membership;
use std::sync::Arc;
use store::Store;

/// What is needed to find owners.
#[derive(Debug)]
pub(crate) struct Routing {
    pub(crate) membership: Arc<Membership>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) files: Arc<Files>,
    pub(crate) store: Arc<Store>,
}
