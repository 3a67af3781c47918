//! Balancing policy: which bytes should move where, so that every server has the share of each
//! table that its weight demands (A8).
//!
//! The policy considers one table at a time: a table whose buckets are on all servers is scanned by
//! all of them, and balanced tables have a balanced sum. A bucket moves only if that improves both
//! servers' shares by a clear margin, so that nothing moves back and forth.
//!
//! The cost of a scan depends on bytes, that of single-row statements on their number. A frequently
//! accessed table is therefore balanced by both: accesses are converted to bytes such that all
//! accesses together weigh as much as all bytes ([`Sizes`]), and those of a small table as much as
//! a bucket of the maximum size on each server. A bucket with too many accesses for any server is
//! to be split between its accesses, and its halves moved.

use crate::GroupId;
use serde::{Deserialize, Serialize};

/// Accesses per second above which they count.
const ACCESSES_MIN: u64 = 5_000;

/// Accesses per second above which they weigh as much as bytes. Below, the weight rises linearly,
/// so that it does not jump.
const ACCESSES_FULL: u64 = 50_000;

/// A server's share of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The group that the server leads.
    pub group: GroupId,
    /// Bytes of the table's buckets on the server.
    pub bytes: u64,
    /// Mean number of accesses to them per second.
    pub accesses: u64,
    /// The share that the server should have, relative to the others; 0 for a server that is being
    /// emptied.
    pub weight: u32,
}

/// Computes the sizes of buckets and shares from bytes and accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// The weight of an access per second, in 1024ths of a byte.
    per_access: u64,
}

impl Sizes {
    /// For a table with these bytes and accesses per second on all servers together.
    pub fn of(bytes: u64, accesses: u64) -> Self {
        let above = accesses.clamp(ACCESSES_MIN, ACCESSES_FULL) - ACCESSES_MIN;
        let counted =
            u128::from(bytes) * u128::from(above) / u128::from(ACCESSES_FULL - ACCESSES_MIN);
        Self { per_access: ((counted << 10) / u128::from(accesses.max(1))) as u64 }
    }

    /// The size of `bytes` bytes with `accesses` accesses per second.
    pub fn size(self, bytes: u64, accesses: u64) -> u64 {
        bytes.saturating_add(self.of_accesses(accesses))
    }

    /// The part of a size that accesses contribute.
    pub fn of_accesses(self, accesses: u64) -> u64 {
        ((u128::from(accesses) * u128::from(self.per_access)) >> 10) as u64
    }
}

/// A proposed move from one server to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal {
    /// The source.
    pub from: GroupId,
    /// The destination.
    pub to: GroupId,
    /// Maximum size to move. A larger move would not be a clear improvement.
    pub size_max: u64,
    /// How the size is computed.
    pub sizes: Sizes,
}

