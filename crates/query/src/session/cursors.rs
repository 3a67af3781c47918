//! The cursors that functions have opened, as statements of the session see them.

use super::Session;
use crate::context::Inner;
use crate::context::outcome::{Outcome, Rows, Tag};
use crate::context::transactions::Conversation;
use catalog_views::session_context::TransactionStatus;
use datafusion::physical_plan::memory::MemoryStream;
use parser::commands::Command;
use parser::connection::{Direction, Fetch};
use plpgsql::Move;
use procedural::Fetched;
use std::sync::Arc;
use values::error::Result;
use values::field::Field;

impl Session {
    /// The columns of a cursor that a function has opened; `None` if none has opened one of this name.
    pub fn opened_cursor(&self, name: &str) -> Option<Vec<Field>> {
        self.0.context.held.cursors.lock().fields(name).map(<[Field]>::to_vec)
    }

    /// FETCH or MOVE of a cursor that a function has opened.
    ///
    /// # Errors
    /// 34000 if there is none; 55000 if it goes back and may not.
    pub fn fetch_opened(&self, fetch: &Fetch) -> Result<Outcome> {
        self.0.fetch_opened(fetch)
    }

    /// Closes a cursor that a function has opened, or all. Returns whether there was one.
    pub fn close_opened(&self, name: Option<&str>) -> bool {
        self.0.close_opened(name)
    }
}

impl Inner {
    /// Forgets what is kept until the transaction ends, unless one is open.
    pub(super) fn close_with_transaction(&self, conversation: &Conversation) {
        if conversation.status() == TransactionStatus::Idle {
            self.context.held.end();
        }
    }

    /// FETCH, MOVE and CLOSE of cursors that functions have opened. `None` for other statements, and other cursors.
    pub(super) fn use_opened(&self, command: &Command) -> Result<Option<Outcome>> {
        Ok(match command {
            Command::Fetch(fetch) if self.context.held.cursors.lock().is_open(&fetch.cursor) => {
                Some(self.fetch_opened(fetch)?)
            }
            Command::Close(name) if self.close_opened(name.as_deref()) => {
                Some(Outcome::Done(Tag::plain("CLOSE CURSOR")))
            }
            _ => None,
        })
    }

    /// As [`Session::fetch_opened`].
    pub(super) fn fetch_opened(&self, fetch: &Fetch) -> Result<Outcome> {
        let to = match fetch.direction {
            Direction::Forward(count) => Move::Forward(count),
            Direction::Backward(count) => Move::Backward(count),
            Direction::Absolute(place) => Move::Absolute(place),
            Direction::Relative(by) => Move::Relative(by),
        };
        let fetched = self.context.held.cursors.lock().fetch(&fetch.cursor, to)?;
        let Fetched { fields, rows, count } = fetched;
        if fetch.moves {
            return Ok(Outcome::Done(Tag::counted("MOVE", count)));
        }
        let schema = rows.schema();
        let stream = MemoryStream::try_new(vec![rows], schema, None)?;
        let fields: Arc<[Field]> = fields;
        Ok(Outcome::Rows(Rows::ready(fields, stream, "FETCH")))
    }

    /// As [`Session::close_opened`].
    pub(super) fn close_opened(&self, name: Option<&str>) -> bool {
        let mut cursors = self.context.held.cursors.lock();
        match name {
            Some(name) => cursors.close(name).is_ok(),
            None => {
                cursors.close_all();
                true
            }
        }
    }
}
