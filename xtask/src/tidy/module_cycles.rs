//! Import cycles between the modules of a crate.
//!
//! The nodes are the direct children of one module. One child imports another if any module in its subtree imports
//! an item from the other's subtree. Imports from ancestors do not count. Re-exports are followed to the module
//! that defines the item. Code under `#[cfg(test)]` is ignored.
//!
//! `xtask/cycles.txt` lists the known cycles, one a line: `cycle <parent> <member> <member> ... # <reason>`. A listed
//! cycle that does not exist with exactly these members is a finding.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, edges, pure};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// The list of known cycles.
const CYCLES: &str = "xtask/cycles.txt";
/// Length of a chain of re-exports that is followed. Globs can form endless chains.
const REEXPORTS_MAX: usize = 8;

/// The directory of a parent module, and the sorted names of its children that form a cycle.
type Members = (String, Vec<String>);

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let (listed, mut findings) = listed(workspace.text(CYCLES));
    let mut found = BTreeSet::new();
    for package in &workspace.packages {
        let sources = edges::sources(&package.name);
        for root in ["lib.rs", "main.rs"] {
            for (parent, graph) in Tree::read(workspace, &sources, root).graphs() {
                let directory =
                    [std::slice::from_ref(&sources), parent.as_slice()].concat().join("/");
                for members in components(&graph) {
                    let cycle = (directory.clone(), members);
                    if !listed.contains_key(&cycle) {
                        findings.push(finding(&cycle, &graph));
                    }
                    found.insert(cycle);
                }
            }
        }
    }
    for (cycle, line) in listed.iter().filter(|(cycle, _)| !found.contains(*cycle)) {
        let message = format!(
            "there is no cycle of exactly these modules in {}; remove or shorten the line",
            cycle.0
        );
        findings.push(Finding::at(CYCLES, *line, message));
    }
    findings
}

fn finding((directory, members): &Members, graph: &Graph) -> Finding {
    let chain = shortest(graph, members);
    let next = chain.iter().cycle().skip(1);
    let steps = chain.iter().zip(next).map(|(from, to)| {
        let Import { path, file, line } = &graph[*from][*to];
        format!("{from} -> {to} ({}, {file}:{line})", path.join("::"))
    });
    let message = format!(
        "import cycle of {} modules: {}; shortest: {}; break it, or list it in {CYCLES}",
        members.len(),
        members.join(" "),
        steps.collect::<Vec<_>>().join(", "),
    );
    Finding::of(directory, message)
}

/// The known cycles with their lines, and a finding for each malformed line.
fn listed(text: &str) -> (BTreeMap<Members, usize>, Vec<Finding>) {
    let mut cycles = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, entry) in text.lines().enumerate() {
        if entry.is_empty() || entry.starts_with('#') {
            continue;
        }
        let (cycle, reason) = entry.split_once('#').unwrap_or((entry, ""));
        let words: Vec<&str> = cycle.split_whitespace().collect();
        match words.as_slice() {
            ["cycle", directory, members @ ..]
                if members.len() > 1 && !reason.trim().is_empty() =>
            {
                let mut members: Vec<String> = members.iter().map(|&name| name.into()).collect();
                members.sort();
                cycles.insert(((*directory).to_owned(), members), index + 1);
            }
            _ => {
                let message = "expected `cycle <parent> <member> <member> ... # <reason>`";
                findings.push(Finding::at(CYCLES, index + 1, message));
            }
        }
    }
    (cycles, findings)
}

/// What the children of one module import from each other, with the first import of each pair.
type Graph = BTreeMap<String, BTreeMap<String, Import>>;

/// The strongly connected components of more than one node.
fn components(graph: &Graph) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|node| (node.as_str(), paths(graph, node).into_keys().collect()))
        .collect();
    let is_mutual = |a: &str, b: &str| reached.get(b).is_some_and(|reached| reached.contains(a));
    let component = |(node, others): (&&str, &BTreeSet<&str>)| {
        let mutual = others.iter().filter(|other| is_mutual(node, other));
        mutual.map(|&other| other.to_owned()).collect::<Vec<_>>()
    };
    reached.iter().map(component).filter(|members| members.len() > 1).collect()
}

/// The nodes that are reached from `start`, each with the node before it on a shortest path.
fn paths<'a>(graph: &'a Graph, start: &'a str) -> BTreeMap<&'a str, &'a str> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(node) = waiting.pop_front() {
        for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
            if !before.contains_key(next.as_str()) {
                before.insert(next.as_str(), node);
                waiting.push_back(next);
            }
        }
    }
    before
}

