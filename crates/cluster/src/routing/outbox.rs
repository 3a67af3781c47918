//! Sends the messages of the directory.

use super::Routing;
use crate::calls::CallError;
use crate::directory::{File, Outbox};
use crate::membership::ROOT;
use crate::timeouts::TIMEOUTS;
use messages::DirectoryRequest;
use protocols::routing::{Delivery, Event, Fate, Next};
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
            for (to, message) in file.change(Event::GivePages(ROOT)) {
                self.deliver(&file, to, message).await;
            }
        }
    }

    async fn deliver(self: &Arc<Self>, file: &Arc<File>, to: GroupId, message: Message<()>) {
        let (pause, pause_max) = (TIMEOUTS.directory_pause, TIMEOUTS.directory_pause_max);
        let mut delivery = Delivery::of(&message, pause, pause_max);
        let request = DirectoryRequest::Message { table: file.table(), message: message.clone() };
        loop {
            let fate = match self.calls.ask_leader(to, &request).await {
                Ok(_) => Fate::Arrived,
                Err(CallError::NotDone(_)) => Fate::NotArrived,
                Err(CallError::Unknown(_)) => Fate::Unknown,
            };
            match delivery.step(fate, self.calls.stopped.is_cancelled()) {
                Next::Nothing => return,
                Next::Again(pause) => self.calls.tasks.sleep(pause).await,
                Next::GiveBack => {
                    let outbox = file.change(Event::Undelivered(to, message));
                    Box::pin(async { self.send(file, outbox) }).await;
                    return;
                }
            }
        }
    }
}
