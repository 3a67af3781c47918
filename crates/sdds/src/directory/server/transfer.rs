//! Transfer of ownership, for rows and pages alike.
//!
//! ```text
//!  A                          B                    keeper of the page (rows), root group (pages)
//!  release ──── Adopt ──────> owns them
//!  given   <─── Adopted ─────
//!          ──── Record ──────────────────────────> learns B
//!  forgets <─── Recorded (rows), Root (pages) ────
//! ```
//!
//! A transfer takes four messages, independent of the number of servers.

use super::{Effect, Server};
use crate::directory::{Content, Image, Level, Message, Standing};
use crate::{Epoch, GroupId, KeyRange};
use thiserror::Error;

/// The reason why a range cannot be released.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReleaseError {
    /// Some of it belongs to another group, or is being transferred.
    #[error("some of {range} does not belong to group {group}")]
    NotOwned {
        /// The range to release.
        range: KeyRange,
        /// The releasing group.
        group: GroupId,
    },
    /// Only a whole page can be released.
    #[error("{range} is not one page of the directory")]
    NotOnePage {
        /// The range to release.
        range: KeyRange,
    },
    /// The new owner is the current one.
    #[error("{range} belongs to group {group} already")]
    ToItself {
        /// The range to release.
        range: KeyRange,
        /// The current and new owner.
        group: GroupId,
    },
}

impl<O: Clone> Server<O> {
    /// Transfers rows, or a page of the directory, to another group.
    pub fn release(
        &mut self,
        level: Level,
        range: &KeyRange,
        to: GroupId,
        effects: &mut Vec<Effect<O>>,
    ) -> Result<(), ReleaseError> {
        let (range, group) = (range.clone(), self.group);
        if to == group {
            return Err(ReleaseError::ToItself { range, group });
        }
        let (owner, content) = match level {
            Level::Rows => (self.rows.release(&range, to), Content::Rows),
            Level::Pages => {
                let page = self.page(&range)?;
                (self.pages.release(&range, to), Content::Page(page))
            }
        };
        let Some(owner) = owner else { return Err(ReleaseError::NotOwned { range, group }) };
        let message = Message::Adopt { range, epoch: owner.epoch, from: group, content };
        effects.push(Effect::Send { to, message });
        Ok(())
    }

    pub(super) fn on_adopt(
        &mut self,
        range: KeyRange,
        epoch: Epoch,
        from: GroupId,
        content: Content,
        effects: &mut Vec<Effect<O>>,
    ) {
        let level = content.level();
        self.own(&range, epoch, content, effects);
        let message = Message::Adopted { level, range, epoch };
        effects.push(Effect::Send { to: from, message });
    }

    /// Becomes the owner of a range, and handles the messages that waited for it.
    pub(super) fn own(
        &mut self,
        range: &KeyRange,
        epoch: Epoch,
        content: Content,
        effects: &mut Vec<Effect<O>>,
    ) {
        match content {
            Content::Rows => self.rows.adopt(range, epoch, ()),
            Content::Page(page) => self.pages.adopt(range, epoch, page),
        }
        self.resume(effects);
    }

    pub(super) fn on_adopted(
        &mut self,
        level: Level,
        range: &KeyRange,
        epoch: Epoch,
        effects: &mut Vec<Effect<O>>,
    ) {
        let given = match level {
            Level::Rows => self.rows.adopted(range, epoch),
            Level::Pages => self.pages.adopted(range, epoch),
        };
        for entry in given {
            match level {
                Level::Rows => self.on_record(entry, self.group, effects),
                Level::Pages => {
                    let message = Message::Record { level, entry, from: self.group };
                    self.tell(self.root.group(), message, effects);
                }
            }
        }
        self.resume(effects);
    }

    /// The entries of the page with exactly this range.
    fn page(&self, range: &KeyRange) -> Result<Image, ReleaseError> {
        match self.pages.cover(range).next() {
            Some((tile, Standing::Owned { content, .. })) if tile == *range => Ok(content.clone()),
            Some((tile, _)) if tile == *range => {
                Err(ReleaseError::NotOwned { range: range.clone(), group: self.group })
            }
            _ => Err(ReleaseError::NotOnePage { range: range.clone() }),
        }
    }
}
