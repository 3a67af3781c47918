//! Answers requests about owners and the directory.

use super::{Routing, View};
use crate::messages::{Answer, Reply, Request, invalid_message};
use sdds::directory::{Content, Message};
use std::sync::Arc;

/// Answers a request of another server.
pub(crate) async fn answer(routing: &Arc<Routing>, request: Request) -> Reply {
    match request {
        Request::ListOwned { table, range } => {
            Ok(Answer::Owners(routing.files.by_id(table)?.own(&range)))
        }
        Request::FindOwners { table, range, hops } => {
            let view = View::serving(Arc::clone(routing), hops);
            Ok(Answer::Owners(view.owners(table, &range).await?))
        }
        Request::Directory { table, message } => {
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
            Ok(Answer::Done)
        }
        other => Err(invalid_message(&format!("{} is not about the directory", other.name()))),
    }
}
