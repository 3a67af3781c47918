//! Checks that no file contains a path of a particular machine.
//!
//! Home and working directories are never allowed. The directory for temporary files is not allowed
//! in programs, which ask the system for it; documents and SQL may use it in examples.

use super::Finding;
use super::workspace::Workspace;

/// Top-level directories of personal files.
const PERSONAL: [&str; 5] = ["work", "root", "home", "Users", "mnt"];
/// The directory of temporary files on most machines.
const TEMPORARY: &str = "tmp";
/// Suffixes of programs.
const PROGRAMS: [&str; 5] = [".rs", ".py", ".sh", ".toml", "Makefile"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &workspace.files {
        let program = PROGRAMS.iter().any(|ending| file.path.ends_with(ending));
        for (index, line) in file.text.lines().enumerate() {
            let top = PERSONAL
                .iter()
                .chain(program.then_some(&TEMPORARY))
                .find(|top| names_path_below(line, top));
            if let Some(top) = top {
                let message = format!("a path of one machine, below /{top}");
                findings.push(Finding::at(&file.path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether the line contains an absolute path below this top-level directory.
fn names_path_below(line: &str, top: &str) -> bool {
    let wanted = format!("/{top}/");
    line.match_indices(&wanted).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let absolute = before.is_none_or(|c| !c.is_alphanumeric() && !"._-~}$*".contains(c));
        let named =
            line[at + wanted.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
        absolute && named
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: &str) -> usize {
        check(&Workspace::of([(path, line)])).len()
    }

    #[test]
    fn absolute_paths_below_personal_directories_are_found() {
        for top in PERSONAL {
            assert_eq!(found("README.md", &format!("see `/{top}/me/notes`")), 1, "{top}");
            assert_eq!(found("a.rs", &format!("open(\"/{top}/me\")")), 1, "{top}");
        }
    }

    #[test]
    fn temporary_files_are_named_in_examples_only() {
        let line = format!("COPY t TO '/{TEMPORARY}/t.csv'");
        assert_eq!((found("a.rs", &line), found("docs/copy.md", &line)), (1, 0));
    }

    #[test]
    fn relative_paths_and_addresses_are_free() {
        let line = PERSONAL
            .map(|top| format!("a/{top}/b ./{top}/c ~/{top}/d x.org/{top}/e /{top}/"))
            .join(" ");
        assert_eq!(found("a.rs", &line), 0);
    }
}
