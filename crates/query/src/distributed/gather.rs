//! How the rows of several servers come to the one that asks for them (PAPERS B1 to B4).
//!
//! Pushed, every server sends as soon as it has rows, a few answers ahead of its reader. Pulled, every server is asked
//! at once, too, and its first answer says that it is there; then a few at a time send the rest. So the one that asks
//! keeps one answer of each server and the rows of a few, however many servers there are.

use crate::catalog_views;
use datafusion::prelude::SessionConfig;
use futures::{Stream, StreamExt, stream};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The setting that says how rows come.
const GATHER: &str = "pando.gather";
/// The setting that says how many servers are pulled from at a time.
const PULL_WINDOW: &str = "pando.pull_window";

const PULL_WINDOW_DEFAULT: usize = 8;

/// Rows of more servers than this are pulled, where nothing else is said.
const PUSHING_MAX: usize = 16;

/// How rows come to whoever asks for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gathering {
    /// From how many servers they are pushed, at most.
    pushing_max: usize,
    window: usize,
}

impl Gathering {
    /// As fast as they are made.
    pub(super) const PUSH: Self = Self { pushing_max: usize::MAX, window: PULL_WINDOW_DEFAULT };

    /// What a configuration says.
    pub(super) fn of(config: &SessionConfig) -> Self {
        let pushing_max = match catalog_views::setting(config, GATHER).as_deref() {
            Some("push") => usize::MAX,
            Some("pull") => 0,
            _ => PUSHING_MAX,
        };
        let window = catalog_views::setting(config, PULL_WINDOW).and_then(|value| value.parse().ok());
        Self { pushing_max, window: window.unwrap_or(PULL_WINDOW_DEFAULT) }
    }

    /// The turns that so many servers take; `None` where each sends when it likes.
    pub(super) fn turns(self, servers: usize) -> Option<Turns> {
        let window = self.window.clamp(1, Semaphore::MAX_PERMITS);
        (servers > self.pushing_max).then(|| Turns(Arc::new(Semaphore::new(window))))
    }
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
        let turns = Gathering { pushing_max: 2, window: 1 }.turns(3).expect("they take turns");
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
        assert!(gathering.turns(2).is_none() && gathering.turns(3).is_some());
        assert!(Gathering::PUSH.turns(1 << 20).is_none());
    }
}
