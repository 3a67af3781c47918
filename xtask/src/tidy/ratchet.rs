//! Lengths may only shrink: limits for files and functions, and a list of what is still longer.
//!
//! `xtask/exceptions.txt` has one line for each thing that is longer than its limit, with the length that
//! it has: `file <path> <lines>` or `function <path> <name> <lines>`. Something that grows fails; so does a
//! line that allows more than is needed, until it is lowered or gone.

use super::workspace::Workspace;
use super::{Finding, file_length, function_length, measured::Measured};
use std::collections::BTreeMap;

/// The list of exceptions.
const EXCEPTIONS: &str = "xtask/exceptions.txt";

/// A line of the list of exceptions.
struct Exception {
    line: usize,
    lines: usize,
}

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut measured = file_length::measure(workspace);
    measured.extend(function_length::measure(workspace));
    let (exceptions, mut findings) = exceptions(workspace.text(EXCEPTIONS));
    for item in &measured {
        let exception = exceptions.get(&item.what);
        if item.lines > exception.map_or(item.lines_max, |exception| exception.lines) {
            findings.push(too_long(item, exception));
        }
    }
    for (what, exception) in &exceptions {
        let item = measured.iter().find(|item| item.what == *what);
        let message = match item {
            None => format!("{what} does not exist; take the line out"),
            Some(item) if item.lines <= item.lines_max => {
                format!("{what} has {} lines and needs no exception; take the line out", item.lines)
            }
            Some(item) if item.lines < exception.lines => {
                format!("{what} has shrunk; lower the line to {}", item.lines)
            }
            Some(_) => continue,
        };
        findings.push(Finding::at(EXCEPTIONS, exception.line, message));
    }
    findings
}

fn too_long(item: &Measured, exception: Option<&Exception>) -> Finding {
    let kind = item.what.split(' ').next().unwrap_or_default();
    let message = match exception {
        None => format!(
            "the {kind} has {} lines, {} are allowed; divide it by ideas",
            item.lines, item.lines_max
        ),
        Some(exception) => format!(
            "the {kind} has grown to {} lines; its exception says {} and may only shrink",
            item.lines, exception.lines
        ),
    };
    Finding::at(&item.path, item.line, message)
}

/// The exceptions by what they are for, and lines that are none.
fn exceptions(text: &str) -> (BTreeMap<String, Exception>, Vec<Finding>) {
    let mut exceptions = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, entry) in text.lines().enumerate() {
        if entry.is_empty() || entry.starts_with('#') {
            continue;
        }
        let line = index + 1;
        let parsed =
            entry.rsplit_once(' ').and_then(|(what, lines)| Some((what, lines.parse().ok()?)));
        match parsed {
            Some((what, lines)) => {
                exceptions.insert(what.to_owned(), Exception { line, lines });
            }
            None => {
                findings.push(Finding::at(EXCEPTIONS, line, "expected what and a number of lines"))
            }
        }
    }
    (exceptions, findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: usize) -> String {
        format!("//! Long.\n{}", "//\n".repeat(lines - 1))
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    ();\n".repeat(lines - 2))
    }

    fn messages(files: [(&str, &str); 2]) -> Vec<String> {
        check(&Workspace::of(files)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn what_keeps_the_limit_passes() {
        let (file, function) = (file(file_length::LINES_MAX), function(function_length::LINES_MAX));
        assert_eq!(messages([("a.rs", &file), ("b.rs", &function)]), Vec::<String>::new());
    }

    #[test]
    fn a_long_file_and_a_long_function_are_found() {
        let (file, function) = (file(801), function(71));
        let found = messages([("a.rs", &file), ("b.rs", &function)]);
        assert_eq!(found[0], "a.rs:1: the file has 801 lines, 800 are allowed; divide it by ideas");
        assert_eq!(
            found[1],
            "b.rs:1: the function has 71 lines, 70 are allowed; divide it by ideas"
        );
    }

    #[test]
    fn an_exception_holds_at_its_length_and_only_shrinks() {
        let with = |exceptions: &str, lines| {
            messages([(EXCEPTIONS, exceptions), ("b.rs", &function(lines))])
        };
        let exceptions = "# Comment.\nfunction b.rs long 80\n";
        assert_eq!(with(exceptions, 80), Vec::<String>::new());
        assert!(with(exceptions, 81)[0].contains("grown to 81 lines"));
        assert!(
            with(exceptions, 79)[0]
                .ends_with("exceptions.txt:2: function b.rs long has shrunk; lower the line to 79")
        );
        assert!(with(exceptions, 70)[0].contains("needs no exception"));
        assert!(with("function b.rs other 80\n", 10)[0].contains("does not exist"));
        assert!(with("function\n", 10)[0].contains("expected what"));
    }
}
