//! Names of relations and columns in plans.

use std::collections::HashSet;

/// Begins the names of columns whose names are taken, which no user can write.
const AGAIN: &str = "?again";

/// The name of the column at `position` that shares `name` with one before.
fn again(position: usize, name: &str) -> String {
    format!("{AGAIN}{position}?{name}")
}

/// Column names of one relation, of which all but the first of a name get a prefix.
pub(crate) fn unique<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |(position, name): (usize, &'a str)| {
        if taken.insert(name) { name.to_owned() } else { again(position, name) }
    };
    names.into_iter().enumerate().map(name).collect()
}

/// The names of the relations of a statement, each once.
#[derive(Debug, Default)]
pub(crate) struct Qualifiers(HashSet<String>);

impl Qualifiers {
    /// The alias, with a number if it is taken.
    pub(crate) fn add(&mut self, alias: &str) -> String {
        let numbered = (2..).map(|number| format!("{alias}_{number}"));
        let mut names = std::iter::once(alias.to_owned()).chain(numbered);
        // There are more numbers than relations.
        let name = names.find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_taken_get_numbers() {
        let mut qualifiers = Qualifiers::default();
        let names = ["t", "t_2", "t", "t"].map(|alias| qualifiers.add(alias));
        assert_eq!(names, ["t", "t_2", "t_3", "t_4"]);
        assert_eq!(unique(["a", "b", "a"]), ["a", "b", "?again2?a"]);
    }
}
