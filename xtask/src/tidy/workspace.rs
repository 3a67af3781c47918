//! The input of the checks: text files, and the workspace's packages with their dependencies.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The build directory. Paths that begin with a dot are skipped, too, except [`DOTTED`].
const BUILDS: &str = "target";
/// Paths with a leading dot that are checked.
const DOTTED: [&str; 3] = [".cargo", ".ci", ".gitignore"];

/// Files and packages of the workspace.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) files: Vec<SourceFile>,
    /// Every existing path, including directories: the targets of links.
    pub(super) paths: Vec<String>,
    pub(super) packages: Vec<Package>,
}

/// A text file.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Relative to the workspace, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// A package of the workspace.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// A dependency of a package.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// Only for tests.
    pub(super) dev: bool,
}

impl Workspace {
    /// Reads the tree at `root` and the output of `cargo metadata`.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut workspace = Self { packages: packages(root)?, ..Self::default() };
        workspace.walk(root, "")?;
        workspace.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(workspace)
    }

    fn walk(&mut self, root: &Path, below: &str) -> Result<()> {
        let directory = root.join(below);
        let entries = directory.read_dir();
        for entry in entries.with_context(|| format!("cannot list {}", directory.display()))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name == BUILDS || (name.starts_with('.') && !DOTTED.contains(&name.as_str())) {
                continue;
            }
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.walk(root, &path)?;
            } else if kind.is_file()
                && let Ok(text) = String::from_utf8(std::fs::read(entry.path())?)
                && !text.contains('\0')
            {
                self.files.push(SourceFile { path: path.clone(), text });
            }
            self.paths.push(path);
        }
        Ok(())
    }

    /// The Rust files.
    pub(super) fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The text of a file; empty if it does not exist.
    pub(super) fn text(&self, path: &str) -> &str {
        self.files.iter().find(|file| file.path == path).map_or("", |file| &file.text)
    }
}

fn packages(root: &Path) -> Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names packages")?;
    packages.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package> {
    let dependencies = value["dependencies"].as_array().context("a package has dependencies")?;
    let dependencies = dependencies.iter().map(|dependency| {
        Ok(Dependency { name: name(dependency)?, dev: dependency["kind"] == "dev" })
    });
    Ok(Package { name: name(value)?, dependencies: dependencies.collect::<Result<_>>()? })
}

fn name(value: &Value) -> Result<String> {
    Ok(value["name"].as_str().context("a package has a name")?.to_owned())
}

#[cfg(test)]
impl Workspace {
    /// A workspace with these files, for tests.
    pub(super) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        let files =
            files.map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() });
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { files: files.into(), paths, packages: Vec::new() }
    }

    /// Adds a package with these dependencies; the prefix `dev:` marks dev-dependencies.
    pub(super) fn with_package(mut self, name: &str, dependencies: &[&str]) -> Self {
        let dependencies = dependencies.iter().map(|dependency| Dependency {
            name: dependency.trim_start_matches("dev:").to_owned(),
            dev: dependency.starts_with("dev:"),
        });
        self.packages.push(Package { name: name.to_owned(), dependencies: dependencies.collect() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_our_own_tree() {
        let workspace = Workspace::read(&crate::root().unwrap()).unwrap();
        assert!(workspace.text("xtask/src/tidy/workspace.rs").contains("reads_our_own_tree"));
        assert!(workspace.paths.contains(&"xtask/src".to_owned()));
        assert!(!workspace.paths.iter().any(|path| path.starts_with("target/")));
        let xtask = workspace.packages.iter().find(|package| package.name == "xtask").unwrap();
        assert!(xtask.dependencies.iter().any(|d| d.name == "anyhow" && !d.dev));
    }
}
