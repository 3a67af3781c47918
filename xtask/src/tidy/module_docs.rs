//! Checks that every Rust file begins with a `//!` comment.

use super::Finding;
use super::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace
        .rust()
        .filter(|file| !opens_with_docs(&file.text))
        .map(|file| Finding::at(&file.path, 1, "begin with `//!` and what this file is"))
        .collect()
}

fn opens_with_docs(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|sentence| !sentence.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_say_what_it_is_is_found() {
        let workspace = Workspace::of([
            ("good.rs", "//! What it is.\n"),
            ("bare.rs", "use std::fmt;\n"),
            ("blank.rs", "//!\n"),
            ("empty.rs", ""),
            ("README.md", "Not Rust."),
        ]);
        let found: Vec<_> = check(&workspace).into_iter().map(|f| f.path).collect();
        assert_eq!(found, ["bare.rs", "blank.rs", "empty.rs"]);
    }
}