/// The shortest cycle among the members of a component.
fn shortest<'a>(graph: &'a Graph, members: &'a [String]) -> Vec<&'a str> {
    let cycle = |start: &'a String| {
        let before = paths(graph, start);
        let mut chain = vec![start.as_str()];
        let mut node = before.get(start.as_str());
        while let Some(previous) = node.filter(|previous| **previous != start) {
            chain.push(previous);
            node = before.get(previous);
        }
        chain[1..].reverse();
        chain
    };
    members.iter().map(cycle).min_by_key(Vec::len).unwrap_or_default()
}

/// The names of a module and its ancestors, from the root of the crate; empty for the root.
type ModulePath = Vec<String>;

/// A path that a module names.
#[derive(Debug, Clone)]
struct Import {
    path: Vec<String>,
    file: String,
    line: usize,
}

/// What the resolution of paths needs to know about a module.
#[derive(Debug, Default)]
struct Module {
    /// The names that it defines.
    items: BTreeSet<String>,
    /// The names that `use` brings into it, with their paths.
    bindings: BTreeMap<String, Vec<String>>,
    /// The paths before `::*`.
    globs: Vec<Vec<String>>,
    imports: Vec<Import>,
}

/// The modules of a crate.
struct Tree(BTreeMap<ModulePath, Module>);

impl Tree {
    /// Reads the modules that `root` declares, directly or not, outside tests.
    fn read(workspace: &Workspace, sources: &str, root: &str) -> Self {
        let mut modules = BTreeMap::new();
        let mut waiting = vec![(Vec::new(), [format!("{sources}/{root}"), String::new()])];
        while let Some((current, paths)) = waiting.pop() {
            let file = workspace.rust().find(|file| paths.contains(&file.path));
            let Some(file) = file else { continue };
            let Ok(parsed) = syn::parse_file(&file.text) else { continue };
            let declared = Vec::new();
            let mut reader = Reader { modules: &mut modules, file, current, declared, blocks: 0 };
            reader.visit_file(&parsed);
            waiting.extend(reader.declared.into_iter().map(|module| {
                let stem = format!("{sources}/{}", module.join("/"));
                (module, [format!("{stem}.rs"), format!("{stem}/mod.rs")])
            }));
        }
        Self(modules)
    }

    /// The imports between the children of each module.
    fn graphs(&self) -> BTreeMap<ModulePath, Graph> {
        let mut graphs = BTreeMap::<ModulePath, Graph>::new();
        for (from, module) in &self.0 {
            for import in &module.imports {
                let mut targets = Vec::new();
                self.follow(from, &import.path, 0, &mut targets);
                for to in targets {
                    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                    // Equal, or one is an ancestor of the other.
                    let (Some(a), Some(b)) = (from.get(common), to.get(common)) else { continue };
                    let graph = graphs.entry(to[..common].to_vec()).or_default();
                    let imports = graph.entry(a.clone()).or_default();
                    imports.entry(b.clone()).or_insert_with(|| import.clone());
                }
            }
        }
        graphs
    }

    /// Adds the module that `path` names, as seen from `from`, and those that its re-exports lead to.
    fn follow(
        &self,
        from: &[String],
        path: &[String],
        reexports: usize,
        targets: &mut Vec<ModulePath>,
    ) {
        let (mut at, mut rest) = match path.first().map(String::as_str) {
            Some("crate") => (Vec::new(), &path[1..]),
            Some("self") => (from.to_vec(), &path[1..]),
            _ => (from.to_vec(), path),
        };
        while rest.first().is_some_and(|name| name == "super") {
            at.pop();
            rest = &rest[1..];
        }
        while let Some((name, more)) = rest.split_first() {
            let child = [at.as_slice(), std::slice::from_ref(name)].concat();
            if self.0.contains_key(&child) {
                (at, rest) = (child, more);
                continue;
            }
            targets.push(at.clone());
            if let Some(reexport) = self.reexport(&at, name, reexports + 1) {
                self.follow(&at, &[&reexport, more].concat(), reexports + 1, targets);
            }
            return;
        }
        targets.push(at);
    }

    /// The path of a name that a module does not define, but brings in.
    fn reexport(&self, at: &[String], name: &String, reexports: usize) -> Option<Vec<String>> {
        let module = self.0.get(at).filter(|_| reexports < REEXPORTS_MAX)?;
        if let Some(path) = module.bindings.get(name) {
            return Some(path.clone());
        }
        let has_name = |glob: &&Vec<String>| {
            let mut targets = Vec::new();
            self.follow(at, glob, reexports, &mut targets);
            let target = targets.last().filter(|target| *target != at);
            target.is_some_and(|target| self.has(target, name, reexports))
        };
        let glob = module.globs.iter().filter(|_| !module.items.contains(name)).find(has_name)?;
        Some([glob.as_slice(), std::slice::from_ref(name)].concat())
    }

