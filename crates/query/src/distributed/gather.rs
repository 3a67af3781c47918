//! How the rows of several servers come to the one that asks for them (PAPERS B1 to B4).
//!
//! Pushed, every server sends as soon as it has rows, a few answers ahead of its reader. Pulled, every server is asked
//! at once, too, and its first answer says that it is there; then a few at a time send the rest. So the one that asks
//! keeps one answer of each server and the rows of a few, however many servers there are.

use crate::scan::shipping::Gathering;
use futures::{Stream, StreamExt, stream};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The turns that so many servers take; `None` if each sends when it has rows.
pub(super) fn turns(gathering: Gathering, servers: usize) -> Option<Turns> {
    let window = gathering.window.clamp(1, Semaphore::MAX_PERMITS);
    (servers > gathering.pushing_max).then(|| Turns(Arc::new(Semaphore::new(window))))
}

/// Turns that servers take with sending what comes after their first answers. Whoever reads them must read all of them
/// until they end, in any order and at the same time.
#[derive(Debug, Clone)]
pub(super) struct Turns(Arc<Semaphore>);

impl Turns {
    /// Rows of which the first ones come at once, and the others when it is their turn.
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
    fn after_its_first_rows_everybody_waits_for_a_turn() {
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
    fn a_few_servers_take_no_turns() {
        let gathering = Gathering { pushing_max: 2, window: 1 };
        assert!(turns(gathering, 2).is_none() && turns(gathering, 3).is_some());
        assert!(turns(Gathering::PUSH, 1 << 20).is_none());
    }
}
