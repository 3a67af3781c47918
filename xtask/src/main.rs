//! Maintenance tasks of the workspace, as `cargo xtask <command>`.

mod tidy;

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <command>

  tidy    checks what the compiler does not: layers, file and function length, pure crates, links, ...
  help    prints this

The rest is in the Makefile: make demo | test | verify | fix";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(&root()?),
        ["help" | "--help" | "-h"] | [] => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("cargo xtask does not know \"{}\"\n\n{HELP}", arguments.join(" "));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The workspace's directory. It is read at run time, because the program may have been built
/// elsewhere.
fn root() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").context("run it as `cargo xtask`")?;
    let root = Path::new(&manifest).parent().context("xtask lies in a workspace")?;
    Ok(root.to_path_buf())
}
