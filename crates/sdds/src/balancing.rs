//! Which bytes should move where, so that every server has the share of each table that its weight says (A8).
//!
//! The policy looks at one table at a time: a table whose buckets lie on all servers is scanned by all of them, and
//! the sum over tables is even as well. It moves a bucket only where that makes both servers' shares better by a
//! clear margin, so that nothing moves back and forth.
//!
//! A scan takes time by bytes, statements on single rows by how many there are. So a table that is accessed often is balanced by
//! both: a access counts as so many bytes that all accesses together count as much as all bytes ([`Sizes`]), and those of a small
//! table as much as a bucket of the largest size on each server. A bucket that is accessed so much that it fits nowhere is to be
//! split between its visitors, and its halves moved.

use crate::GroupId;
use serde::{Deserialize, Serialize};

/// Accesses a second from which on a table is balanced by them, too.
const ACCESSES_MIN: u64 = 5_000;

/// Accesses a second from which on they count as much as bytes; between, they count in part: nothing changes at one moment.
const ACCESSES_FULL: u64 = 50_000;

/// What a server holds of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The group that the server leads.
    pub group: GroupId,
    /// Bytes of the table's buckets there.
    pub bytes: u64,
    /// How often they are accessed a second, on average over a while.
    pub accesses: u64,
    /// How much it should hold, relative to the others; zero for a server that is being emptied.
    pub weight: u32,
}

/// How the sizes of buckets and shares are reckoned: in bytes, and what accesses count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// What a access a second counts as, in 1024ths of a byte.
    per_access: u64,
}

impl Sizes {
    /// For a table that counts as so many bytes and is accessed so often, on all servers together.
    pub fn of(bytes: u64, accesses: u64) -> Self {
        let above = accesses.clamp(ACCESSES_MIN, ACCESSES_FULL) - ACCESSES_MIN;
        let counted =
            u128::from(bytes) * u128::from(above) / u128::from(ACCESSES_FULL - ACCESSES_MIN);
        Self { per_access: ((counted << 10) / u128::from(accesses.max(1))) as u64 }
    }

    /// The size of so many bytes that are accessed so often.
    pub fn size(self, bytes: u64, accesses: u64) -> u64 {
        bytes.saturating_add(self.of_accesses(accesses))
    }

    /// What accesses add to a size.
    pub fn of_accesses(self, accesses: u64) -> u64 {
        ((u128::from(accesses) * u128::from(self.per_access)) >> 10) as u64
    }
}

/// What should move from one server to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal {
    /// Who gives.
    pub from: GroupId,
    /// Who takes.
    pub to: GroupId,
    /// Moving more than this would make things worse, or not clearly better.
    pub size_max: u64,
    /// How that is reckoned.
    pub sizes: Sizes,
}

/// The move that helps a table most, if any helps. `bucket` is the usual number of bytes of its buckets, `bucket_size` with how many
/// one splits.
///
/// A server that is being emptied gives until it has nothing. Among others a move needs a source with at least half a
/// bucket too much and a destination with at least half a bucket too little, and both are better off after it. Of a table that is
/// accessed often an eighth of what is due counts as too much, if it is less than that: its buckets can be split.
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
        // Twice as much would only exchange who has too much.
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

    /// Moves whole buckets as proposed until nothing is; how many moved.
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

    /// Servers with buckets of so many bytes, each accessed so often.
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

    /// Does what is proposed, as sources do it: the largest bucket that fits, else the one that is accessed most is split. Moves
    /// and splits that it takes.
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
    fn who_has_the_accesses_gives_the_other_bytes_away() {
        // A single row: its bucket cannot be divided.
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
