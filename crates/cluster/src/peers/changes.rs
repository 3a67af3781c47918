//! Whether rows of a table have changed, on any server.

use super::NodePeers;
use crate::timeouts::TIMEOUTS;
use futures::future::join_all;
use messages::{RowsAnswer, RowsRequest, unexpected};
use sdds::{KeyRange, Timestamp};
use store::catalog::TableId;
use store::{Error, TransactionPeers};

/// So often all servers are asked while keys move between them.
const TRIES: u32 = 20;

impl NodePeers {
    /// Whether no server has committed a change of rows of a table since a timestamp. Keys that move while servers are asked
    /// might be seen by none: so the ranges that they own have to be all keys.
    pub(super) async fn is_unchanged_everywhere(
        &self,
        table: TableId,
        since: Timestamp,
    ) -> Result<bool, Error> {
        for _ in 0..TRIES {
            let now = self.snapshot().await?.timestamp();
            let request = RowsRequest::Unchanged { table, since, now };
            let members = self.node.membership.list().clone();
            let asked = members.present().map(async |member| {
                if member.server == self.node.membership.here {
                    return Ok(self.node.store.unchanged_since(table, since, now).await);
                }
                match self.node.calls.ask(member.server, &request).await? {
                    RowsAnswer::Unchanged(owned) => Ok(owned),
                    other => Err(unexpected(&other)),
                }
            });
            let mut owned = Vec::new();
            for ranges in join_all(asked).await {
                match ranges? {
                    Some(ranges) => owned.extend(ranges),
                    None => return Ok(false),
                }
            }
            if are_all(owned) {
                return Ok(true);
            }
            self.node.calls.refresh_members().await;
            self.node.calls.tasks.sleep(TIMEOUTS.freeze_pause).await;
        }
        Ok(false)
    }
}

/// Whether ranges contain all keys.
fn are_all(mut ranges: Vec<KeyRange>) -> bool {
    ranges.sort_by(|one, other| one.low.cmp(&other.low));
    let KeyRange { low, high } = KeyRange::all();
    let mut reached = low;
    for range in ranges {
        if range.low > reached {
            return false;
        }
        reached = reached.max(range.high);
    }
    reached == high
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::{Bound, Key};

    #[test]
    fn ranges_with_a_gap_are_not_all_keys() {
        let key = |byte: u8| Bound::At(Key::from(&[byte][..]));
        let all = KeyRange::all();
        let of = |low: &Bound, high: &Bound| KeyRange { low: low.clone(), high: high.clone() };
        assert!(are_all(vec![all.clone()]));
        assert!(are_all(vec![of(&key(3), &all.high), of(&all.low, &key(3))]));
        assert!(are_all(vec![of(&key(2), &all.high), of(&all.low, &key(3))]), "twice");
        assert!(!are_all(vec![of(&key(4), &all.high), of(&all.low, &key(3))]));
        assert!(!are_all(vec![of(&all.low, &key(3))]));
        assert!(!are_all(Vec::new()));
    }
}