    fn has(&self, at: &[String], name: &String, reexports: usize) -> bool {
        let child = [at, std::slice::from_ref(name)].concat();
        self.0.contains_key(&child)
            || self.0.get(at).is_some_and(|module| module.items.contains(name))
            || self.reexport(at, name, reexports + 1).is_some()
    }
}

/// Reads the modules of one file.
struct Reader<'a> {
    modules: &'a mut BTreeMap<ModulePath, Module>,
    file: &'a SourceFile,
    /// The module that is being read.
    current: ModulePath,
    /// Modules in files of their own.
    declared: Vec<ModulePath>,
    /// The depth of blocks; what is declared in a block is not an item of the module.
    blocks: usize,
}

impl Reader<'_> {
    fn module(&mut self) -> &mut Module {
        self.modules.entry(self.current.clone()).or_default()
    }

    fn import(&mut self, path: Vec<String>, line: usize) {
        let import = Import { path, file: self.file.path.clone(), line };
        self.module().imports.push(import);
    }

    fn import_tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |ident: &syn::Ident| match ident.to_string() {
            name if name == "self" && !before.is_empty() => before.to_vec(),
            name => [before, &[name]].concat(),
        };
        match tree {
            syn::UseTree::Path(path) => self.import_tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import_tree(tree, before));
            }
            syn::UseTree::Name(name) => {
                let path = with(&name.ident);
                self.bind(path.last().cloned(), path, name.ident.span().start().line);
            }
            syn::UseTree::Rename(name) => {
                let alias = name.rename.to_string();
                self.bind(Some(alias), with(&name.ident), name.ident.span().start().line);
            }
            syn::UseTree::Glob(glob) => {
                self.import(before.to_vec(), glob.star_token.span.start().line);
                if self.blocks == 0 {
                    self.module().globs.push(before.to_vec());
                }
            }
        }
    }

    fn bind(&mut self, name: Option<String>, path: Vec<String>, line: usize) {
        if let Some(name) = name.filter(|_| self.blocks == 0) {
            self.module().bindings.insert(name, path.clone());
        }
        self.import(path, line);
    }

    /// Imports `crate::a::b` and `super::a::b` where they stand in tokens.
    fn import_tokens(&mut self, tokens: TokenStream) {
        let mut words = Vec::new();
        pure::flatten(tokens, &mut words);
        for (start, (word, line)) in words.iter().enumerate() {
            let continues = start > 0 && words[start - 1].0 == "::";
            if !continues && matches!(word.as_str(), "crate" | "super") {
                let names = words[start..].chunks(2).scan(true, |is_path, pair| {
                    let name = is_path.then(|| pair[0].0.clone());
                    *is_path = pair.get(1).is_some_and(|(word, _)| word == "::");
                    name
                });
                let names = names.filter(|name| name != ";").collect();
                self.import(names, *line);
            }
        }
    }

    /// Imports the string literals of an attribute that are paths: `#[serde(with = "crate::a::b")]`.
    fn import_literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.import_literals(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let path = text.trim_matches('"');
                    if path.starts_with("crate::") || path.starts_with("super::") {
                        let path = path.split("::").map(str::to_owned).collect();
                        self.import(path, literal.span().start().line);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_file(&mut self, file: &'ast syn::File) {
        if !is_test_only(&file.attrs) {
            self.module();
            visit::visit_file(self, file);
        }
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name) = described(item);
        if is_test_only(attributes) {
            return;
        }
        if let Some(name) = name.filter(|_| self.blocks == 0) {
            self.module().items.insert(name.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.current.push(item.ident.to_string());
        if item.content.is_some() {
            let blocks = std::mem::take(&mut self.blocks);
            self.module();
            visit::visit_item_mod(self, item);
            self.blocks = blocks;
        } else {
            self.declared.push(self.current.clone());
        }
        self.current.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.import_tree(&item.tree, &[]);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test_only(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_test_only(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.blocks += 1;
        visit::visit_block(self, block);
        self.blocks -= 1;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|name| name.ident.to_string()).collect();
        // One lower-case name is a local variable, or an item that a `use` has named.
        let is_type = names[0].starts_with(char::is_uppercase);
        if path.leading_colon.is_none() && (names.len() > 1 || is_type) {
            self.import(names, path.segments[0].ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.import_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.import_tokens(list.tokens.clone());
            self.import_literals(list.tokens.clone());
        }
    }
}

/// The attributes of an item and the name that it defines.
fn described(item: &syn::Item) -> (&[syn::Attribute], Option<&syn::Ident>) {
    match item {
        syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::ExternCrate(item) => (&item.attrs, None),
        syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        syn::Item::ForeignMod(item) => (&item.attrs, None),
        syn::Item::Impl(item) => (&item.attrs, None),
        syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        syn::Item::Mod(item) => (&item.attrs, None),
        syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Union(item) => (&item.attrs, Some(&item.ident)),
        syn::Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// Whether a `#[cfg(...)]` restricts the item to builds for tests.
fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.filter_map(|attribute| attribute.parse_args().ok()).any(|meta| needs_test(&meta))
}

fn needs_test(condition: &syn::Meta) -> bool {
    let syn::Meta::List(list) = condition else { return condition.path().is_ident("test") };
    let parsed = list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
    let Ok(parts) = parsed else { return false };
    list.path.is_ident("all") && parts.iter().any(needs_test)
        || list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in the crate `store` with these files below its `src/`.
    fn found<const N: usize>(cycles: &str, files: [(&str, &str); N]) -> Vec<String> {
        let mut workspace = Workspace::of([(CYCLES, cycles)]).with_package("store", &[]);
        workspace.files.extend(files.map(|(path, text)| SourceFile {
            path: format!("crates/store/src/{path}"),
            text: text.to_owned(),
        }));
        check(&workspace).iter().map(Finding::to_string).collect()
    }

    /// The same with the modules `a` and `b` of these texts.
    fn of_two(a: &str, b: &str) -> usize {
        found("", [("lib.rs", "mod a;\nmod b;"), ("a.rs", a), ("b.rs", b)]).len()
    }

    #[test]
    fn a_cycle_is_found_with_its_members_and_a_shortest_chain() {
        let found = found(
            "",
            [
                ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
                ("a.rs", "use crate::b::B;\npub struct A;"),
                ("b/mod.rs", "mod inner;\npub struct B;"),
                ("b/inner.rs", "\nuse crate::c::{self, C};"),
                ("c.rs", "pub struct C(super::a::A, crate::b::B);"),
                ("d.rs", "use crate::a::A;"),
            ],
        );
        let expected = "crates/store/src: import cycle of 3 modules: a b c; shortest: \
                        b -> c (crate::c, crates/store/src/b/inner.rs:2), \
                        c -> b (crate::b::B, crates/store/src/c.rs:1); \
                        break it, or list it in xtask/cycles.txt";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn imports_from_ancestors_and_from_children_are_free() {
        let found = found(
            "",
            [
                ("lib.rs", "mod a;\nuse a::A;\npub struct Root;"),
                ("a.rs", "mod inner;\nuse crate::Root;\nuse inner::I;\npub struct A;"),
                ("a/inner.rs", "use super::A;\nuse crate::Root;\npub struct I;"),
            ],
        );
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn every_level_is_looked_at() {
        let found = found(
            "",
            [
                ("main.rs", "mod a;"),
                ("a/mod.rs", "mod b;\nmod c {\n    use super::b::B;\n    pub struct C;\n}"),
                ("a/b.rs", "fn f(c: super::c::C) {}\npub struct B;"),
            ],
        );
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/store/src/a: import cycle of 2 modules: b c;"));
        assert!(
            found[0].contains("c -> b (super::b::B, crates/store/src/a/mod.rs:3)"),
            "{found:?}"
        );
    }

    #[test]
    fn paths_are_found_wherever_they_stand() {
        let b = "use crate::a::A;";
        assert_eq!(of_two("use crate::{b::B as Other};", b), 1);
        assert_eq!(of_two("use super::b::*;", b), 1);
        assert_eq!(of_two("pub use self::super::b::B;", b), 1);
        assert_eq!(of_two("fn f() { use crate::b; }", b), 1);
        assert_eq!(of_two("fn f() { crate::b::g::<u8>(1); }", b), 1);
        assert_eq!(of_two("type T = Vec<super::b::B>;", b), 1);
        assert_eq!(of_two("fn f() { assert!(g(1, crate::b::g())); }", b), 1);
        assert_eq!(of_two("macro_rules! m { () => { $crate::b::g() } }", b), 1);
        assert_eq!(of_two("fn f() { super::b::m!(); }", b), 1);
        assert_eq!(of_two("struct S(#[serde(with = \"crate::b\")] u8);", b), 1);
        assert_eq!(of_two("mod c { fn f() { super::super::b::g(); } }", b), 1);
    }

    #[test]
    fn other_crates_comments_and_literals_are_free() {
        let b = "use crate::a::A;";
        assert_eq!(of_two("use ::b::B;\nuse other::b;\nfn f() { let b = b; }", b), 0);
        assert_eq!(
            of_two("/// [`crate::b::B`]\nconst A: &str = \"crate::b::B\"; // crate::b", b),
            0
        );
        assert_eq!(of_two("use crate::bb::B;", b), 0);
    }

    #[test]
    fn code_for_tests_is_free() {
        let b = "use crate::a::A;";
        assert_eq!(of_two("#[cfg(test)]\nuse crate::b::B;", b), 0);
        assert_eq!(of_two("#[cfg(test)]\nmod tests { use crate::b::B; }", b), 0);
        assert_eq!(of_two("#[cfg(all(unix, test))]\nfn f() { crate::b::g() }", b), 0);
        assert_eq!(of_two("impl A { #[cfg(test)] fn f() { crate::b::g() } }", b), 0);
        assert_eq!(of_two("struct S { #[cfg(test)] b: crate::b::B }", b), 0);
        assert_eq!(of_two("#![cfg(test)]\nuse crate::b::B;", b), 0);
        assert_eq!(of_two("#[cfg(any(unix, test))]\nuse crate::b::B;", b), 1);
        assert_eq!(of_two("#[cfg(not(test))]\nuse crate::b::B;", b), 1);
        let with = |declaration: &str| {
            let a = format!("{declaration} mod tests;");
            let files =
                [("lib.rs", "mod a;\nmod b;"), ("a.rs", a.as_str()), ("b.rs", "use crate::a::A;")];
            let [lib, a, b] = files;
            found("", [lib, a, b, ("a/tests.rs", "use crate::b::B;")]).len()
        };
        assert_eq!((with("#[cfg(test)]"), with("")), (0, 1));
    }

    #[test]
    fn reexports_lead_to_the_module_that_defines_the_item() {
        let with = |root: &str, a: &str| {
            let b = "mod c;\npub use c::C;\nuse crate::a::A;\npub struct B;";
            found("", [("lib.rs", root), ("a.rs", a), ("b.rs", b), ("b/c.rs", "pub struct C;")])
        };
        let root = "mod a;\nmod b;\n";
        for reexport in ["pub use b::C;", "pub(crate) use self::b::*;", "use b::{B, C as C};"] {
            let root = format!("{root}{reexport}");
            assert_eq!(with(&root, "use crate::C;").len(), 1, "{reexport}");
            assert_eq!(with(&root, "fn f(c: super::C) {}").len(), 1, "{reexport}");
            assert_eq!(with(&root, "use super::*;\nfn f(c: C) {}").len(), 1, "{reexport}");
            assert_eq!(with(&root, "use super::*;\nfn f(d: D) {}").len(), 0, "{reexport}");
        }
        let renamed = format!("{root}pub use b::C as D;");
        assert_eq!(with(&renamed, "use crate::D;").len(), 1);
        assert_eq!(with(&renamed, "use crate::C;").len(), 0);
        let looped = format!("{root}pub use a::*;");
        assert_eq!(with(&looped, "pub use super::*;\nfn f(c: C) {}").len(), 0);
    }

    #[test]
    fn a_listed_cycle_passes_until_its_members_change() {
        let with = |cycles: &str| {
            let files = [
                ("lib.rs", "mod a;\nmod b;"),
                ("a.rs", "use crate::b::B;"),
                ("b.rs", "use crate::a::A;"),
            ];
            found(cycles, files)
        };
        assert_eq!(
            with("# Comment.\n\ncycle crates/store/src b a # Later.\n"),
            Vec::<String>::new()
        );
        let gone =
            with("cycle crates/store/src a b # Later.\ncycle crates/store/src/a b c # Later.");
        assert_eq!(gone.len(), 1);
        assert!(gone[0].starts_with("xtask/cycles.txt:2: there is no cycle"), "{gone:?}");
        assert_eq!(with("cycle crates/store/src a b c # Later.").len(), 2);
        for malformed in
            ["cycle crates/store/src a b", "cycle crates/store/src a b # ", "cycle a # b"]
        {
            let found = with(malformed);
            assert!(found[0].starts_with("xtask/cycles.txt:1: expected `cycle"), "{found:?}");
            assert_eq!(found.len(), 2);
        }
    }
}
