//! Receiving the rows of several servers: pushed or pulled (PAPERS B1 to B4).
//!
//! Push: every server sends as soon as it has rows, a few batches ahead of its reader. Pull: every
//! server starts at once, too, and sends its first batch. Then a few servers at a time send the
//! rest. So the receiver buffers one batch of each server and the rows of a few, however many
//! servers there are.

use futures::{Stream, StreamExt, stream};
use scan::shipping::Gathering;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The turns of this number of servers; `None` for push.
pub(super) fn turns(gathering: Gathering, servers: usize) -> Option<Turns> {
    let window = gathering.window.clamp(1, Semaphore::MAX_PERMITS);
    (servers > gathering.pushing_max).then(|| Turns(Arc::new(Semaphore::new(window))))
}

/// Turns that servers take with sending the batches after their first. The receiver must read all
/// of them concurrently until they end.
#[derive(Debug, Clone)]
pub(super) struct Turns(Arc<Semaphore>);

impl Turns {
    /// The first batch at once, and the others when it is the server's turn.
    pub(super) fn taken_by<R: Stream + Unpin + Send>(
        self,
        rows: R,
    ) -> impl Stream<Item = R::Item> + Send
    where
        R::Item: Send,
    {
        stream::unfold(
            (rows, self, None, true),
            |(mut rows, turns, mut turn, is_first)| async move {
                if !is_first && turn.is_none() {
                    // It is never closed.
                    turn = Arc::clone(&turns.0).acquire_owned().await.ok();
                }
                Some((rows.next().await?, (rows, turns, turn, false)))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn after_the_first_batch_a_server_waits_for_its_turn() {
        let turns = turns(Gathering { pushing_max: 2, window: 1 }, 3).expect("they take turns");
        let of = |rows: [u8; 2]| turns.clone().taken_by(stream::iter(rows)).boxed();
        let (mut one, mut other) = (of([1, 2]), of([3, 4]));
        let next = |rows: &mut stream::BoxStream<'_, u8>| rows.next().now_or_never();
        assert_eq!([next(&mut one), next(&mut other)], [Some(Some(1)), Some(Some(3))]);
        assert_eq!([next(&mut one), next(&mut other)], [Some(Some(2)), None]);
        assert_eq!([next(&mut one), next(&mut other)], [Some(None), Some(Some(4))]);
        assert_eq!(next(&mut other), Some(None));
    }

    #[test]
    fn few_servers_take_no_turns() {
        let gathering = Gathering { pushing_max: 2, window: 1 };
        assert!(turns(gathering, 2).is_none() && turns(gathering, 3).is_some());
        assert!(turns(Gathering::PUSH, 1 << 20).is_none());
    }
}
