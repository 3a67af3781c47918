//! What we ask of the code that the compiler does not: one check a file, over the text of the tree.
//!
//! Each check is a function from the [`Workspace`] to [`Finding`]s; an empty list is a clean tree. Checks only
//! read. Where something must stay as it is, the reason stands in `exceptions.txt` ([`ratchet`]), in
//! `cycles.txt` ([`module_cycles`]) or in the check's own table.

mod crate_size;
mod edges;
mod file_length;
mod function_length;
mod links;
mod machine_paths;
mod marks;
mod measured;
mod module_cycles;
mod module_docs;
mod pure;
mod ratchet;
mod whitespace;
mod words;
mod workspace;

use anyhow::Result;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;
use workspace::Workspace;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// The file, relative to the workspace.
    path: String,
    /// The line, from 1; `None` where the whole file is meant.
    line: Option<usize>,
    /// What is wrong, and the way out.
    message: String,
}

impl Finding {
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), message: message.into() }
    }

    fn of(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

type Check = fn(&Workspace) -> Vec<Finding>;

/// All checks. A new one is a file next to this one and a line here.
const CHECKS: &[(&str, Check)] = &[
    ("edges", edges::check),
    ("module docs", module_docs::check),
    ("module cycles", module_cycles::check),
    ("crate size", crate_size::check),
    ("length", ratchet::check),
    ("pure crates", pure::check),
    ("machine paths", machine_paths::check),
    ("links", links::check),
    ("whitespace", whitespace::check),
    ("marks", marks::check),
    ("words", words::check),
];

/// Runs all checks over the tree at `root` and prints what they find.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let workspace = Workspace::read(root)?;
    let mut findings: Vec<Finding> =
        CHECKS.iter().flat_map(|(_, check)| check(&workspace)).collect();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        let names: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
        println!("tidy: {} files pass: {}", workspace.files.len(), names.join(", "));
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} findings", findings.len());
    Ok(ExitCode::FAILURE)
}
