//! Limits the number of lines of Rust in a crate's `src/`, including unit tests.

use super::workspace::Workspace;
use super::{Finding, edges};

/// Maximum number of lines of a crate.
const LINES_MAX: usize = 9_000;
/// Maximum number of lines of `query`, which plans and executes SQL. It calls two front ends until the old one goes.
const QUERY_LINES_MAX: usize = 15_000;
/// Maximum number of lines of `functions`, whose folders do not know each other.
const FUNCTIONS_LINES_MAX: usize = 12_500;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let sources = edges::sources(&package.name) + "/";
        let files = workspace.rust().filter(|file| file.path.starts_with(&sources));
        let lines: usize = files.map(|file| file.text.lines().count()).sum();
        let lines_max = match package.name.as_str() {
            "query" => QUERY_LINES_MAX,
            "functions" => FUNCTIONS_LINES_MAX,
            _ => LINES_MAX,
        };
        if lines > lines_max {
            let message = format!(
                "the crate {} has {lines} lines in src/, {lines_max} are allowed; split the crate",
                package.name
            );
            findings.push(Finding::of(&edges::manifest(&package.name), message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(package: &str, files: [(&str, usize); 2]) -> Vec<String> {
        let texts = files.map(|(path, lines)| (path, "//\n".repeat(lines)));
        let files = [0, 1].map(|file| (texts[file].0, texts[file].1.as_str()));
        let workspace = Workspace::of(files).with_package(package, &[]);
        check(&workspace).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_crate_over_its_limit_is_found() {
        let of = |lines| {
            found("store", [("crates/store/src/lib.rs", 1), ("crates/store/src/a/b.rs", lines)])
        };
        assert_eq!(of(LINES_MAX - 1), Vec::<String>::new());
        assert_eq!(
            of(LINES_MAX),
            ["crates/store/Cargo.toml: the crate store has 9001 lines in src/, 9000 are allowed; \
              split the crate"]
        );
    }

    #[test]
    fn query_has_a_limit_of_its_own() {
        let of = |lines| {
            found("query", [("crates/query/src/lib.rs", lines), ("crates/query/src/a.rs", 0)])
        };
        assert_eq!((of(QUERY_LINES_MAX).len(), of(QUERY_LINES_MAX + 1).len()), (0, 1));
    }

    #[test]
    fn integration_tests_other_crates_and_other_files_are_not_counted() {
        let elsewhere = ["crates/store/tests/a.rs", "crates/storey/src/a.rs"];
        assert_eq!(found("store", elsewhere.map(|path| (path, LINES_MAX + 1))).len(), 0);
        let others = ["crates/store/src/a.sql", "crates/store/src/b.txt"];
        assert_eq!(found("store", others.map(|path| (path, LINES_MAX + 1))).len(), 0);
    }
}
