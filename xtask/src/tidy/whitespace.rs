//! Checks white space: none at the ends of lines, one newline at the end of a file, no tabs in
//! Rust, no carriage returns.
//!
//! Only files written by people are checked; output of programs is kept unchanged.

use super::Finding;
use super::workspace::Workspace;

/// Suffixes of files written by people.
const WRITTEN: [&str; 8] = [".rs", ".md", ".toml", ".py", ".sh", ".sql", "Makefile", ".ci/run"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let written = |path: &str| WRITTEN.iter().any(|ending| path.ends_with(ending));
    let mut findings = Vec::new();
    for file in workspace.files.iter().filter(|file| written(&file.path)) {
        for (index, line) in file.text.split('\n').enumerate() {
            if line != line.trim_end() {
                findings.push(Finding::at(
                    &file.path,
                    index + 1,
                    "white space at the end of the line",
                ));
            }
            if line.contains('\t') && file.path.ends_with(".rs") {
                findings.push(Finding::at(&file.path, index + 1, "a tab; write \\t or spaces"));
            }
        }
        let text = &file.text;
        if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
            findings.push(Finding::of(&file.path, "a file ends with exactly one newline"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Workspace::of([(path, text)])).len()
    }

    #[test]
    fn bad_ends_are_found() {
        assert_eq!(found("a.md", "one \ntwo\n"), 1);
        assert_eq!(found("a.sql", "one\r\n"), 1);
        assert_eq!(found("a.rs", "fn f() {\n\tx();\n}\n"), 1);
        assert_eq!(found("a.toml", "one"), 1);
        assert_eq!(found("a.toml", "one\n\n"), 1);
    }

    #[test]
    fn clean_files_and_printed_ones_are_free() {
        assert_eq!(found("Makefile", "test:\n\tcargo test\n"), 0);
        assert_eq!(found("tests/golden/join", "a | b \n"), 0);
        assert_eq!(found("empty.py", ""), 0);
    }
}
