//! The column that a misspelt name may mean (`searchRangeTableForCol`).

/// The most changes of a letter between two similar names.
const CHANGES_MAX: usize = 3;

/// Of qualified columns, the only one whose name is nearest to a name. `None` if none is near, or several are.
pub(super) fn nearest<'a>(
    name: &str,
    columns: impl Iterator<Item = (&'a str, &'a str)>,
) -> Option<(&'a str, &'a str)> {
    let mut best = CHANGES_MAX + 1;
    let mut found = Vec::new();
    for (table, column) in columns {
        let changes = distance(name, column);
        if changes < best {
            best = changes;
            found.clear();
        }
        if changes == best && best <= CHANGES_MAX {
            found.push((table, column));
        }
    }
    match found.as_slice() {
        [only] if best <= name.len() / 2 => Some(*only),
        _ => None,
    }
}

/// The number of letters to insert, delete or replace that makes one name of another.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (at, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_similar() {
        assert_eq!(distance("kitten", "sitting"), 3);
        let columns = [("t", "name"), ("t", "number")];
        assert_eq!(nearest("nmae", columns.into_iter()), Some(("t", "name")));
        assert_eq!(nearest("id", [("t", "a")].into_iter()), None);
    }
}
