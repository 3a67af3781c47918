//! `pando function`: projects of functions in Rust that run as WebAssembly modules.

use crate::arguments::{FunctionCommand, NewFunctionArguments};
use anyhow::{Context, bail};
use parser::RESERVED;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The files of a project, and what is in them: `{name}` stands for the function's name, `{directory}` for the project's
/// directory.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../template/Cargo.toml.in")),
    ("README.md", include_str!("../template/README.md.in")),
    (".gitignore", include_str!("../template/gitignore.in")),
    ("install.sql", include_str!("../template/install.sql.in")),
    ("src/lib.rs", include_str!("../template/lib.rs.in")),
    ("src/border.rs", include_str!("../template/border.rs.in")),
];

/// The most characters of a name, as of names in SQL.
const NAME_MAX: usize = 63;

/// Words that are no names in Rust, and names that the project's module has already, sorted.
const TAKEN: &[&str] = &[
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "border",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "of_rows",
    "of_title",
    "override",
    "pando_alloc",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "test",
    "tests",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// Runs a subcommand.
pub(crate) fn run(command: &FunctionCommand) -> anyhow::Result<ExitCode> {
    match command {
        FunctionCommand::New(arguments) => new(arguments),
    }
}

/// Makes a project.
fn new(arguments: &NewFunctionArguments) -> anyhow::Result<ExitCode> {
    let name = &arguments.name;
    check_name(name)?;
    let directory = arguments.directory.clone().unwrap_or_else(|| PathBuf::from(name));
    write_files(name, &directory)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} has the function {name}, its tests, and install.sql.", directory.display())?;
    writeln!(out, "{}/README.md says how it is built and used.", directory.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses what cannot be the name of a package, of a function in Rust, and of one in SQL without quotes.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_first = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    let is_letter =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    if !is_first || !name.chars().all(is_letter) || name.len() > NAME_MAX {
        bail!(
            "\"{name}\" cannot be the name of a function: it begins with a letter, and has at most {NAME_MAX} \
             lower-case letters, digits and underscores"
        );
    }
    if TAKEN.contains(&name) || RESERVED.contains(&name) {
        bail!(
            "\"{name}\" cannot be the name of a function: it has another meaning in Rust, SQL or the project"
        );
    }
    Ok(())
}

fn write_files(name: &str, directory: &Path) -> anyhow::Result<()> {
    let shown = directory.display();
    let full = std::path::absolute(directory).with_context(|| format!("{shown} is no path"))?;
    let full = full.to_str().with_context(|| format!("{shown} is no Unicode text"))?;
    let full = address(full).replace('\'', "''");
    fs::create_dir(directory).with_context(|| format!("{shown} cannot be created"))?;
    fs::create_dir(directory.join("src"))
        .with_context(|| format!("{shown}/src cannot be created"))?;
    for (file, text) in FILES {
        let text = text.replace("{name}", name).replace("{directory}", &full);
        let path = directory.join(file);
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// A path in an address, in which some characters have another meaning.
fn address(path: &str) -> String {
    let mut address = String::new();
    for letter in path.chars() {
        match letter {
            ' ' | '"' | '#' | '%' | '<' | '>' | '?' | '`' | '{' | '}' => {
                address.push_str(&format!("%{:02X}", u32::from(letter)));
            }
            letter => address.push(letter),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_rust_and_sql() {
        for name in ["slug", "a1_b", "of_text"] {
            check_name(name).expect("a name");
        }
        for name in ["", "1a", "_a", "Slug", "a-b", "ä", "select", "fn", "border", &"a".repeat(64)]
        {
            check_name(name).expect_err(name);
        }
    }

    #[test]
    fn words_are_sorted() {
        assert!(TAKEN.is_sorted());
    }
}
