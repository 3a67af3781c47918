//! Limits the number of lines of Rust in a crate's `src/`, including unit tests.

use super::workspace::Workspace;
use super::{Finding, edges};

/// Maximum number of lines of a crate.
const LINES_MAX: usize = 9_000;
/// Maximum number of lines of `query`, which plans and executes SQL, until `ddl` and `roles` are a crate of their own.
const QUERY_LINES_MAX: usize = 27_800;
/// Maximum number of lines of `store`, until its locks and reads of other servers are crates of their own.
const STORE_LINES_MAX: usize = 11_300;
/// Maximum number of lines of `analyzer` and `lowering`, which grow with the SQL that is known.
const FRONT_LINES_MAX: usize = 11_800;
/// Maximum number of lines of `catalog_views`, whose folders are views of one schema each.
const CATALOG_VIEWS_LINES_MAX: usize = 9_200;
/// Maximum number of lines of `functions`, whose folders do not know each other.
const FUNCTIONS_LINES_MAX: usize = 12_600;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let sources = edges::sources(&package.name) + "/";
        let files = workspace.rust().filter(|file| file.path.starts_with(&sources));
        let lines: usize = files.map(|file| file.text.lines().count()).sum();
        let lines_max = match package.name.as_str() {
            "query" => QUERY_LINES_MAX,
            "functions" => FUNCTIONS_LINES_MAX,
            "catalog_views" => CATALOG_VIEWS_LINES_MAX,
            "store" => STORE_LINES_MAX,
            "analyzer" | "lowering" => FRONT_LINES_MAX,
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
            found("sdds", [("crates/sdds/src/lib.rs", 1), ("crates/sdds/src/a/b.rs", lines)])
        };
        assert_eq!(of(LINES_MAX - 1), Vec::<String>::new());
        assert_eq!(
            of(LINES_MAX),
            ["crates/sdds/Cargo.toml: the crate sdds has 9001 lines in src/, 9000 are allowed; \
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
        let elsewhere = ["crates/sdds/tests/a.rs", "crates/sddsy/src/a.rs"];
        assert_eq!(found("sdds", elsewhere.map(|path| (path, LINES_MAX + 1))).len(), 0);
        let others = ["crates/sdds/src/a.sql", "crates/sdds/src/b.txt"];
        assert_eq!(found("sdds", others.map(|path| (path, LINES_MAX + 1))).len(), 0);
    }
}
