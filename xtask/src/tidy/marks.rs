//! Checks marks of unfinished work: the only allowed form is `TODO(name)`.

use super::Finding;
use super::workspace::Workspace;

/// The mark that needs an owner.
const OWNED: &str = concat!("TO", "DO");
/// Marks that are not allowed.
const NEVER: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];
/// Suffixes of checked files.
const CODE: [&str; 6] = [".rs", ".py", ".sh", ".sql", ".toml", "Makefile"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let code = |path: &str| CODE.iter().any(|ending| path.ends_with(ending));
    let mut findings = Vec::new();
    for file in workspace.files.iter().filter(|file| code(&file.path)) {
        for (index, line) in file.text.lines().enumerate() {
            if marked(line) {
                let message = format!("finish it, or name who will: {OWNED}(name)");
                findings.push(Finding::at(&file.path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether the line contains a mark without an owner, as a separate word.
fn marked(line: &str) -> bool {
    let is_word = |at: usize, mark: &str| {
        let of_word = |c: char| c.is_alphanumeric() || c == '_';
        let rest = &line[at + mark.len()..];
        !line[..at].ends_with(of_word) && !rest.starts_with(of_word)
    };
    let owned = |at: usize| {
        let owner =
            line[at + OWNED.len()..].strip_prefix('(').and_then(|rest| rest.split_once(')'));
        owner.is_some_and(|(name, _)| !name.trim().is_empty())
    };
    let never = |mark: &&str| line.match_indices(mark).any(|(at, _)| is_word(at, mark));
    line.match_indices(OWNED).any(|(at, _)| is_word(at, OWNED) && !owned(at))
        || NEVER.iter().any(never)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        check(&Workspace::of([("a.rs", text), ("notes.md", text)])).len()
    }

    #[test]
    fn marks_without_an_owner_are_found() {
        assert_eq!(found(&format!("// {OWNED}: later")), 1);
        assert_eq!(found(&format!("// {OWNED}() later")), 1);
        for mark in NEVER {
            assert_eq!(found(&format!("// {mark}(ada): later")), 1);
        }
    }

    #[test]
    fn owned_marks_and_words_that_contain_one_are_free() {
        assert_eq!(found(&format!("// {OWNED}(ada): later\nlet {OWNED}_LIST = 1; // x{OWNED}")), 0);
    }
}
