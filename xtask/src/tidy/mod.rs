//! Checks of the source tree beyond those of the compiler, one module per check.
//!
//! Each check is a function from the [`Workspace`] to [`Finding`]s and does not change files.
//! Exceptions and their reasons are in `exceptions.txt` ([`ratchet`]), in `cycles.txt`
//! ([`module_cycles`]) or in the table of a check.

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

/// A violation of a check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// The file, relative to the workspace.
    path: String,
    /// The line, from 1; `None` for the whole file.
    line: Option<usize>,
    /// What is wrong, and how to correct it.
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

/// All checks. A new check is a module and a line here.
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

/// Runs all checks over the tree at `root` and prints the findings.
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
