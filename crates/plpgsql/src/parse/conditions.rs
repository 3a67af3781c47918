//! The conditions that statements name, and their SQLSTATEs.

/// Whether a text can be a SQLSTATE.
pub(super) fn is_state(state: &str) -> bool {
    state.len() == 5
        && state.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
}

/// The SQLSTATEs of a condition.
pub(super) fn states(name: &str) -> Vec<&'static str> {
    let rows = include_str!("../../data/conditions.tsv").lines();
    let pairs = rows.filter_map(|line| line.split_once('\t'));
    pairs.filter(|(known, _)| *known == name).map(|(_, state)| state).collect()
}
