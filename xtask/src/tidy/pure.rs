//! Pure crates: data and decisions, without access to clocks, sockets, files, threads or
//! randomness.
//!
//! Everything else is passed as an argument. Hash maps are forbidden because their random order can
//! affect decisions. External dependencies are listed one by one and have to be pure, too.

use super::edges;
use super::workspace::{SourceFile, Workspace};
use super::{Finding, workspace::Package};
use proc_macro2::{TokenStream, TokenTree};
use std::str::FromStr;
use syn::visit::{self, Visit};

/// The pure crates, and the crates that they may use outside tests.
const PURE: &[(&str, &[&str])] = &[
    ("bundling", &["serde", "thiserror"]),
    ("dbsim", &["bundling", "serde", "thiserror", "toml"]),
    ("protocols", &["sdds", "serde"]),
    ("locks", &["sdds", "serde"]),
    ("numerics", &["num-bigint"]),
    ("sdds", &["imbl", "serde", "smallvec", "thiserror"]),
    ("frontend", &["bytes", "thiserror"]),
];

/// Forbidden paths, and what to use instead.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&["Instant", "now"], "time is an argument"),
    (&["SystemTime", "now"], "time is an argument"),
    (&["std", "thread"], "threads are the caller's"),
    (&["std", "fs"], "files are the caller's"),
    (&["std", "net"], "sockets are the caller's"),
    (&["std", "process"], "processes are the caller's"),
    (&["std", "env"], "settings are arguments"),
    (&["tokio"], "the core does not wait"),
    (&["rand"], "randomness is an argument"),
    (&["HashMap"], "its order is random; use BTreeMap"),
    (&["HashSet"], "its order is random; use BTreeSet"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, allowed) in PURE {
        let package = workspace.packages.iter().find(|package| package.name == *name);
        findings.extend(package.into_iter().flat_map(|package| dependencies(package, allowed)));
        let sources = format!("crates/{name}/");
        let files = workspace.rust().filter(|file| file.path.starts_with(&sources));
        findings.extend(files.flat_map(names));
    }
    findings
}

fn dependencies(package: &Package, allowed: &[&str]) -> Vec<Finding> {
    let external = package.dependencies.iter().filter(|dependency| !dependency.dev);
    let unknown = external.filter(|dependency| !allowed.contains(&dependency.name.as_str()));
    let finding = |name: &str| {
        let message = format!(
            "the pure crate {} may not depend on {name} (PURE of xtask/src/tidy/pure.rs)",
            package.name
        );
        Finding::of(&edges::manifest(&package.name), message)
    };
    unknown.map(|dependency| finding(&dependency.name)).collect()
}

/// Forbidden names in a file, outside comments and literals.
fn names(file: &SourceFile) -> Vec<Finding> {
    let mut words = Vec::new();
    if let Ok(tokens) = TokenStream::from_str(&file.text) {
        flatten(tokens, &mut words);
    }
    if let Ok(parsed) = syn::parse_file(&file.text) {
        Imports(&mut words).visit_file(&parsed);
    }
    let mut findings: Vec<Finding> =
        (0..words.len()).filter_map(|start| forbidden(&file.path, &words[start..])).collect();
    findings.sort();
    findings.dedup();
    findings
}

/// An identifier or `::`, or `;` for everything that ends a path, and its line.
pub(super) type Word = (String, usize);

fn forbidden(path: &str, words: &[Word]) -> Option<Finding> {
    let matches = |segments: &[&str]| {
        let wanted = segments.iter().flat_map(|segment| ["::", segment]).skip(1);
        let mut seen = words.iter().map(|(word, _)| word.as_str());
        wanted.into_iter().all(|word| seen.next() == Some(word))
    };
    let (segments, instead) = FORBIDDEN.iter().find(|(segments, _)| matches(segments))?;
    let message = format!("`{}` in a pure crate: {instead}", segments.join("::"));
    Some(Finding::at(path, words[0].1, message))
}

/// The [`Word`]s of tokens, including those of groups.
pub(super) fn flatten(tokens: TokenStream, words: &mut Vec<Word>) {
    let mut colons = 0;
    for token in tokens {
        let line = token.span().start().line;
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                colons += 1;
                if colons == 2 {
                    words.push(("::".to_owned(), line));
                }
                continue;
            }
            TokenTree::Ident(ident) => words.push((ident.to_string(), line)),
            TokenTree::Group(group) => flatten(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => words.push((";".to_owned(), line)),
        }
        colons = 0;
    }
}

/// Expands `use std::{fs, net}`.
struct Imports<'a>(&'a mut Vec<Word>);

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.spell(&item.tree, &[]);
        visit::visit_item_use(self, item);
    }
}

impl Imports<'_> {
    fn spell(&mut self, tree: &syn::UseTree, before: &[&syn::Ident]) {
        match tree {
            syn::UseTree::Path(path) => self.spell(&path.tree, &[before, &[&path.ident]].concat()),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.spell(tree, before));
            }
            syn::UseTree::Name(name) => self.push(&[before, &[&name.ident]].concat()),
            syn::UseTree::Rename(name) => self.push(&[before, &[&name.ident]].concat()),
            syn::UseTree::Glob(_) => self.push(before),
        }
    }

    fn push(&mut self, path: &[&syn::Ident]) {
        for segment in path {
            let line = segment.span().start().line;
            self.0.push((segment.to_string(), line));
            self.0.push(("::".to_owned(), line));
        }
        self.0.push((";".to_owned(), 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let workspace =
            Workspace::of([("crates/sdds/src/a.rs", text), ("crates/store/a.rs", text)]);
        check(&workspace).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn every_forbidden_name_is_found() {
        for (segments, _) in FORBIDDEN {
            let path = segments.join("::");
            let found = found(&format!("fn f() {{\n    {path}::x();\n}}\n"));
            assert_eq!(found.len(), 1, "{path}: {found:?}");
            assert!(
                found[0].starts_with(&format!("crates/sdds/src/a.rs:2: `{path}`")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn imports_groups_and_macros_hide_nothing() {
        assert_eq!(found("use std::{fmt, fs::File};\n").len(), 1);
        assert_eq!(found("use std::collections::{BTreeMap, HashMap as Map};\n").len(), 1);
        assert_eq!(found("fn f() { assert!(std::time::Instant::now() > t); }\n").len(), 1);
    }

    #[test]
    fn comments_strings_and_other_names_are_free() {
        assert_eq!(
            found(
                "//! No HashMap.\nuse std::fmt;\nconst A: &str = \"tokio\"; // rand\nfn thread() {}\n"
            ),
            Vec::<String>::new()
        );
    }

    #[test]
    fn dependencies_are_listed_one_by_one_but_tests_are_free() {
        let of = |dependencies: &[&str]| {
            check(&Workspace::of([]).with_package("sdds", dependencies)).len()
        };
        assert_eq!(of(&["imbl", "dev:proptest"]), 0);
        assert_eq!(of(&["imbl", "tokio", "rand"]), 2);
    }
}
