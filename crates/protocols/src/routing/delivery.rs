//! One message of the directory on its way to a group.
//!
//! A page that may have arrived must not be taken back: it would have two keepers. Every other message is sent again without
//! harm, by the [`File`](super::File) that has sent it.
//!
//! A receiver that cannot be reached any more after that counts as one that was lost, with the pages that it kept. If it was
//! cut off only, the page does have two keepers until the directory begins anew: requests that come by the old one take more
//! hops. Not to take it back would be worse, since requests for its keys wait meanwhile.

use sdds::directory::Message;
use std::time::Duration;

/// What is known of a message that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It has arrived.
    Arrived,
    /// It has certainly not arrived, or was refused.
    NotArrived,
    /// It may have arrived, or arrive later.
    Unknown,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Send it again after this pause.
    Again(Duration),
    /// Give it back to the file as undelivered.
    GiveBack,
}

/// A message that is being sent.
#[derive(Debug)]
pub struct Delivery {
    /// Whether it must not be taken back.
    moves_page: bool,
    pause: Duration,
    pause_max: Duration,
    is_over: bool,
}

impl Delivery {
    /// Begins to send a message. The first pause before it is sent again is `pause`; each further one is twice as long, up to
    /// `pause_max`.
    pub fn of(message: &Message<()>, pause: Duration, pause_max: Duration) -> Self {
        assert!(pause <= pause_max, "pauses grow");
        let moves_page = matches!(message, Message::Adopt { .. });
        Self { moves_page, pause, pause_max, is_over: false }
    }

    /// Takes what is known of the message. A server that stops sends nothing again.
    pub fn step(&mut self, fate: Fate, is_stopped: bool) -> Next {
        assert!(!self.is_over, "nothing is on its way");
        let next = match fate {
            Fate::Arrived => Next::Nothing,
            Fate::Unknown if self.moves_page && !is_stopped => {
                let pause = self.pause;
                self.pause = (pause * 2).min(self.pause_max);
                Next::Again(pause)
            }
            // Also after it may have arrived: its receiver is taken for lost.
            Fate::Unknown | Fate::NotArrived => Next::GiveBack,
        };
        self.is_over = !matches!(next, Next::Again(_));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::directory::{Content, Level};
    use sdds::{Epoch, GroupId, KeyRange};

    const PAUSE: Duration = Duration::from_millis(10);

    fn adopt() -> Message<()> {
        let (range, epoch, from) = (KeyRange::all(), Epoch::FIRST, GroupId(1));
        Message::Adopt { range, epoch, from, content: Content::Rows }
    }

    fn adopted() -> Message<()> {
        Message::Adopted { level: Level::Pages, range: KeyRange::all(), epoch: Epoch::FIRST }
    }

    #[test]
    fn a_page_that_may_have_arrived_is_sent_until_that_is_known() {
        let mut delivery = Delivery::of(&adopt(), PAUSE, PAUSE * 3);
        let pauses = [1, 2, 3, 3].map(|times| Next::Again(PAUSE * times));
        assert_eq!(pauses.map(|_| delivery.step(Fate::Unknown, false)), pauses);
        assert_eq!(delivery.step(Fate::NotArrived, false), Next::GiveBack);
        let mut delivery = Delivery::of(&adopt(), PAUSE, PAUSE);
        assert_eq!(delivery.step(Fate::Unknown, true), Next::GiveBack, "it stops");
    }

    #[test]
    fn other_messages_are_given_back() {
        for fate in [Fate::Unknown, Fate::NotArrived] {
            assert_eq!(Delivery::of(&adopted(), PAUSE, PAUSE).step(fate, false), Next::GiveBack);
        }
        let arrived = Delivery::of(&adopted(), PAUSE, PAUSE).step(Fate::Arrived, false);
        assert_eq!(arrived, Next::Nothing);
    }
}
