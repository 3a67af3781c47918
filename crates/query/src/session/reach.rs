//! The snapshot that a query needs.

use crate::context::Inner;
use crate::context::transactions::Conversation;
use parser::Statement;
use procedural::Reach;
use store::{Error, Reading};
use values::error::Result;

impl Inner {
    /// The snapshot of a query. Without tables the root is not asked for a timestamp. With system tables only it is asked, so
    /// that they show recent changes of other servers, but the query continues if the root cannot be reached.
    pub(super) async fn reading_for(
        &self,
        conversation: &mut Conversation,
        statement: &Statement,
    ) -> Result<Reading> {
        let store = &self.shared.store;
        if conversation.open().is_some() || store.peers().is_none() {
            return self.reading(conversation).await;
        }
        Ok(match Reach::of(&store.catalog(), statement) {
            Reach::Nothing => store.reading_here()?,
            Reach::SystemTables => match store.reading().await {
                Err(Error::Unreachable { .. }) => store.reading_here()?,
                reading => reading?,
            },
            Reach::Tables => store.reading().await?,
        })
    }
}
