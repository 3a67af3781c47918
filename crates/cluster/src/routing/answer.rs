//! Answers requests about owners and the directory.

use super::{Routing, View};
use messages::{DirectoryAnswer, DirectoryRequest, Reply, invalid_message};
use protocols::routing::Event;
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
            if matches!(message, Message::Adopt { content: Content::Rows, .. }) {
                return Err(invalid_message("keys without their rows"));
            }
            let outbox = file.step(Event::Message(message)).map_err(invalid_message)?;
            routing.send(&file, outbox);
            Ok(DirectoryAnswer::Done)
        }
    }
}
