//! Which bytes should move where, so that every server has the share of each table that its weight says (A8).
//!
//! The policy looks at one table at a time: a table whose buckets lie on all servers is scanned by all of them, and
//! the sum over tables is even as well. It moves a bucket only where that makes both servers' shares better by a
//! clear margin, so that nothing moves back and forth.

use crate::GroupId;

/// What a server holds of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The group that the server leads.
    pub group: GroupId,
    /// Bytes of the table's buckets there.
    pub bytes: u64,
    /// How much it should hold, relative to the others; zero for a server that is being emptied.
    pub weight: u32,
}

/// Bytes that should move from one server to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal {
    /// Who gives.
    pub from: GroupId,
    /// Who takes.
    pub to: GroupId,
    /// Moving more than this would make things worse.
    pub bytes_max: u64,
}

/// The move that helps a table most, if any helps. `bucket` is the usual size of its buckets.
///
/// A server that is being emptied gives until it has nothing. Among others a move needs a giver with at least half a
/// bucket too much and a taker with at least half a bucket too little, and both are better off after it.
pub fn propose(shares: &[Share], bucket: u64) -> Option<Proposal> {
    let weights: u64 = shares.iter().map(|share| u64::from(share.weight)).sum();
    let bytes: u64 = shares.iter().map(|share| share.bytes).sum();
    if weights == 0 || bytes == 0 {
        return None;
    }
    let due =
        |share: &Share| (u128::from(bytes) * u128::from(share.weight) / u128::from(weights)) as u64;
    let lacks = |share: &Share| due(share).saturating_sub(share.bytes);
    let has_over = |share: &Share| share.bytes.saturating_sub(due(share));
    let takers = shares.iter().filter(|share| share.weight > 0);
    let to = takers.max_by_key(|share| (lacks(share), std::cmp::Reverse(share.group)))?;
    let emptied = shares.iter().find(|share| share.weight == 0 && share.bytes > 0);
    if let Some(from) = emptied {
        let bytes_max = lacks(to).max(bucket).saturating_mul(2);
        return Some(Proposal { from: from.group, to: to.group, bytes_max });
    }
    let from =
        shares.iter().max_by_key(|share| (has_over(share), std::cmp::Reverse(share.group)))?;
    let bytes_max = has_over(from).min(lacks(to)).saturating_mul(2);
    let worthwhile =
        has_over(from) > bucket / 2 && lacks(to) > bucket / 2 && from.group != to.group;
    worthwhile.then_some(Proposal { from: from.group, to: to.group, bytes_max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(bytes: &[u64], weights: &[u32]) -> Vec<Share> {
        let each = bytes.iter().zip(weights).enumerate();
        each.map(|(group, (&bytes, &weight))| Share { group: GroupId(group as u64), bytes, weight })
            .collect()
    }

    /// Moves whole buckets as proposed until nothing is; how many moved.
    fn settle(shares: &mut [Share], bucket: u64) -> usize {
        let mut moves = 0;
        while let Some(Proposal { from, to, bytes_max }) = propose(shares, bucket) {
            let moved = bucket.min(shares[from.0 as usize].bytes);
            assert!(moved <= bytes_max, "a bucket that may move is there");
            shares[from.0 as usize].bytes -= moved;
            shares[to.0 as usize].bytes += moved;
            moves += 1;
            assert!(moves < 10_000, "it comes to rest");
        }
        moves
    }

    #[test]
    fn a_new_server_gets_its_share_and_no_more_moves_than_that_takes() {
        let mut four = shares(&[400, 400, 400, 0], &[1, 1, 1, 1]);
        assert_eq!(settle(&mut four, 10), 30);
        assert!(four.iter().all(|share| share.bytes == 300));
    }

    #[test]
    fn shares_follow_weights() {
        let mut two = shares(&[900, 0], &[2, 1]);
        settle(&mut two, 10);
        assert_eq!((two[0].bytes, two[1].bytes), (600, 300));
    }

    #[test]
    fn a_server_of_no_weight_is_emptied() {
        let mut three = shares(&[100, 100, 105], &[1, 1, 0]);
        settle(&mut three, 10);
        assert_eq!(three[2].bytes, 0);
    }

    #[test]
    fn a_table_of_one_bucket_stays() {
        assert_eq!(propose(&shares(&[10, 0, 0], &[1, 1, 1]), 64), None);
        assert_eq!(propose(&shares(&[0, 0], &[1, 1]), 64), None);
        assert_eq!(propose(&[], 64), None);
    }

    proptest! {
        #[test]
        fn it_comes_to_rest_near_what_is_due(
            buckets in proptest::collection::vec(0u64..60, 1..9),
            weights in proptest::collection::vec(1u32..4, 9),
        ) {
            let bytes: Vec<u64> = buckets.iter().map(|buckets| buckets * 8).collect();
            let mut shares = shares(&bytes, &weights);
            let all: u64 = bytes.iter().sum();
            let total: u64 = shares.iter().map(|share| u64::from(share.weight)).sum();
            settle(&mut shares, 8);
            let worst = shares.iter().map(|s| s.bytes.saturating_sub(all * u64::from(s.weight) / total));
            let least = shares.iter().map(|s| (all * u64::from(s.weight) / total).saturating_sub(s.bytes));
            let (worst, least) = (worst.max().unwrap_or(0), least.max().unwrap_or(0));
            prop_assert!(worst <= 4 || least <= 4, "{worst} {least}");
        }
    }
}
