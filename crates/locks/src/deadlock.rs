//! Deadlocks: parties that wait for each other in a circle.
//!
//! The edges of the graph say who waits for whom. They come from one server, or from all of them.

use crate::Party;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the cycle that ends with an error for a party: of those in a cycle the last one is
/// aborted, so that one is, also where each of them looks for itself.
pub fn aborted_by(edges: &[(Party, Party)], party: Party) -> Option<Vec<Party>> {
    cycle(edges, party).filter(|circle| circle.iter().max() == Some(&party))
}

/// Returns a cycle through a party: the party, whom it waits for, and so on; `None` if there is none.
pub fn cycle(edges: &[(Party, Party)], party: Party) -> Option<Vec<Party>> {
    let mut next: BTreeMap<Party, Vec<Party>> = BTreeMap::new();
    for (waiter, blocker) in edges {
        next.entry(*waiter).or_default().push(*blocker);
    }
    // The path from the party, with the blockers that are still to be followed at each step.
    let blockers = |of: Party| next.get(&of).cloned().unwrap_or_default();
    let mut path = vec![(party, blockers(party))];
    let mut seen = BTreeSet::new();
    while let Some((_, rest)) = path.last_mut() {
        let Some(blocker) = rest.pop() else {
            path.pop();
            continue;
        };
        if blocker == party {
            return Some(path.into_iter().map(|(party, _)| party).collect());
        }
        if seen.insert(blocker) {
            path.push((blocker, blockers(blocker)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::ServerId;

    fn party(number: u64) -> Party {
        Party { server: ServerId(1), number }
    }

    fn edges(pairs: &[(u64, u64)]) -> Vec<(Party, Party)> {
        pairs.iter().map(|(waiter, blocker)| (party(*waiter), party(*blocker))).collect()
    }

    #[test]
    fn a_circle_is_found_from_each_of_its_parties() {
        let edges = edges(&[(1, 2), (2, 3), (3, 1), (4, 1)]);
        for number in 1..=3 {
            let found = cycle(&edges, party(number)).expect("a cycle");
            assert_eq!((found.len(), found[0]), (3, party(number)));
        }
        assert_eq!(cycle(&edges, party(4)), None, "who waits for a circle is not in it");
    }

    #[test]
    fn a_chain_has_no_cycle() {
        assert_eq!(cycle(&edges(&[(1, 2), (2, 3), (1, 3)]), party(1)), None);
    }
}