/// The most useful move for a table, if there is one. `bucket` is the typical number of bytes of
/// its buckets, `bucket_size` the one at which a bucket splits.
///
/// A server that is being emptied is a source until it has nothing. Otherwise a move needs a source
/// with an excess and a destination with a deficit of at least half a bucket each, and has to
/// improve both. For a frequently accessed table an eighth of the due share is enough if that is
/// less, because its buckets can be split.
pub fn propose(shares: &[Share], bucket: u64, bucket_size: u64) -> Option<Proposal> {
    let weights: u64 = shares.iter().map(|share| u64::from(share.weight)).sum();
    let bytes: u64 = shares.iter().map(|share| share.bytes).sum();
    if weights == 0 || bytes == 0 {
        return None;
    }
    let accesses: u64 = shares.iter().map(|share| share.accesses).sum();
    let destinations = shares.iter().filter(|share| share.weight > 0);
    let least = bucket_size.saturating_mul(destinations.clone().count() as u64);
    let sizes = Sizes::of(bytes.max(least), accesses);
    let size = |share: &Share| sizes.size(share.bytes, share.accesses);
    let all = sizes.size(bytes, accesses);
    let due =
        |share: &Share| (u128::from(all) * u128::from(share.weight) / u128::from(weights)) as u64;
    let lacks = |share: &Share| due(share).saturating_sub(size(share));
    let has_over = |share: &Share| size(share).saturating_sub(due(share));
    let to = destinations.max_by_key(|share| (lacks(share), std::cmp::Reverse(share.group)))?;
    let emptied = shares.iter().find(|share| share.weight == 0 && share.bytes > 0);
    if let Some(from) = emptied {
        let size_max = lacks(to).max(bucket).saturating_mul(2);
        return Some(Proposal { from: from.group, to: to.group, size_max, sizes });
    }
    let from =
        shares.iter().max_by_key(|share| (has_over(share), std::cmp::Reverse(share.group)))?;
    let helpful = has_over(from).min(lacks(to));
    let (margin, size_max) = if sizes == Sizes::default() {
        // Twice as much would only exchange the excess and the deficit.
        (bucket / 2, helpful.saturating_mul(2).saturating_sub(1))
    } else {
        let usual = u128::from(bucket) * u128::from(all) / u128::from(bytes);
        let margin = (usual as u64 / 2).min(due(to).min(due(from)) / 8);
        (margin, helpful.saturating_add(helpful / 2))
    };
    let worthwhile = helpful > margin && from.group != to.group;
    worthwhile.then_some(Proposal { from: from.group, to: to.group, size_max, sizes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(bytes: &[u64], weights: &[u32]) -> Vec<Share> {
        let each = bytes.iter().zip(weights).enumerate();
        let share = |(group, (&bytes, &weight))| Share {
            group: GroupId(group as u64),
            bytes,
            accesses: 0,
            weight,
        };
        each.map(share).collect()
    }

    /// Moves whole buckets as proposed until there is no proposal. Returns the number of moves.
    fn settle(shares: &mut [Share], bucket: u64) -> usize {
        let mut moves = 0;
        while let Some(Proposal { from, to, size_max, .. }) = propose(shares, bucket, bucket) {
            let moved = bucket.min(shares[from.0 as usize].bytes);
            assert!(moved <= size_max, "a bucket that may move is there");
            shares[from.0 as usize].bytes -= moved;
            shares[to.0 as usize].bytes += moved;
            moves += 1;
            assert!(moves < 10_000, "it comes to rest");
        }
        moves
    }

    #[test]
    fn what_would_go_back_does_not_go() {
        let two = shares(&[1_700, 1_800], &[1, 1]);
        let proposal = propose(&two, 50, 64 << 20).expect("fifty too much");
        assert_eq!((proposal.from, proposal.to, proposal.size_max), (GroupId(1), GroupId(0), 99));
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
        assert_eq!(propose(&shares(&[10, 0, 0], &[1, 1, 1]), 64, 64), None);
        assert_eq!(propose(&shares(&[0, 0], &[1, 1]), 64, 64), None);
        assert_eq!(propose(&[], 64, 64), None);
    }

    /// The buckets of each server, each with its bytes and accesses.
    type Buckets = Vec<Vec<(u64, u64)>>;

    fn shares_of(servers: &Buckets) -> Vec<Share> {
        let share = |(group, buckets): (usize, &Vec<(u64, u64)>)| Share {
            group: GroupId(group as u64),
            bytes: buckets.iter().map(|bucket| bucket.0).sum(),
            accesses: buckets.iter().map(|bucket| bucket.1).sum(),
            weight: 1,
        };
        servers.iter().enumerate().map(share).collect()
    }

    /// Executes proposals like a source does: it moves the largest bucket that fits, otherwise it
    /// splits the most accessed one. Returns the number of moves and of splits.
    fn settle_buckets(servers: &mut Buckets) -> (usize, usize) {
        let (mut moves, mut splits) = (0, 0);
        let usual = 64;
        while let Some(Proposal { from, to, size_max, sizes }) =
            propose(&shares_of(servers), usual, usual)
        {
            assert!(moves + splits < 1000, "it comes to rest: {servers:?}");
            let source = &mut servers[from.0 as usize];
            let size = |bucket: &(u64, u64)| sizes.size(bucket.0, bucket.1);
            let fits = |at: &usize| size(&source[*at]) <= size_max;
            let largest = (0..source.len()).filter(fits).max_by_key(|at| size(&source[*at]));
            match largest {
                Some(at) => {
                    let bucket = source.remove(at);
                    servers[to.0 as usize].push(bucket);
                    moves += 1;
                }
                None => {
                    let Some(hot) = source.iter_mut().max_by_key(|bucket| size(bucket)) else {
                        return (moves, splits);
                    };
                    if hot.0 < 2 || sizes.of_accesses(hot.1) < size(hot) / 4 {
                        return (moves, splits);
                    }
                    *hot = (hot.0 / 2, hot.1 / 2);
                    let half = *hot;
                    source.push(half);
                    splits += 1;
                }
            }
        }
        (moves, splits)
    }

    #[test]
    fn a_bucket_that_everybody_accesses_is_divided_among_all_servers() {
        let mut four = vec![vec![(64, 40_000)], Vec::new(), Vec::new(), Vec::new()];
        let (moves, splits) = settle_buckets(&mut four);
        assert!(moves >= 3 && splits >= 3 && moves + splits < 20, "{moves} {splits}");
        assert!(shares_of(&four).iter().all(|share| share.accesses == 10_000), "{four:?}");
    }

    #[test]
    fn a_table_that_few_access_is_left_alone() {
        let mut two = vec![vec![(64, 4_900)], Vec::new()];
        assert_eq!(settle_buckets(&mut two), (0, 0));
        let mut even = vec![vec![(64, 3_000); 10], vec![(64, 0); 10]];
        let (moves, _) = settle_buckets(&mut even);
        assert!(moves > 0, "thousands count: {even:?}");
    }

    #[test]
    fn what_is_accessed_alike_is_balanced_by_bytes_without_a_split() {
        let mut four = vec![vec![(64, 1_000); 40], Vec::new(), Vec::new(), Vec::new()];
        assert_eq!(settle_buckets(&mut four), (30, 0));
    }

    #[test]
    fn a_server_with_the_accesses_moves_other_bytes_away() {
        // A single row: its bucket cannot be split.
        let mut two = vec![vec![(1, 50_000), (64, 0), (64, 0)], vec![(64, 0), (64, 0)]];
        settle_buckets(&mut two);
        assert_eq!(two[0], [(1, 50_000)]);
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
