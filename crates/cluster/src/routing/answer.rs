//! Answers requests about owners and the directory.

use super::{Routing, View};
use messages::{DirectoryAnswer, DirectoryRequest, Reply, invalid_message};
use sdds::directory::{Content, Message};
use std::sync::Arc;

/// Answers a request of another server.
pub(crate) async fn answer(
    routing: &Arc<Routing>,
    request: DirectoryRequest,
) -> Reply<DirectoryAnswer> {
    match request {
        DirectoryRequest::ListOwned { table, range } => {
            Ok(DirectoryAnswer::Owners(routing.files.by_id(table)?.own(&range)))
        }
        DirectoryRequest::FindOwners { table, range, hops } => {
            let view = View::serving(Arc::clone(routing), hops);
            Ok(DirectoryAnswer::Owners(view.owners(table, &range).await?))
        }
        DirectoryRequest::Message { table, message } => {
            let file = routing.files.by_id(table)?;
            match &message {
                Message::Request(_) | Message::Ask { .. } => {
                    return Err(invalid_message("a request that only simulations send"));
                }
                Message::Adopt { content, .. } if content.level() == Content::Rows.level() => {
                    return Err(invalid_message("keys without their rows"));
                }
                _ => {}
            }
            let outbox = file.handle(message);
            routing.send(&file, outbox);
            Ok(DirectoryAnswer::Done)
        }
    }
}
