//! Sends the messages of the directory.

use super::Routing;
use crate::calls::CallError;
use crate::directory::{File, Outbox};
use crate::membership::ROOT;
use crate::timeouts::TIMEOUTS;
use messages::DirectoryRequest;
use sdds::GroupId;
use sdds::directory::Message;
use std::sync::Arc;

impl Routing {
    /// Sends messages of the directory, each in its own task.
    pub(crate) fn send(self: &Arc<Self>, file: &Arc<File>, outbox: Outbox) {
        for (to, message) in outbox {
            let (routing, file) = (Arc::clone(self), Arc::clone(file));
            self.calls.tasks.spawn(async move { routing.deliver(&file, to, message).await });
        }
    }

    /// Gives all pages of the directory to the root, and waits until it has them.
    pub(crate) async fn hand_over_pages(self: &Arc<Self>) {
        for file in self.files.all() {
            for (to, message) in file.give_pages(ROOT) {
                self.deliver(&file, to, message).await;
            }
        }
    }

    async fn deliver(self: &Arc<Self>, file: &Arc<File>, to: GroupId, message: Message<()>) {
        let request = DirectoryRequest::Message { table: file.table(), message: message.clone() };
        let mut pause = TIMEOUTS.directory_pause;
        loop {
            match self.calls.ask_leader(to, &request).await {
                Ok(_) => return,
                // A page that may have arrived must not be taken back: it would have two keepers.
                Err(CallError::Unknown(_))
                    if matches!(message, Message::Adopt { .. })
                        && !self.calls.stopped.is_cancelled() =>
                {
                    self.calls.tasks.sleep(pause).await;
                    pause = (pause * 2).min(TIMEOUTS.directory_pause_max);
                }
                Err(_) => {
                    let outbox = file.undelivered(to, message);
                    Box::pin(async { self.send(file, outbox) }).await;
                    return;
                }
            }
        }
    }
}
