//! The choice among functions or operators of one name (`func_select_candidate`).

use super::pathway::{can_coerce, is_binary};
use super::polymorphic::Polymorphic;
use crate::Oid;
use crate::casts::CastContext;

/// A function or operator that may be meant, with the types of its arguments.
#[derive(Debug, Clone)]
pub(super) struct Candidate<T> {
    pub what: T,
    pub arguments: Vec<Oid>,
}

/// The candidates whose arguments the given types convert to.
pub(super) fn matching<T>(all: Vec<Candidate<T>>, given: &[Oid]) -> Vec<Candidate<T>> {
    let fits = |candidate: &Candidate<T>| {
        let pairs = given.iter().zip(&candidate.arguments);
        candidate.arguments.len() == given.len()
            && pairs.into_iter().all(|(from, to)| can_coerce(*from, *to, CastContext::Implicit))
            && Polymorphic::of(&candidate.arguments, given).is_ok()
    };
    all.into_iter().filter(fits).collect()
}

/// The best of several candidates that match. `None` if none is better than all others.
pub(super) fn best<T>(candidates: Vec<Candidate<T>>, given: &[Oid]) -> Option<Candidate<T>> {
    let mut left = candidates;
    // Domains count as their base types; so far there are none.
    let known = |oid: &Oid| *oid != Oid::UNKNOWN;
    left = most(left, |candidate| {
        pairs(given, candidate).filter(|(given, wanted)| known(given) && given == wanted).count()
    });
    if left.len() > 1 {
        // Of these, those which take most arguments as they are, or convert them to the preferred type.
        left = most(left, |candidate| {
            let fits = |(given, wanted): &(Oid, Oid)| {
                known(given)
                    && (given == wanted
                        || (wanted.is_preferred() && wanted.category() == given.category()))
            };
            pairs(given, candidate).filter(fits).count()
        });
    }
    if left.len() > 1 && given.contains(&Oid::UNKNOWN) {
        left = by_categories(left, given);
    }
    if left.len() > 1 {
        left = as_known_ones(left, given);
    }
    match left.len() {
        1 => left.pop(),
        _ => None,
    }
}

fn pairs<'a, T>(
    given: &'a [Oid],
    candidate: &'a Candidate<T>,
) -> impl Iterator<Item = (Oid, Oid)> + 'a {
    given.iter().copied().zip(candidate.arguments.iter().copied())
}

/// The candidates with the most points.
fn most<T>(all: Vec<Candidate<T>>, points: impl Fn(&Candidate<T>) -> usize) -> Vec<Candidate<T>> {
    let best = all.iter().map(&points).max().unwrap_or_default();
    all.into_iter().filter(|candidate| points(candidate) == best).collect()
}

/// Chooses by the categories that candidates accept where literals of unknown type stand: text first, else the one that
/// all candidates agree on, and the preferred type of a category if any candidate takes it.
fn by_categories<T>(all: Vec<Candidate<T>>, given: &[Oid]) -> Vec<Candidate<T>> {
    let mut chosen: Vec<Option<(char, bool)>> = Vec::new();
    for (place, oid) in given.iter().enumerate() {
        if *oid != Oid::UNKNOWN {
            chosen.push(None);
            continue;
        }
        let types = || all.iter().filter_map(|candidate| candidate.arguments.get(place).copied());
        let mut categories = types().map(|oid| oid.category());
        let category = if types().any(|oid| oid.category() == 'S') {
            'S'
        } else {
            match categories.next() {
                Some(first) if categories.all(|other| other == first) => first,
                _ => return all,
            }
        };
        let preferred = types().any(|oid| oid.category() == category && oid.is_preferred());
        chosen.push(Some((category, preferred)));
    }
    let fits = |candidate: &Candidate<T>| {
        candidate.arguments.iter().zip(&chosen).all(|(oid, chosen)| match chosen {
            None => true,
            Some((category, preferred)) => {
                oid.category() == *category && (!preferred || oid.is_preferred())
            }
        })
    };
    let (kept, others): (Vec<_>, Vec<_>) = all.into_iter().partition(fits);
    if kept.is_empty() { others } else { kept }
}

/// Takes literals of unknown type for the type that all other arguments have.
fn as_known_ones<T>(all: Vec<Candidate<T>>, given: &[Oid]) -> Vec<Candidate<T>> {
    let mut known = given.iter().filter(|oid| **oid != Oid::UNKNOWN);
    let Some(first) = known.next() else { return all };
    if !given.contains(&Oid::UNKNOWN) || known.any(|other| other != first) {
        return all;
    }
    let fits = |candidate: &Candidate<T>| {
        let all = vec![*first; candidate.arguments.len()];
        Polymorphic::of(&candidate.arguments, &all).is_ok()
            && candidate.arguments.iter().all(|wanted| {
                is_binary(*first, *wanted) || can_coerce(*first, *wanted, CastContext::Implicit)
            })
    };
    let exact = |candidate: &Candidate<T>| candidate.arguments.iter().all(|wanted| wanted == first);
    if all.iter().filter(|candidate| exact(candidate)).count() == 1 {
        return all.into_iter().filter(exact).collect();
    }
    if all.iter().filter(|candidate| fits(candidate)).count() == 1 {
        return all.into_iter().filter(fits).collect();
    }
    all
}
